/* select.c: which exercises are graded, and which of them have a verdict without being built. */
#include "grade.h"

#include <stdio.h>
#include <string.h>

static bool is_wanted_or_needed(const options *o, const exercise *e)
{
    if (options_want(o, e)) return true;
    for (const exercise *const *by = catalog(); *by; by++) {
        for (int i = 0; (*by)->own_prerequisites && (*by)->prerequisites[i]; i++) {
            if ((*by)->prerequisites[i] == e->id && is_wanted_or_needed(o, *by)) return true;
        }
    }
    return false;
}

/* Behind what it takes of the submission: 510 comes after the challenges that it calls. */
static void select_item(run *r, const exercise *e)
{
    if (find_item(r, e->id)) return;
    for (int i = 0; e->own_prerequisites && e->prerequisites[i]; i++)
        select_item(r, catalog_find(e->prerequisites[i]));
    r->items[r->count++] = (item){.exercise = e, .wanted = options_want(r->options, e)};
}

void select_items(run *r)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        if (is_wanted_or_needed(r->options, *e)) select_item(r, *e);
    }
}

json_t *entry_without_verdict(const exercise *e, place where, status s, const char *why)
{
    exercise_result result = {.exercise = e, .place = where, .status = s, .prerequisites = ""};
    list_tests(&result);
    result.reason = strdup(why);
    result.warnings = strdup("");
    score(&result);
    json_t *entry = results_exercise(&result);
    exercise_result_free(&result);
    return entry;
}

/* Exercises that cannot run here, and files that are still as they were handed out. */
void sort_out(run *r, item *it)
{
    char why[MISNAMED_WORDS];
    const place where = exercise_place(it->exercise, r->options->backend);
    const char *needs = exercise_needs(r->options, it->exercise, where);
    if (r->options->beside_gpu && (where & ON_CPU)) return;
    if (needs) {
        snprintf(why, sizeof why, "needs %s", needs);
        it->entry = entry_without_verdict(it->exercise, where, SKIPPED, why);
    } else if (exercise_is_skeleton(r->options, it->exercise)) {
        misnamed_file(it->exercise, r->options->submission, why);
        it->entry = entry_without_verdict(it->exercise, where, NOT_STARTED, why);
    } else {
        it->buildable = true;
    }
}
