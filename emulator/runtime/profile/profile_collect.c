/*
 * profile_collect.c: collects a profile from a device and writes it. Nothing here calls the
 * runtime: the device may be in another process, and that process may do this.
 */
#include "profile.h"

#include "runtime/core/runtime.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- collecting ------------------------------------------------------------------------------ */

/* Memory for one more; when there is none, the profile is not worth going on. */
static void *one_more(void *array, uint32_t count, size_t element)
{
    array = realloc(array, (count + 1) * element);
    if (!array) abort();
    return array;
}

static void read_sites(device *d, struct profile_kernel *k, uint32_t number)
{
    device_instruction instruction;

    while (device_count_instruction(d, number, k->instruction_count, &instruction)) {
        k->instructions = one_more(k->instructions, k->instruction_count, sizeof instruction);
        k->instructions[k->instruction_count++] = instruction;
    }
}

static bool same_program(const struct profile_kernel *a, const struct profile_kernel *b)
{
    if (strcmp(a->name, b->name) != 0 || a->instruction_count != b->instruction_count) return false;
    for (uint32_t i = 0; i < a->instruction_count; i++)
        if (a->instructions[i].line != b->instructions[i].line ||
            strcmp(a->instructions[i].file, b->instructions[i].file) ||
            strcmp(a->instructions[i].opcode, b->instructions[i].opcode))
            return false;
    return true;
}

static void add_kernel(struct profile_kernel *to, struct profile_kernel *from)
{
    count_add(&to->counts, &from->counts);
    for (uint32_t i = 0; i < to->instruction_count; i++)
        count_add(&to->instructions[i].counts, &from->instructions[i].counts);
    free(from->instructions);
}

/* A kernel that ran on an earlier device too is one kernel. @return its number. Instances of one
 * template on one device stay apart: only kernels before `first` count as earlier. */
static uint32_t keep_kernel(struct profile *p, struct profile_kernel *k, uint32_t first)
{
    for (uint32_t i = 0; i < first; i++) {
        if (!same_program(&p->kernels[i], k)) continue;
        add_kernel(&p->kernels[i], k);
        return i;
    }
    p->kernels = one_more(p->kernels, p->kernel_count, sizeof *k);
    p->kernels[p->kernel_count] = *k;
    return p->kernel_count++;
}

static void read_launches(struct profile *p, device *d, const uint32_t *number)
{
    device_counted_launch launch;

    for (uint32_t i = 0; device_count_launch(d, i, &launch); i++) {
        launch.kernel = number[launch.kernel];
        p->launches = one_more(p->launches, p->launch_count, sizeof launch);
        p->launches[p->launch_count++] = launch;
    }
}

void profile_add(struct profile *p, device *d)
{
    struct profile_kernel k = {.instruction_count = 0};
    uint32_t first = p->kernel_count, count = 0, *number = NULL;

    while (device_count_kernel(d, count, k.name, &k.counts)) {
        read_sites(d, &k, count);
        number = one_more(number, count, sizeof *number);
        number[count++] = keep_kernel(p, &k, first);
        k = (struct profile_kernel){.instruction_count = 0};
    }
    read_launches(p, d, number);
    free(number);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_json(const struct profile *p, const char *file)
{
    FILE *to = fopen(file, "w");

    if (to) profile_json(to, p);
    if (!to || fclose(to)) fprintf(stderr, "softgpu: the profile cannot be written to %s\n", file);
}

void profile_print(const struct profile *p, const char *how)
{
    if (!strncmp(how, "json:", 5)) {
        print_json(p, how + 5);
        return;
    }
    profile_table(stderr, p);
    if (!strcmp(how, "source")) profile_source(stderr, p);
}
