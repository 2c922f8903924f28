/*
 * changes.c: verdicts that changed, and why. An instructor must know of one that changed although
 * files, grader and machine are the same: one of the two verdicts was an accident.
 */
#include "gradings.h"
#include "verdict/verdict.h"

#include <stdlib.h>
#include <string.h>

static void add_tests(char *line, size_t size, const json_t *tests, const char *what)
{
    size_t i, passed = 0, judged = 0;
    json_t *one;
    json_array_foreach((json_t *)tests, i, one)
    {
        const char *verdict = string_of(one, "verdict");
        const bool good = strcmp(verdict, "passed") == 0;
        passed += good;
        judged += good || strcmp(verdict, "failed") == 0 || strcmp(verdict, "too_noisy") == 0;
    }
    const size_t n = strlen(line);
    if (judged > 0) snprintf(line + n, size - n, ", %s %zu of %zu", what, passed, judged);
}

/* All that was decided about an exercise, without the numbers that differ each time. */
static void verdict_text(const json_t *exercise, char line[200])
{
    print_outcome(exercise, line, 200);
    add_tests(line, 200, json_object_get(exercise, "speeds"), "speed");
    add_tests(line, 200, json_object_get(exercise, "traffic"), "traffic");
}

static bool same_file(const json_t *a, const json_t *b, int id)
{
    char name[16];
    snprintf(name, sizeof name, "%d", id);
    return strcmp(string_of(json_object_get(a, "files"), name),
                  string_of(json_object_get(b, "files"), name)) == 0;
}

/* An exercise may stand on files of others too, and these on others'. */
static bool same_files(const json_t *a, const json_t *b, int id)
{
    const exercise *e = catalog_find(id);
    bool same = same_file(a, b, id);
    for (int i = 0; e && e->own_prerequisites && e->prerequisites[i]; i++) {
        same = same && same_files(a, b, e->prerequisites[i]);
    }
    return same;
}

typedef struct graded {
    const json_t *line;
    json_t *results;
} graded;

static const char *machine_of(const json_t *results)
{
    return string_of(json_object_get(results, "device"), "name");
}

static const char *why(const graded *was, const graded *is, int id)
{
    if (!same_files(was->line, is->line, id)) return "new files";
    if (strcmp(string_of(was->line, "judge"), string_of(is->line, "judge")) != 0) {
        return "another grader";
    }
    if (strcmp(machine_of(was->results), machine_of(is->results)) != 0) return "another machine";
    return NOISE;
}

static const json_t *exercise_of(const json_t *results, int id)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        if (id_of(one) == id) return one;
    }
    return NULL;
}

static void compare(submission *s, const graded *was, const graded *is)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(is->results, "exercises"), i, one)
    {
        char before[200], after[200], name[128];
        const int id = id_of(one);
        const json_t *old = exercise_of(was->results, id);
        if (!old) continue;
        verdict_text(old, before);
        verdict_text(one, after);
        if (strcmp(before, after) == 0) continue;
        snprintf(name, sizeof name, "%s %s", id_words(id), string_of(one, "name"));
        json_array_append_new(s->changes,
                              json_pack("{s:s, s:s, s:s, s:s, s:s}", "exercise", name, "was",
                                        before, "is", after, "why", why(was, is, id), "when",
                                        string_of(is->line, "time")));
    }
}

static json_t *load_graded(const class_options *o, const json_t *line)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/graded/%.32s.json", o->out, string_of(line, "key"));
    return json_load_file(path, 0, NULL);
}

void find_changes(const class_options *o, const json_t *history, submission *s)
{
    size_t i;
    json_t *line;
    graded was = {0};
    s->changes = json_array();
    json_array_foreach((json_t *)history, i, line)
    {
        if (strcmp(string_of(line, "student"), s->student) != 0) continue;
        graded is = {line, load_graded(o, line)};
        if (was.results && is.results) compare(s, &was, &is);
        json_decref(was.results);
        was = is;
    }
    json_decref(was.results);
}
