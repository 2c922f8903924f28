/*
 * libraries.c: the libraries that the course itself brings to a grading: the reference solutions
 * that an exercise calls, so that one mistake is not punished twice, and the frozen baselines. They
 * are built from source, or in a handout taken from prebuilt/.
 */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>

struct library_set {
    const options *options;
    char root[PATH_MAX]; /* of the solutions */
    const char *processor;
    build *builds[LIBRARIES_MAX + 1];
    bool done[LIBRARIES_MAX];
    int count;
};

library_set *library_set_create(const options *o, const char *processor)
{
    library_set *set = calloc(1, sizeof *set);
    set->options = o;
    set->processor = processor;
    snprintf(set->root, sizeof set->root, "%s/solutions", o->root);
    return set;
}

void library_set_free(library_set *set)
{
    for (int i = 0; i < set->count; i++) {
        free(set->builds[i]->log);
        free(set->builds[i]);
    }
    free(set);
}

static build *find_or_add(library_set *set, const exercise *e, bool baseline)
{
    for (int i = 0; i < set->count; i++) {
        if (set->builds[i]->exercise == e && set->builds[i]->baseline == baseline) {
            return set->builds[i];
        }
    }
    build *b = calloc(1, sizeof *b);
    b->exercise = e;
    b->root = baseline ? set->options->root : set->root;
    b->file = baseline ? e->baseline_file : e->file;
    b->place = exercise_place(e, set->options->backend);
    b->baseline = baseline;
    b->prebuilt = prebuilt_exists(set->options);
    b->processor = set->processor;
    if (!baseline) library_set_needs(set, b); /* first, so that it is built first */
    set->builds[set->count++] = b;
    return b;
}

build *const *library_set_all(const library_set *set)
{
    return set->builds;
}

const build *library_set_reference(library_set *set, const exercise *e)
{
    return find_or_add(set, e, false);
}

void library_set_needs(library_set *set, build *b)
{
    int count = 0;
    for (int i = 0; b->exercise->prerequisites[i]; i++) {
        const exercise *e = catalog_find(b->exercise->prerequisites[i]);
        if (e) b->needs[count++] = find_or_add(set, e, false);
    }
}

const build *library_set_baseline(library_set *set, const exercise *e)
{
    const place where = exercise_place(e, set->options->backend);
    for (const speed_test *s = e->speed; s && s->function; s++) {
        if (s->where & where) return e->baseline_file ? find_or_add(set, e, true) : NULL;
    }
    for (const traffic_test *t = e->traffic; t && t->function && where == ON_SOFTGPU; t++) {
        if (t->baseline) return find_or_add(set, e, true);
    }
    return NULL;
}

void library_set_build(library_set *set, build *more[], int count)
{
    build **all = calloc((size_t)(set->count + count) + 1, sizeof *all);
    int total = 0;
    for (int i = 0; i < set->count; i++) {
        if (!set->done[i]) all[total++] = set->builds[i];
        set->done[i] = true;
    }
    for (int i = 0; i < count; i++) all[total++] = more[i];
    build_all(set->options, all, total);
    free(all);
}
