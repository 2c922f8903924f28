/*
 * profile_source.c: the profile for people, line by line: SOFTGPU_PROFILE=source.
 *
 * A line's cost is that of all statements that the compiler made of it, in all kernels; where code
 * was inlined from the toolkit's headers, the line that used it pays.
 */
#include "profile.h"

#include "runtime/core/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 3 }; /* lines without cost that are shown between two that have some */

struct line {
    const char *file;
    uint32_t number;
    device_counts counts;
};

struct lines {
    struct line *line; /* sorted by file and number */
    size_t count;
    uint64_t instructions;
};

/* ---- lines ----------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int files = strcmp(x->file, y->file);

    return files ? files : (x->number > y->number) - (x->number < y->number);
}

/* One line for each instruction that was executed, then one for each place. */
static struct lines collect(const struct profile *p)
{
    struct lines all = {.count = 0};
    size_t instructions = 0, distinct = 0;

    for (uint32_t k = 0; k < p->kernel_count; k++) instructions += p->kernels[k].instruction_count;
    all.line = calloc(instructions + 1, sizeof *all.line);
    for (uint32_t k = 0; k < p->kernel_count && all.line; k++) {
        for (uint32_t i = 0; i < p->kernels[k].instruction_count; i++) {
            const device_instruction *s = &p->kernels[k].instructions[i];
            all.instructions += s->counts.instructions;
            all.line[all.count++] = (struct line){s->file, s->line, s->counts};
        }
    }
    if (!all.count) return all;
    qsort(all.line, all.count, sizeof *all.line, by_place);
    for (size_t i = 1; i < all.count; i++) {
        if (by_place(&all.line[distinct], &all.line[i]) == 0)
            count_add(&all.line[distinct].counts, &all.line[i].counts);
        else
            all.line[++distinct] = all.line[i];
    }
    all.count = distinct + 1;
    return all;
}

/* ---- columns --------------------------------------------------------------------------------- */

static void print_heading(FILE *to, const char *file)
{
    fprintf(to, "\n%s\n%6s %7s %6s %12s %6s %12s %6s\n",
            *file ? file : "(compiled without -lineinfo)", "line", "instr.", "lanes", "sectors",
            "/req.", "wavefronts", "/req.");
}

static void print_pair(FILE *to, uint64_t units, uint64_t requests)
{
    if (requests)
        fprintf(to, " %12llu %6.1f", (unsigned long long)units, ratio(units, requests));
    else
        fprintf(to, " %12s %6s", "", "");
}

static void print_cost(FILE *to, const struct line *l, uint64_t instructions)
{
    const device_counts *c = &l->counts;

    fprintf(to, "%6u %6.1f%% %5.0f%%", l->number, 100 * ratio(c->instructions, instructions),
            100 * active_lanes(c));
    print_pair(to, c->global_load.sectors + c->global_store.sectors + c->global_atomic.sectors,
               c->global_load.requests + c->global_store.requests + c->global_atomic.requests);
    print_pair(to,
               c->shared_load.wavefronts + c->shared_store.wavefronts + c->shared_atomic.wavefronts,
               c->shared_load.requests + c->shared_store.requests + c->shared_atomic.requests);
}

static void print_no_cost(FILE *to, uint32_t number)
{
    fprintf(to, "%6u %7s %6s %12s %6s %12s %6s", number, "", "", "", "", "", "");
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Lines [first, end) are those of one file. */
static void print_with_text(FILE *to, const struct lines *all, size_t first, size_t end, FILE *text)
{
    char *buffer = NULL;
    size_t room = 0, at = first;
    uint32_t last = 0;

    for (uint32_t number = 1; at < end && getline(&buffer, &room, text) >= 0; number++) {
        const struct line *next = &all->line[at];
        buffer[strcspn(buffer, "\r\n")] = 0;
        while (at < end && all->line[at].number < number) at++; /* line 0: the compiler's own */
        if (number == next->number) {
            print_cost(to, next, all->instructions);
            last = number;
            at++;
        } else if (last && next->number - last <= GAP + 1 && next->number > number) {
            print_no_cost(to, number);
        } else {
            if (last && number == last + 1) fputs("   ...\n", to);
            continue;
        }
        fprintf(to, " | %s\n", buffer);
    }
    free(buffer);
}

static void print_file(FILE *to, const struct lines *all, size_t first, size_t end)
{
    const char *file = all->line[first].file;
    FILE *text = *file ? fopen(file, "r") : NULL;

    print_heading(to, file);
    if (text) {
        print_with_text(to, all, first, end, text);
        fclose(text);
        return;
    }
    for (size_t i = first; i < end; i++) {
        print_cost(to, &all->line[i], all->instructions);
        fputs("\n", to);
    }
}

void profile_source(FILE *to, const struct profile *p)
{
    struct lines all = collect(p);

    for (size_t first = 0, end; first < all.count; first = end) {
        for (end = first + 1; end < all.count; end++)
            if (strcmp(all.line[end].file, all.line[first].file) != 0) break;
        print_file(to, &all, first, end);
    }
    free(all.line);
}
