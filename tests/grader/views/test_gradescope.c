/*
 * test_gradescope.c: what the view for Gradescope writes, held against its published specification
 * (gradescope-autograders.readthedocs.io, "Autograder Specifications", output format): a table of
 * the keys that it has, with their types and words. Whatever the tables do not name is refused.
 */
#include "grader/tests.h"

#include "views/views.h"
#include <stdlib.h>
#include <string.h>

/* ---- the specification ----------------------------------------------------------------------- */

enum {
    TEXT = 1 << JSON_STRING,
    NUMBER = 1 << JSON_INTEGER | 1 << JSON_REAL,
    LIST = 1 << JSON_ARRAY,
    MAP = 1 << JSON_OBJECT
};

typedef struct field {
    const char *name;
    int types;                   /* any of these */
    bool needed;                 /* else it may be left out */
    const char *const *words;    /* that it may be, ended by NULL; or NULL: any */
    const struct field *members; /* of each object of a list; or NULL */
    int elements;                /* types of those of a list; 0: any */
} field;

static const char *const formats[] = {"text", "html", "simple_format", "md", "ansi", NULL};
static const char *const visibilities[] = {"hidden", "after_due_date", "after_published", "visible",
                                           NULL};
static const char *const statuses[] = {"passed", "failed", NULL};
static const char *const orders[] = {"asc", "desc", NULL};

static const field of_test[] = {{.name = "score", .types = NUMBER},
                                {.name = "max_score", .types = NUMBER},
                                {.name = "status", .types = TEXT, .words = statuses},
                                {.name = "name", .types = TEXT},
                                {.name = "name_format", .types = TEXT, .words = formats},
                                {.name = "number", .types = TEXT},
                                {.name = "output", .types = TEXT},
                                {.name = "output_format", .types = TEXT, .words = formats},
                                {.name = "tags", .types = LIST, .elements = TEXT},
                                {.name = "visibility", .types = TEXT, .words = visibilities},
                                {.name = "extra_data", .types = MAP},
                                {0}};

static const field of_leaderboard[] = {{.name = "name", .types = TEXT, .needed = true},
                                       {.name = "value", .types = NUMBER | TEXT, .needed = true},
                                       {.name = "order", .types = TEXT, .words = orders},
                                       {0}};

static const field of_root[] = {
    {.name = "score", .types = NUMBER},
    {.name = "execution_time", .types = NUMBER},
    {.name = "output", .types = TEXT},
    {.name = "output_format", .types = TEXT, .words = formats},
    {.name = "test_output_format", .types = TEXT, .words = formats},
    {.name = "test_name_format", .types = TEXT, .words = formats},
    {.name = "visibility", .types = TEXT, .words = visibilities},
    {.name = "stdout_visibility", .types = TEXT, .words = visibilities},
    {.name = "extra_data", .types = MAP},
    {.name = "tests", .types = LIST, .members = of_test, .elements = MAP},
    {.name = "leaderboard", .types = LIST, .members = of_leaderboard, .elements = MAP},
    {0}};

/* ---- the checker ----------------------------------------------------------------------------- */

static bool has_type(const json_t *value, int types)
{
    return types & 1 << json_typeof(value);
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(word, *words) != 0) words++;
    return *words != NULL;
}

static bool has_fields(const json_t *object, const field *fields, const char *what, char why[256]);

static bool is_field(const json_t *value, const field *f, const char *what, char why[256])
{
    size_t i;
    json_t *one;
    snprintf(why, 256, "%s: \"%s\" has another type", what, f->name);
    if (!has_type(value, f->types)) return false;
    snprintf(why, 256, "%s: \"%s\" has another word", what, f->name);
    if (f->words && !is_one_of(json_string_value(value), f->words)) return false;
    json_array_foreach((json_t *)value, i, one)
    {
        snprintf(why, 256, "%s: an element of \"%s\" has another type", what, f->name);
        if (f->elements && !has_type(one, f->elements)) return false;
        if (f->members && !has_fields(one, f->members, f->name, why)) return false;
    }
    return true;
}

static bool has_fields(const json_t *object, const field *fields, const char *what, char why[256])
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const field *f = fields;
        while (f->name && strcmp(f->name, key) != 0) f++;
        snprintf(why, 256, "%s: there is no key \"%.100s\"", what, key);
        if (!f->name || !is_field(value, f, what, why)) return false;
    }
    for (const field *f = fields; f->name; f++) {
        snprintf(why, 256, "%s: lacks \"%s\"", what, f->name);
        if (f->needed && !json_object_get(object, f->name)) return false;
    }
    return true;
}

/* A score of the whole, or one of every test. */
static bool has_scores(const json_t *root, char why[256])
{
    size_t i;
    json_t *test, *tests = json_object_get(root, "tests");
    bool all = json_array_size(tests) > 0;
    json_array_foreach(tests, i, test) all &= json_object_get(test, "score") != NULL;
    snprintf(why, 256, "there is no score");
    return all || json_object_get(root, "score");
}

static bool gradescope_takes(const char *text, char why[256])
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    snprintf(why, 256, "no JSON object: %s", root ? "" : error.text);
    const bool good =
        json_is_object(root) && has_fields(root, of_root, "root", why) && has_scores(root, why);
    json_decref(root);
    return good;
}

/* ---- documents, with ' for " ----------------------------------------------------------------- */

static char *quoted(const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; *c; c++) *c = *c == '\'' ? '"' : *c;
    return copy;
}

static const char *const good[] = {
    "{'score': 0}",
    "{'score': 44.5, 'tests': [{}], 'leaderboard': []}",
    "{'tests': [{'score': 1}, {'score': 0.5}]}",
    "{'score': 44.0, 'execution_time': 136, 'output': '', 'output_format': 'simple_format',"
    " 'test_output_format': 'text', 'test_name_format': 'md', 'visibility': 'after_due_date',"
    " 'stdout_visibility': 'visible', 'extra_data': {'any': [1, null]}, 'tests': [{'score': 2.0,"
    " 'max_score': 2, 'status': 'passed', 'name': 'a', 'name_format': 'ansi', 'number': '1.1',"
    " 'output': 'b', 'output_format': 'html', 'tags': ['c', 'd'], 'visibility': 'hidden',"
    " 'extra_data': {}}], 'leaderboard': [{'name': 'e', 'value': 0.5}, {'name': 'f', 'value':"
    " '***'}, {'name': 'g', 'value': 15, 'order': 'asc'}]}",
};

START_TEST(what_is_specified_is_taken)
{
    char why[256] = "", *text = quoted(good[_i]);
    ck_assert_msg(gradescope_takes(text, why), "%s", why);
    free(text);
}
END_TEST

#define ROOT(member)  "{'score': 1, " member "}"
#define TEST(members) ROOT("'tests': [{'score': 1}, {" members "}]")
#define ROW(members)  ROOT("'leaderboard': [{'name': 'a', 'value': 1}, {" members "}]")

static const struct {
    const char *text, *why;
} bad[] = {
    {"", "no JSON"},
    {"[]", "no JSON object"},
    {"{}", "no score"},
    {"{'tests': []}", "no score"},
    {"{'tests': [{'score': 1}, {'max_score': 1}]}", "no score"},
    {"{'score': 1, 'score': 2}", "duplicate"},
    {"{'score': '1'}", "root: \"score\" has another type"},
    {"{'score': null}", "root: \"score\" has another type"},
    {"{'score': true}", "root: \"score\" has another type"},
    {ROOT("'max_score': 1"), "root: there is no key \"max_score\""},
    {ROOT("'Tests': []"), "root: there is no key \"Tests\""},
    {ROOT("'execution_time': '1 s'"), "root: \"execution_time\" has another type"},
    {ROOT("'output': ['a']"), "root: \"output\" has another type"},
    {ROOT("'output_format': 'markdown'"), "root: \"output_format\" has another word"},
    {ROOT("'output_format': 1"), "root: \"output_format\" has another type"},
    {ROOT("'test_output_format': ''"), "root: \"test_output_format\" has another word"},
    {ROOT("'test_name_format': 'Text'"), "root: \"test_name_format\" has another word"},
    {ROOT("'visibility': 'after'"), "root: \"visibility\" has another word"},
    {ROOT("'stdout_visibility': 'none'"), "root: \"stdout_visibility\" has another word"},
    {ROOT("'stdout_visibility': false"), "root: \"stdout_visibility\" has another type"},
    {ROOT("'extra_data': []"), "root: \"extra_data\" has another type"},
    {ROOT("'extra_data': null"), "root: \"extra_data\" has another type"},
    {ROOT("'tests': {}"), "root: \"tests\" has another type"},
    {ROOT("'tests': [1]"), "root: an element of \"tests\" has another type"},
    {ROOT("'leaderboard': {}"), "root: \"leaderboard\" has another type"},
    {ROOT("'leaderboard': [[]]"), "root: an element of \"leaderboard\" has another type"},
    {TEST("'score': '1'"), "tests: \"score\" has another type"},
    {TEST("'max_score': null"), "tests: \"max_score\" has another type"},
    {TEST("'points': 1"), "tests: there is no key \"points\""},
    {TEST("'execution_time': 1"), "tests: there is no key \"execution_time\""},
    {TEST("'status': 'skipped'"), "tests: \"status\" has another word"},
    {TEST("'status': true"), "tests: \"status\" has another type"},
    {TEST("'name': 1"), "tests: \"name\" has another type"},
    {TEST("'name_format': 'plain'"), "tests: \"name_format\" has another word"},
    {TEST("'number': 1.1"), "tests: \"number\" has another type"},
    {TEST("'output': null"), "tests: \"output\" has another type"},
    {TEST("'output_format': 'pdf'"), "tests: \"output_format\" has another word"},
    {TEST("'tags': 'a'"), "tests: \"tags\" has another type"},
    {TEST("'tags': ['a', 1]"), "tests: an element of \"tags\" has another type"},
    {TEST("'visibility': 'sometimes'"), "tests: \"visibility\" has another word"},
    {TEST("'stdout_visibility': 'hidden'"), "tests: there is no key \"stdout_visibility\""},
    {TEST("'extra_data': 'a'"), "tests: \"extra_data\" has another type"},
    {ROW("'value': 1"), "leaderboard: lacks \"name\""},
    {ROW("'name': 'b'"), "leaderboard: lacks \"value\""},
    {ROW("'name': 2, 'value': 1"), "leaderboard: \"name\" has another type"},
    {ROW("'name': 'b', 'value': null"), "leaderboard: \"value\" has another type"},
    {ROW("'name': 'b', 'value': 1, 'order': 'up'"), "leaderboard: \"order\" has another word"},
    {ROW("'name': 'b', 'value': 1, 'unit': 's'"), "leaderboard: there is no key \"unit\""},
};

START_TEST(what_is_not_specified_is_refused)
{
    char why[256] = "", *text = quoted(bad[_i].text);
    ck_assert_msg(!gradescope_takes(text, why), "%s is taken", text);
    ck_assert_msg(strstr(why, bad[_i].why) != NULL, "%s: %s", text, why);
    free(text);
}
END_TEST

/* ---- the view -------------------------------------------------------------------------------- */

static void expect_taken(const json_t *results, const char *visibility)
{
    size_t size;
    char *text = NULL, why[256] = "";
    const options o = {.visibility = visibility};
    FILE *memory = open_memstream(&text, &size);
    ck_assert(gradescope_view(&o, results, memory));
    fclose(memory);
    ck_assert_msg(gradescope_takes(text, why), "%s", why);
    free(text);
}

START_TEST(the_view_keeps_the_specification)
{
    char path[PATH_MAX];
    const char *root = getenv("COURSE_ROOT");
    snprintf(path, sizeof path, "%s/tests/grader/views/results.json", root ? root : ".");
    json_t *results = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(results);
    expect_taken(results, NULL);
    for (int i = 0; visibilities[i]; i++) expect_taken(results, visibilities[i]);
    json_decref(results);
}
END_TEST

START_TEST(so_it_does_without_a_grading)
{
    json_t *results =
        json_pack("{s:i, s:s, s:s, s:f, s:f, s:[]}", "schema", 1, "backend", "cpu", "error",
                  "no worker", "points", 0.0, "max_points", 0.0, "exercises");
    expect_taken(results, "hidden");
    json_decref(results);
}
END_TEST

Suite *suite_gradescope(void)
{
    Suite *suite = suite_create("gradescope");
    TCase *tcase = tcase_create("gradescope");
    tcase_add_loop_test(tcase, what_is_specified_is_taken, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(tcase, what_is_not_specified_is_refused, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tcase, the_view_keeps_the_specification);
    tcase_add_test(tcase, so_it_does_without_a_grading);
    suite_add_tcase(suite, tcase);
    return suite;
}
