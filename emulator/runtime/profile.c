/*
 * profile.c: SOFTGPU_PROFILE: from the first launch to the end of the program everything is
 * counted, and then printed.
 *
 *   SOFTGPU_PROFILE=1           what each kernel cost, on stderr
 *   SOFTGPU_PROFILE=source      the same, and what each line of source cost
 *   SOFTGPU_PROFILE=json:FILE   all of it, for programs
 *
 * Counts are taken from a device when it is closed and at the end. A program that does not end by
 * exit() or by returning from main has no profile.
 */
#include "profile.h"

#include "runtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct profile profile;

static const char *mode(void)
{
    const char *text = getenv("SOFTGPU_PROFILE");

    return text && *text && strcmp(text, "0") != 0 && strcmp(text, "off") != 0 ? text : NULL;
}

bool profile_wanted(void)
{
    return mode() != NULL;
}

/* ---- collecting ------------------------------------------------------------------------------ */

/* Memory for one more; when there is none, the profile is not worth going on. */
static void *one_more(void *array, uint32_t count, size_t element)
{
    array = realloc(array, (count + 1) * element);
    if (!array) abort();
    return array;
}

static void read_sites(struct profile_kernel *k, uint32_t number)
{
    device_site site;

    while (device_count_site(runtime.device, number, k->site_count, &site)) {
        k->sites = one_more(k->sites, k->site_count, sizeof site);
        k->sites[k->site_count++] = site;
    }
}

static bool same_program(const struct profile_kernel *a, const struct profile_kernel *b)
{
    if (strcmp(a->name, b->name) != 0 || a->site_count != b->site_count) return false;
    for (uint32_t i = 0; i < a->site_count; i++)
        if (a->sites[i].line != b->sites[i].line || strcmp(a->sites[i].file, b->sites[i].file) ||
            strcmp(a->sites[i].opcode, b->sites[i].opcode))
            return false;
    return true;
}

static void add_kernel(struct profile_kernel *to, struct profile_kernel *from)
{
    count_add(&to->counts, &from->counts);
    for (uint32_t i = 0; i < to->site_count; i++)
        count_add(&to->sites[i].counts, &from->sites[i].counts);
    free(from->sites);
}

/* A kernel that ran on an earlier device too is one kernel. @return its number. Instances of one
 * template on one device stay apart: only kernels before `first` count as earlier. */
static uint32_t keep_kernel(struct profile_kernel *k, uint32_t first)
{
    for (uint32_t i = 0; i < first; i++) {
        if (!same_program(&profile.kernels[i], k)) continue;
        add_kernel(&profile.kernels[i], k);
        return i;
    }
    profile.kernels = one_more(profile.kernels, profile.kernel_count, sizeof *k);
    profile.kernels[profile.kernel_count] = *k;
    return profile.kernel_count++;
}

static void read_launches(const uint32_t *number)
{
    device_counted_launch launch;

    for (uint32_t i = 0; device_count_launch(runtime.device, i, &launch); i++) {
        launch.kernel = number[launch.kernel];
        profile.launches = one_more(profile.launches, profile.launch_count, sizeof launch);
        profile.launches[profile.launch_count++] = launch;
    }
}

void profile_collect(void)
{
    struct profile_kernel k = {.site_count = 0};
    uint32_t first = profile.kernel_count, count = 0, *number = NULL;

    if (!profile_wanted()) return;
    while (device_count_kernel(runtime.device, count, k.name, &k.counts)) {
        read_sites(&k, count);
        number = one_more(number, count, sizeof *number);
        number[count++] = keep_kernel(&k, first);
        k = (struct profile_kernel){.site_count = 0};
    }
    read_launches(number);
    free(number);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_json(const char *file)
{
    FILE *to = fopen(file, "w");

    if (to) profile_json(to, &profile);
    if (!to || fclose(to)) fprintf(stderr, "softgpu: the profile cannot be written to %s\n", file);
}

static void print(const char *how)
{
    if (!strncmp(how, "json:", 5)) {
        print_json(how + 5);
        return;
    }
    profile_table(stderr, &profile);
    if (!strcmp(how, "source")) profile_source(stderr, &profile);
}

static void collect_all(void)
{
    for (int i = 0; i < option_devices(); i++) {
        runtime_look_at(i);
        if (runtime.device) profile_collect();
    }
}

/* A child has nothing to say: its parent will. */
__attribute__((destructor)) static void finish(void)
{
    const char *how = mode();

    if (!how || (runtime.owner && runtime.owner != getpid()) || !runtime_try_lock()) return;
    collect_all();
    profile.total = count_so_far();
    print(how);
    runtime_unlock();
}
