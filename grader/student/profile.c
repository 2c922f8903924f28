/*
 * profile.c: `grader profile --exercise N`: what the kernels of one case do, counted by softgpu, in
 * a table for beginners, with the lines of source that cost most. It grades the case in a process
 * of its own, whose worker writes softgpu's profile (SOFTGPU_PROFILE=json:FILE) when it ends.
 */
#include "student.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_SHOWN 6
#define LINES_MAX   512

/* ---- the run --------------------------------------------------------------------------------- */

static double size_of(const grading_case *c)
{
    double size = 1;
    for (int i = 0; i < SHAPE_MAX; i++) size *= c->shape[i] > 0 ? (double)c->shape[i] : 1.0;
    return size;
}

/* The largest that is neither long nor of another place: in small ones the tails are all there is.
 */
static const char *choose_case(const exercise *e)
{
    const grading_case *best = NULL;
    for (const grading_case *c = e->cases; c->name; c++) {
        if (c->once || c->seconds > 0 || (c->where && !(c->where & ON_SOFTGPU))) continue;
        if (!best || size_of(c) > size_of(best)) best = c;
    }
    return best ? best->name : e->cases[0].name;
}

/* @return the profile, or NULL after a message */
static json_t *run_case(const options *o, const exercise *e, const char *name)
{
    char file[PATH_MAX], results[PATH_MAX], id[16], setting[PATH_MAX + 16];
    json_error_t error;
    snprintf(file, sizeof file, "%s/profile.json", o->build);
    snprintf(results, sizeof results, "%s/profile_results.json", o->build);
    snprintf(id, sizeof id, "%d", e->id);
    snprintf(setting, sizeof setting, "json:%s", file);
    setenv("SOFTGPU_PROFILE", setting, 1);
    unlink(file);
    const char *const argv[] = {"/proc/self/exe",
                                "grade",
                                "--submission",
                                o->submission,
                                "--backend",
                                "cpu",
                                "--results",
                                results,
                                "--exercise",
                                id,
                                "--case",
                                name,
                                "--fresh",
                                "--slow",
                                "5",
                                NULL};
    process_result r = process_run(argv, NULL, 300.0, 1 << 16);
    json_t *profile = json_load_file(file, 0, &error);
    if (!profile || r.status != 0) {
        fprintf(stderr, "%s\ngrader: case %s left no profile\n", r.output, name);
        json_decref(profile);
        profile = NULL;
    } else if (strstr(r.output, "failed")) {
        printf("%s\n  The case failed; this is what was counted all the same.\n", r.output);
    }
    free(r.output);
    return profile;
}

/* ---- the table ------------------------------------------------------------------------------- */

static double count_in(const json_t *counts, const char *group, const char *name)
{
    return real_of(group ? json_object_get(counts, group) : counts, name);
}

static double per(double a, double b)
{
    return b > 0 ? a / b : 0.0;
}

static void print_global(const char *label, const json_t *counts, const char *group)
{
    const double requests = count_in(counts, group, "requests");
    const double sectors = count_in(counts, group, "sectors");
    const double bytes = count_in(counts, group, "bytes"), use = per(bytes, 32 * sectors);
    if (requests <= 0) return;
    printf(
        "    %-22s %.0f requests of warps, %.1f sectors each (%.0f bytes moved, %.0f asked for)\n",
        label, requests, sectors / requests, 32 * sectors, bytes);
    if (use < 0.5) {
        printf("    %22s only %.0f %% of what is moved is used: do neighbouring threads take\n"
               "    %22s neighbouring elements?\n",
               "", 100 * use, "");
    }
}

static void print_shared(const json_t *counts)
{
    const double requests =
        count_in(counts, "shared_load", "requests") + count_in(counts, "shared_store", "requests");
    const double conflicts = count_in(counts, "shared_load", "conflicts") +
                             count_in(counts, "shared_store", "conflicts");
    if (requests <= 0) return;
    printf("    %-22s %.0f requests, %.2f bank conflicts each\n", "shared memory", requests,
           conflicts / requests);
    if (conflicts > requests) {
        printf("    %22s threads of a warp wait for the same bank: pad the rows by one\n", "");
    }
}

static void print_work(const json_t *counts)
{
    const double warps = count_in(counts, NULL, "warps"),
                 lanes = 32 * count_in(counts, NULL, "active_lanes");
    printf("    %-22s %.0f, each %.0f long\n", "warps, instructions", warps,
           per(count_in(counts, NULL, "instructions"), warps));
    printf("    %-22s %.1f of 32 lanes on average%s\n", "at work", lanes,
           lanes < 24 ? ": the others wait at branches, or are outside" : "");
    printf("    %-22s %.0f, %.2f a byte moved\n", "operations on floats",
           count_in(counts, NULL, "operations"), count_in(counts, NULL, "arithmetic_intensity"));
}

static void print_rest(const json_t *counts)
{
    const double atomics = count_in(counts, "global_atomic", "requests");
    const double barriers = count_in(counts, NULL, "barriers");
    const double local =
        count_in(counts, "local_load", "requests") + count_in(counts, "local_store", "requests");
    if (barriers > 0) {
        printf("    %-22s %.0f, %.1f a warp\n", "barriers", barriers,
               per(barriers, count_in(counts, NULL, "warps")));
    }
    if (atomics > 0) printf("    %-22s %.0f requests\n", "atomics", atomics);
    if (local > 0) {
        printf("    %-22s %.0f requests: arrays of a thread that do not fit its registers\n",
               "local memory", local);
    }
}

/* ---- lines of source ------------------------------------------------------------------------- */

typedef struct line {
    const char *file;
    long number;
    double sectors, conflicts, instructions;
} line;

static line *find_line(line all[], int *count, const json_t *site)
{
    const char *file = string_of(site, "file");
    const long number = integer_of(site, "line");
    for (int i = 0; i < *count; i++) {
        if (all[i].number == number && !strcmp(all[i].file, file)) return &all[i];
    }
    if (*count == LINES_MAX) return NULL;
    all[*count] = (line){.file = file, .number = number};
    return &all[(*count)++];
}

static void add_site(line *l, const json_t *counts)
{
    l->sectors += count_in(counts, "global_load", "sectors") +
                  count_in(counts, "global_store", "sectors") +
                  count_in(counts, "global_atomic", "sectors");
    l->conflicts += count_in(counts, "shared_load", "conflicts") +
                    count_in(counts, "shared_store", "conflicts");
    l->instructions += count_in(counts, NULL, "instructions");
}

static int costlier(const void *a, const void *b)
{
    const line *x = a, *y = b;
    const double p = x->sectors + x->conflicts, q = y->sectors + y->conflicts;
    if (p != q) return p < q ? 1 : -1;
    return (x->instructions < y->instructions) - (x->instructions > y->instructions);
}

static void print_lines(const json_t *sites, double all_instructions)
{
    size_t i;
    int count = 0;
    json_t *site;
    line *all = calloc(LINES_MAX, sizeof *all);
    json_array_foreach((json_t *)sites, i, site)
    {
        line *l = find_line(all, &count, site);
        if (l) add_site(l, json_object_get(site, "counts"));
    }
    qsort(all, (size_t)count, sizeof *all, costlier);
    if (count > 0)
        printf("    the lines that cost most %28s %10s %13s\n", "sectors", "conflicts",
               "instructions");
    for (int n = 0; n < count && n < LINES_SHOWN; n++) {
        const char *slash = strrchr(all[n].file, '/');
        char where[64];
        snprintf(where, sizeof where, "%s:%ld", slash ? slash + 1 : all[n].file, all[n].number);
        printf("      %-46s %12.0f %10.0f %11.1f %%\n", where, all[n].sectors, all[n].conflicts,
               100 * per(all[n].instructions, all_instructions));
    }
    free(all);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const json_t *first_launch(const json_t *profile, size_t kernel)
{
    size_t i;
    json_t *launch;
    json_array_foreach(json_object_get(profile, "launches"), i, launch)
    {
        if ((size_t)integer_of(launch, "kernel") == kernel) return launch;
    }
    return NULL;
}

static void print_size(const json_t *launch, const char *key, const char *what)
{
    const json_t *size = json_object_get(launch, key);
    printf("%lld x %lld x %lld %s", json_integer_value(json_array_get(size, 0)),
           json_integer_value(json_array_get(size, 1)), json_integer_value(json_array_get(size, 2)),
           what);
}

static void print_kernel(const json_t *profile, size_t number, const json_t *kernel)
{
    const json_t *counts = json_object_get(kernel, "counts"),
                 *launch = first_launch(profile, number);
    printf("\n  %s: %.0f launches", string_of(kernel, "name"), real_of(counts, "launches"));
    if (launch) {
        printf(", the first ");
        print_size(launch, "grid", "blocks of ");
        print_size(launch, "block", "threads");
    }
    printf("\n");
    print_work(counts);
    print_global("global memory, loads", counts, "global_load");
    print_global("global memory, stores", counts, "global_store");
    print_shared(counts);
    print_rest(counts);
    print_lines(json_object_get(kernel, "sites"), real_of(counts, "instructions"));
}

int profile(const options *o)
{
    size_t i;
    json_t *kernel;
    const exercise *e = the_exercise(o, "profile");
    if (!e) return 2;
    if (exercise_place(e, BACKEND_CPU) != ON_SOFTGPU) {
        fprintf(stderr, "grader: %d has no kernels to count; make compare EX=%d has its times\n",
                e->id, e->id);
        return 2;
    }
    const char *name = o->case_name ? o->case_name : choose_case(e);
    json_t *all = run_case(o, e, name);
    if (!all) return 2;
    printf("  %d %s, case %s, counted by softgpu over all runs of the case.\n", e->id, e->name,
           name);
    printf("  Counts, not times: a GPU's caches serve many of these sectors again.\n");
    json_array_foreach(json_object_get(all, "kernels"), i, kernel) print_kernel(all, i, kernel);
    printf("\n  Another case: make profile EX=%d CASE=NAME\n", e->id);
    json_decref(all);
    return 0;
}
