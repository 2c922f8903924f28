/*
 * profile.c: `grader profile --exercise N`: the work of the kernels of one case, counted by
 * softgpu, in a table for beginners, with the source lines that cost most. It grades the case in a
 * process of its own, whose worker writes softgpu's profile (SOFTGPU_PROFILE=json:FILE) when it
 * ends.
 */
#include "student.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_SHOWN 6
#define LINES_MAX   512
#define CASES_MAX   16

/* ---- the run --------------------------------------------------------------------------------- */

double case_size(const grading_case *c)
{
    double size = 1;
    for (int i = 0; i < SHAPE_MAX; i++) size *= c->shape[i] > 0 ? (double)c->shape[i] : 1.0;
    return size;
}

bool can_be_profiled(const grading_case *c)
{
    return !c->once && c->seconds <= 0 && (!c->where || c->where & ON_SOFTGPU);
}

/* The largest of those that are judged alike: in small ones the tails are all there is. */
static bool is_largest(const exercise *e, const grading_case *one)
{
    for (const grading_case *c = e->cases; c->name; c++) {
        if (!can_be_profiled(c) || c->run != one->run) continue;
        if (case_size(c) > case_size(one) || (case_size(c) == case_size(one) && c < one))
            return false;
    }
    return true;
}

static int by_size(const void *a, const void *b)
{
    const double x = case_size(*(const grading_case *const *)a);
    const double y = case_size(*(const grading_case *const *)b);
    return (x < y) - (x > y);
}

/* One; of an exercise with several functions, enough for all of them, the largest
 * first. @return how many */
static int choose_cases(const exercise *e, const grading_case *chosen[CASES_MAX])
{
    int count = 0;
    for (const grading_case *c = e->cases; c->name && count < CASES_MAX; c++) {
        if (can_be_profiled(c) && is_largest(e, c)) chosen[count++] = c;
    }
    qsort(chosen, (size_t)count, sizeof *chosen, by_size);
    if (count > 1 && !e->functions[1]) count = 1;
    if (count == 0) chosen[count++] = e->cases;
    return count;
}

char *grade_one_case(const options *o, const exercise *e, const char *case_name,
                     const char *submission, const char *results)
{
    char id[16], seed[32];
    snprintf(id, sizeof id, "%s", id_words(e->id));
    snprintf(seed, sizeof seed, "%llu", o->seed);
    const char *argv[] = {"/proc/self/exe",
                          "grade",
                          "--submission",
                          submission,
                          "--backend",
                          "cpu",
                          "--results",
                          results,
                          "--exercise",
                          id,
                          "--case",
                          case_name,
                          "--fresh",
                          "--slow",
                          "5",
                          o->seed_given ? "--seed" : NULL,
                          seed,
                          NULL};
    process_result r = process_run(argv, NULL, 300.0, 1 << 16);
    if (r.status == 0) return r.output;
    fprintf(stderr, "%s\n", r.output);
    free(r.output);
    return NULL;
}

/* @return the profile, or NULL after a message */
static json_t *run_case(const options *o, const exercise *e, const char *name)
{
    char file[PATH_MAX], results[PATH_MAX], setting[PATH_MAX + 16];
    json_error_t error;
    snprintf(file, sizeof file, "%s/profile.json", o->build);
    snprintf(results, sizeof results, "%s/profile_results.json", o->build);
    snprintf(setting, sizeof setting, "json:%s", file);
    setenv("SOFTGPU_PROFILE", setting, 1);
    unlink(file);
    char *said = grade_one_case(o, e, name, o->submission, results);
    json_t *profile = said ? json_load_file(file, 0, &error) : NULL;
    if (said && !profile)
        fprintf(stderr, "%s\ngrader: case %s left no profile\n", said, name);
    else if (said && strstr(said, "failed"))
        printf("%s\n  The case failed; these are its counts anyway.\n", said);
    free(said);
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

static double all_sectors(const json_t *counts)
{
    return count_in(counts, "global_load", "sectors") +
           count_in(counts, "global_store", "sectors") +
           count_in(counts, "global_atomic", "sectors");
}

/* Of a few sectors (a result per block, say), or where a warp asks for less than one, there is
 * nothing to gain. */
static void print_global(const char *label, const json_t *counts, const char *group)
{
    const double requests = count_in(counts, group, "requests");
    const double sectors = count_in(counts, group, "sectors");
    const double bytes = count_in(counts, group, "bytes"), use = per(bytes, 32 * sectors);
    if (requests <= 0) return;
    printf(
        "    %-22s %.0f requests of warps, %.1f sectors each (%.0f bytes moved, %.0f requested)\n",
        label, requests, sectors / requests, 32 * sectors, bytes);
    if (use < 0.5 && bytes >= 32 * requests && sectors > 0.1 * all_sectors(counts)) {
        printf("    %22s only %.0f %% of the bytes moved are used: do neighbouring threads take\n"
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
    printf("    %-22s %.0f requests, %.2f bank conflicts each (%.0f)\n", "shared memory", requests,
           conflicts / requests, conflicts);
    if (conflicts > requests) {
        printf("    %22s threads of a warp wait for the same bank: pad the rows by one\n", "");
    }
}

static void print_constants(const json_t *counts)
{
    const double requests = count_in(counts, "constant", "requests");
    const double reads = per(count_in(counts, "constant", "reads"), requests);
    if (requests <= 0) return;
    printf("    %-22s %.0f requests, %.1f reads each\n", "constant memory", requests, reads);
    if (reads > 2) printf("    %22s lanes of a warp read different addresses in turn\n", "");
}

/* Where far more is moved than touched, caches serve the rest: L2 is asked, not DRAM. */
static void print_touched(const json_t *counts)
{
    const double bytes = count_in(counts, NULL, "footprint");
    if (bytes > 0) printf("    %-22s %.0f bytes, each counted once\n", "touched", bytes);
}

static void print_work(const json_t *counts)
{
    const double tensor = count_in(counts, "by_class", "tensor");
    const double warps = count_in(counts, NULL, "warps"),
                 lanes = 32 * count_in(counts, NULL, "active_lanes");
    printf("    %-22s %.0f, each %.0f long\n", "warps, instructions", warps,
           per(count_in(counts, NULL, "instructions"), warps));
    printf("    %-22s %.1f of 32 lanes on average%s\n", "at work", lanes,
           lanes < 24 ? ": the others wait at branches, or are outside" : "");
    printf("    %-22s %.0f, %.2f per byte moved\n", "operations on floats",
           count_in(counts, NULL, "operations"), count_in(counts, NULL, "arithmetic_intensity"));
    if (tensor > 0) printf("    %-22s %.0f\n", "tensor instructions", tensor);
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
    l->sectors += all_sectors(counts);
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

/* The lines of the student's own file are quoted. */
static void print_lines(const options *o, const exercise *e, const json_t *sites,
                        double all_instructions)
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
        char where[64], text[QUOTE_MAX];
        quote_line(o->submission, e->file, all[n].file, all[n].number, text);
        snprintf(where, sizeof where, "%s:%ld", slash ? slash + 1 : all[n].file, all[n].number);
        printf("      %-46s %12.0f %10.0f %11.1f %%   %s\n", where, all[n].sectors,
               all[n].conflicts, 100 * per(all[n].instructions, all_instructions), text);
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

static void print_kernel(const options *o, const exercise *e, const json_t *profile, size_t number,
                         const json_t *kernel)
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
    print_touched(counts);
    print_shared(counts);
    print_constants(counts);
    print_rest(counts);
    print_lines(o, e, json_object_get(kernel, "sites"), real_of(counts, "instructions"));
}

static void print_copies(const json_t *total)
{
    static const char *const groups[] = {"to_device", "to_host"};
    for (int i = 0; i < 2; i++) {
        const double count = count_in(total, groups[i], "count");
        if (count > 0)
            printf("\n  copies to the %s: %.0f, %.0f bytes\n", i ? "host" : "device", count,
                   count_in(total, groups[i], "bytes"));
    }
}

/* Has it been shown, of a case before? */
static bool is_new(json_t *shown, const char *kernel)
{
    if (json_object_get(shown, kernel)) return false;
    json_object_set_new(shown, kernel, json_true());
    return true;
}

/* @return whether there is a profile */
static bool profile_case(const options *o, const exercise *e, const char *name, json_t *shown)
{
    size_t i;
    json_t *kernel, *all = run_case(o, e, name);
    bool any = false;
    if (!all) return false;
    json_array_foreach(json_object_get(all, "kernels"), i, kernel)
    {
        if (!is_new(shown, string_of(kernel, "name"))) continue;
        if (!any)
            printf("\n  %s %s, case %s, counted by softgpu over all its runs.\n", id_words(e->id),
                   e->name, name);
        any = true;
        print_kernel(o, e, all, i, kernel);
    }
    print_copies(json_object_get(all, "total"));
    json_decref(all);
    return true;
}

int profile(const options *o)
{
    const grading_case *chosen[CASES_MAX];
    const exercise *e = the_exercise(o, "profile");
    if (!e) return 2;
    if (exercise_place(e, BACKEND_CPU) != ON_SOFTGPU) {
        fprintf(stderr, "grader: %s has no kernels to count, and %s\n", id_words(e->id),
                e->speed ? "make compare has its times" : "is not timed");
        return 2;
    }
    bool good = true;
    json_t *shown = json_object();
    const int count = o->case_name ? 0 : choose_cases(e, chosen);
    printf("  Counts, not times: a GPU's caches serve many of these sectors again.\n");
    if (o->case_name) good = profile_case(o, e, o->case_name, shown);
    for (int i = 0; i < count && good; i++) good = profile_case(o, e, chosen[i]->name, shown);
    if (good) printf("\n  Another case: make profile EX=%s CASE=NAME\n", id_words(e->id));
    json_decref(shown);
    return good ? 0 : 2;
}
