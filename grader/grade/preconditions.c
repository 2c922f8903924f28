/* preconditions.c: the conditions for a grading. If one is not met, results.json says why nothing
   was judged. */
#include "grade.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool submission_exists(const options *o)
{
    struct stat facts;
    char why[PATH_MAX + 64];
    if (stat(o->submission, &facts) == 0 && S_ISDIR(facts.st_mode)) return true;
    snprintf(why, sizeof why, "there is no folder %s to grade", o->submission);
    fprintf(stderr, "grader: %s\n", why);
    results_write_failure(o, why);
    return false;
}

bool is_isolated(const options *o)
{
    if (sandbox_start(o)) return true;
    results_write_failure(o, "isolation is required, but this machine lacks a part of it");
    return false;
}

bool libraries_are_whole(const options *o)
{
    char why[PREBUILT_WHY];
    if (prebuilt_check(o, why)) return true;
    fprintf(stderr, "grader: %s\n", why);
    results_write_failure(o, why);
    return false;
}

bool device_exists(const options *o)
{
    char uuid[64];
    if (o->backend != BACKEND_CUDA || gpu_find(o, uuid)) return true;
    fprintf(stderr, "grader: there is no CUDA device here; BACKEND=cpu uses the software GPU\n");
    results_write_failure(o, "no CUDA device");
    return false;
}

bool read_hidden_file(const options *o)
{
    if (hidden_read(o)) return true;
    results_write_failure(o, "the instructor's file cannot be used");
    return false;
}

/* The cases that the instructor added are tried on the reference solution first. */
static bool has_hidden_cases(const item *it)
{
    bool any = false;
    for (const grading_case *c = it->exercise->cases; c->name; c++) any = any || c->line;
    return it->wanted && any;
}

static bool reference_passes(run *r, const exercise *e)
{
    const build *reference = library_set_reference(r->libraries, e);
    library_set_build(r->libraries, NULL, 0);
    const int gpu = gpu_take(r->options);
    const bool passes = hidden_try(r->options, reference);
    if (gpu >= 0) close(gpu);
    return passes;
}

bool hidden_cases_are_good(run *r)
{
    for (int i = 0; i < r->count; i++) {
        const exercise *e = r->items[i].exercise;
        const place where = exercise_place(e, r->options->backend);
        if (!has_hidden_cases(&r->items[i]) || exercise_needs(r->options, e, where)) continue;
        if (reference_passes(r, e)) continue;
        results_write_failure(r->options, "the instructor's file cannot be used");
        return false;
    }
    return true;
}
