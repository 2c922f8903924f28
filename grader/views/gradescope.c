/*
 * gradescope.c: results.json as Gradescope wants its own: a test per exercise, with its points and
 * its failures; the leaderboard shows the points, and the number of every timing and count that was
 * passed.
 *
 * --visibility says who sees the tests when: visible (the default), hidden, after_due_date or
 * after_published.
 */
#include "views.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 5 }; /* failed cases of an exercise */

typedef struct list {
    FILE *to;
    const json_t *exercise;
    int failed;
} list;

static void put_verdict(const verdict *v, void *context)
{
    list *l = context;
    char again[512];
    const bool note = is_passed(v) && *v->words;
    if (!note && !is_failed(v) && !is_noisy(v)) return;
    if (is_failed(v) && ++l->failed > SHOWN) return;
    fprintf(l->to, "%s%s%s: %s\n", v->part, *v->name ? " " : "", v->name, v->words);
    repeat_command(l->exercise, v, again, sizeof again);
    if (is_failed(v) && *again) fprintf(l->to, "  again: %s\n", again);
}

static json_t *output_of(const json_t *exercise)
{
    char *text = NULL, outcome[160];
    size_t size = 0;
    list l = {open_memstream(&text, &size), exercise, 0};
    if (!l.to) return json_string("");
    print_outcome(exercise, outcome, sizeof outcome);
    fprintf(l.to, "%s\n", outcome);
    if (strcmp(string_of(exercise, "status"), "skipped") == 0) {
        fprintf(l.to, "%s\n", string_of(exercise, "reason"));
    }
    each_verdict(exercise, put_verdict, &l);
    if (l.failed > SHOWN) fprintf(l.to, "and %d more failures\n", l.failed - SHOWN);
    if (*string_of(exercise, "warnings")) {
        fprintf(l.to, "warnings of the compiler:\n%s\n", string_of(exercise, "warnings"));
    }
    fclose(l.to);
    json_t *output = json_string(text);
    free(text);
    return output ? output : json_string("");
}

static json_t *test_of(const json_t *exercise, const char *visibility)
{
    char number[24], name[160];
    const bool passed = strcmp(string_of(exercise, "status"), "passed") == 0;
    snprintf(number, sizeof number, "%s", id_words(id_of(exercise)));
    snprintf(name, sizeof name, "%s", string_of(exercise, "name"));
    return json_pack(
        "{s:f, s:f, s:s, s:s, s:s, s:s, s:o, s:s, s:s}", "score", real_of(exercise, "points"),
        "max_score", id_is_challenge(id_of(exercise)) ? 0.0 : real_of(exercise, "max_points"),
        "status", passed ? "passed" : "failed", "name", name, "name_format", "text", "number",
        number, "output", output_of(exercise), "output_format", "text", "visibility", visibility);
}

/* Names are columns: the same test has the same name in every submission. */
static void enter_number(json_t *board, const json_t *exercise, const json_t *test,
                         const char *number, const char *order)
{
    char name[256];
    const json_t *value = json_object_get(test, number);
    if (strcmp(string_of(test, "verdict"), "passed") != 0) return; /* or impossible speeds lead */
    if (!json_is_number(value) || json_number_value(value) <= 0) return;
    snprintf(name, sizeof name, "%s %s: %s", id_words(id_of(exercise)), string_of(test, "function"),
             string_of(test, "metric"));
    json_array_append_new(board, json_pack("{s:s, s:f, s:s}", "name", name, "value",
                                           json_number_value(value), "order", order));
}

static json_t *leaderboard(const json_t *results)
{
    size_t i, k;
    json_t *exercise, *test;
    json_t *board = json_pack("[{s:s, s:f, s:s}]", "name", "points", "value",
                              real_of(results, "points"), "order", "desc");
    json_array_foreach(json_object_get(results, "exercises"), i, exercise)
    {
        json_array_foreach(json_object_get(exercise, "speeds"), k, test)
            enter_number(board, exercise, test, "ratio", "desc");
        json_array_foreach(json_object_get(exercise, "traffic"), k, test)
        {
            const bool less = strcmp(string_of(test, "bound"), "at least") != 0;
            enter_number(board, exercise, test, "counted", less ? "asc" : "desc");
        }
    }
    return board;
}

static const char *visibility_of(const options *o)
{
    static const char *const all[] = {"visible", "hidden", "after_due_date", "after_published"};
    if (!o->visibility) return all[0];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i], o->visibility) == 0) return all[i];
    }
    fprintf(stderr,
            "grader: --visibility is visible, hidden, after_due_date or after_published, "
            "not \"%s\"\n",
            o->visibility);
    return NULL;
}

static json_t *summary_of(const json_t *results)
{
    const char *error = string_of(results, "error");
    return *error ? json_sprintf("grading could not be done: %s", error)
                  : json_sprintf("%.1f of %.1f points, on %s, commit %s",
                                 real_of(results, "points"), real_of(results, "max_points"),
                                 string_of(json_object_get(results, "device"), "name"),
                                 string_of(results, "commit"));
}

/* Gradescope keeps this as it is: what a grade was made of, and by whom. */
static json_t *origin_of(const json_t *results)
{
    static const char *const kept[] = {"commit", "modified", "hashes", "signature"};
    json_t *origin = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        json_object_set(origin, kept[i], json_object_get(results, kept[i]));
    }
    return origin;
}

bool gradescope_view(const options *o, const json_t *results, FILE *to)
{
    size_t i;
    json_t *one, *tests = json_array();
    const char *visibility = visibility_of(o);
    if (!visibility) {
        json_decref(tests);
        return false;
    }
    json_array_foreach(json_object_get(results, "exercises"), i, one)
        json_array_append_new(tests, test_of(one, visibility));
    json_t *root =
        json_pack("{s:f, s:f, s:o, s:s, s:s, s:s, s:o, s:o, s:o}", "score",
                  real_of(results, "points") + real_of(results, "bonus"), "execution_time",
                  real_of(results, "seconds"), "output", summary_of(results), "output_format",
                  "text", "visibility", visibility, "stdout_visibility", "hidden", "tests", tests,
                  "leaderboard", leaderboard(results), "extra_data", origin_of(results));
    const bool done = root && json_dumpf(root, to, JSON_INDENT(1)) == 0 && fputc('\n', to) != EOF;
    json_decref(root);
    return done;
}
