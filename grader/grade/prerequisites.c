/* prerequisites.c: what is built, and which prerequisites an exercise uses: the submission's or the
 * reference's. */
#include "grade.h"

#include <string.h>

item *find_item(run *r, int id)
{
    for (int i = 0; i < r->count; i++) {
        if (r->items[i].exercise->id == id) return &r->items[i];
    }
    return NULL;
}

void describe_build(run *r, item *it)
{
    it->build = (build){.exercise = it->exercise,
                        .root = r->options->submission,
                        .file = it->exercise->file,
                        .own = true,
                        .place = exercise_place(it->exercise, r->options->backend)};
    it->baseline = library_set_baseline(r->libraries, it->exercise);
}

static bool passed(const item *it)
{
    const char *status = json_string_value(json_object_get(it->entry, "status"));
    return status && strcmp(status, "passed") == 0;
}

/* Can others stand on it? As long as it is not judged, when it builds, as far as is known. */
static bool bears(const run *r, const item *it)
{
    if (!it || !it->buildable) return false;
    if (it->entry) return passed(it) || r->options->own;
    return !it->build.log || it->build.ok;
}

/* An exercise stands on the submission's own where they passed, or when asked to; else on the
 * reference's. */
static void choose_prerequisites(run *r, item *it)
{
    it->own = it->exercise->own_prerequisites;
    library_set_needs(r->libraries, &it->build);
    for (int i = 0; it->exercise->own_prerequisites && it->exercise->prerequisites[i]; i++) {
        const item *needed = find_item(r, it->exercise->prerequisites[i]);
        if (bears(r, needed))
            it->build.needs[i] = &needed->build;
        else
            it->own = false;
    }
}

/* All at once, as if all passed: most do. */
void build_items(run *r)
{
    build *builds[EXERCISES_MAX];
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        if (!r->items[i].buildable) continue;
        choose_prerequisites(r, &r->items[i]);
        builds[count++] = &r->items[i].build;
    }
    library_set_build(r->libraries, builds, count);
}

/* Anew, where one that it stands on did not pass. Those come before it. */
void build_on_prerequisites(run *r, item *it)
{
    build *one[] = {&it->build};
    if (!it->exercise->own_prerequisites) return;
    choose_prerequisites(r, it);
    library_set_build(r->libraries, one, 1);
}
