/*
 * last.c: results of a few exercises, with the last verdicts of all others from the history, as
 * `make progress` has them. Those have no cases: the history keeps only their number.
 */
#include "views.h"

#include <stdlib.h>
#include <string.h>

/* Of the submission, by the exercise's number in words; a line cut short is passed over. */
static json_t *last_of(const char *history, const char *submission)
{
    char *line = NULL, whole[PATH_MAX];
    size_t size = 0;
    json_t *last = json_object();
    FILE *from = history ? fopen(history, "r") : NULL;
    if (!realpath(submission, whole)) snprintf(whole, sizeof whole, "%s", submission);
    while (from && getline(&line, &size, from) > 0) {
        json_t *record = json_loads(line, 0, NULL), *entry = json_object_get(record, "entry");
        if (entry && strcmp(string_of(record, "submission"), whole) == 0)
            json_object_set(last, id_words(id_of(entry)), entry);
        json_decref(record);
    }
    free(line);
    if (from) fclose(from);
    return last;
}

static json_t *entry_in(const json_t *exercises, int id)
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)exercises, i, one)
    {
        if (id_of(one) == id) return one;
    }
    return NULL;
}

static void add_points(json_t *results, const json_t *entry)
{
    const bool bonus = id_is_challenge(id_of(entry));
    const char *names[] = {bonus ? "bonus" : "points", bonus ? NULL : "max_points"};
    for (int i = 0; i < 2 && names[i]; i++) {
        const double more = real_of(entry, i == 0 ? "points" : "max_points");
        json_object_set_new(results, names[i], json_real(real_of(results, names[i]) + more));
    }
}

/* In the order of the catalog. What is not started has nothing to say. */
void add_last_verdicts(json_t *results, const char *history)
{
    json_t *last = last_of(history, string_of(results, "submission"));
    const json_t *own = json_object_get(results, "exercises");
    json_t *all = json_array();
    for (const exercise *const *e = catalog(); *e; e++) {
        json_t *entry = entry_in(own, (*e)->id),
               *before = json_object_get(last, id_words((*e)->id));
        if (entry) json_array_append(all, entry);
        if (entry || !before || strcmp(string_of(before, "status"), "not_started") == 0) continue;
        json_object_set_new(before, "cases", json_array());
        json_array_append(all, before);
        add_points(results, before);
        json_object_del(results, "signature"); /* it is of the others alone */
    }
    json_object_set_new(results, "exercises", all);
    json_decref(last);
}
