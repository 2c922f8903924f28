/* test_schema.c: what all views stand on: the schema, words that mean nothing in a format, lines.
 */
#include "grader/tests.h"

#include "views/views.h"
#include <stdlib.h>
#include <string.h>

static json_t *load(const char *name)
{
    char path[PATH_MAX];
    json_error_t error;
    const char *root = getenv("COURSE_ROOT");
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    json_t *results = json_load_file(path, 0, &error);
    ck_assert_msg(results != NULL, "%s: %s", name, error.text);
    return results;
}

/* ---- the schema ------------------------------------------------------------------------------ */

START_TEST(results_of_the_grader_are_valid)
{
    char why[256] = "";
    json_t *results = load("tests/grader/views/results.json");
    ck_assert_msg(results_are_valid(results, why), "%s", why);
    json_decref(results);
}
END_TEST

typedef struct spoiled {
    const char *json, *why;
} spoiled;

#define FIELDS                                                                                     \
    "'id': 1, 'name': '', 'file': '', 'points': 0, 'max_points': 1, 'reason': '', 'speeds': []"
#define AROUND(exercise)                                                                           \
    "{'schema': 1, 'backend': 'cpu', 'points': 0, 'max_points': 0, 'exercises': [" exercise "]}"

static const spoiled spoiled_results[] = {
    {"[]", "no object"},
    {"{'schema': 1}", "backend"},
    {"{'schema': 2, 'backend': 'cpu', 'points': 0, 'max_points': 0, 'exercises': []}", "schema"},
    {"{'schema': 1, 'backend': 'cpu', 'points': '0', 'max_points': 0, 'exercises': []}", "points"},
    {AROUND("7"), "an exercise is no object"},
    {AROUND("{" FIELDS ", 'cases': [], 'speed': null}"), "status"},
    {AROUND("{" FIELDS ", 'cases': [], 'speed': null, 'status': 'well'}"), "well"},
    {AROUND("{" FIELDS ", 'cases': {}, 'speed': null, 'status': 'passed'}"), "cases"},
    {AROUND("{" FIELDS ", 'cases': [{'name': ''}], 'speed': null, 'status': 'passed'}"), "case"},
    {AROUND("{" FIELDS ", 'cases': [{'name': '', 'status': '', 'message': '', 'seed': 1, "
            "'seconds': 1, 'findings': [{'text': ''}]}], 'speed': null, 'status': 'passed'}"),
     "a finding"},
    {AROUND("{" FIELDS ", 'cases': [], 'speed': null, 'status': 'passed', 'traffic': [1]}"),
     "traffic"},
    {AROUND("{" FIELDS ", 'cases': [], 'speed': {}, 'status': 'passed'}"), "metric"},
};

START_TEST(other_files_are_refused_and_told_why)
{
    char why[256] = "", text[1024];
    const spoiled *s = &spoiled_results[_i];
    snprintf(text, sizeof text, "%s", s->json);
    for (char *c = text; *c; c++) {
        if (*c == '\'') *c = '"';
    }
    json_t *results = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(results);
    ck_assert(!results_are_valid(results, why));
    ck_assert_msg(strstr(why, s->why) != NULL, "%s", why);
    json_decref(results);
}
END_TEST

/* ---- escaping -------------------------------------------------------------------------------- */

static void put_message(FILE *to, const char *text)
{
    put_command(to, text, false);
}

static void put_property(FILE *to, const char *text)
{
    put_command(to, text, true);
}

static const struct escaped {
    void (*put)(FILE *, const char *);
    const char *raw, *wanted;
} escaped[] = {
    {put_xml, "a < b && c > \"d\" 'e'", "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;"},
    {put_xml, "tab\tline\nstay\r", "tab\tline\nstay&#13;"},
    {put_xml, "\033[31m\001", "\357\277\275[31m\357\277\275"},
    {put_xml, "\xe2\x80\x98x\xe2\x80\x99 \xf0\x9f\x98\x80",
     "\xe2\x80\x98x\xe2\x80\x99 \xf0\x9f\x98\x80"},
    {put_xml, "\xff\xc3", "\357\277\275\357\277\275"},                   /* no UTF-8; cut short */
    {put_xml, "\xc0\xbc", "\357\277\275"},                               /* an overlong < */
    {put_xml, "\xed\xa0\x80 \xef\xbf\xbe", "\357\277\275 \357\277\275"}, /* surrogate; U+FFFE */
    {put_csv, "plain text", "plain text"},
    {put_csv, "a,b \"c\"\nd", "\"a,b \"\"c\"\"\nd\""},
    {put_csv, "=1+1", "\"'=1+1\""},
    {put_csv, "@x", "\"'@x\""},
    {put_csv, "", ""},
    {put_message, "100 %\r\nnext: a,b", "100 %25%0D%0Anext: a,b"},
    {put_property, "a:b,c%\n", "a%3Ab%2Cc%25%0A"},
    {put_markdown, "a|b<c>*d*_e_`f`\n[g]", "a\\|b&lt;c&gt;\\*d\\*\\_e\\_\\`f\\`<br>\\[g\\]"},
};

START_TEST(text_means_nothing_in_a_format)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    escaped[_i].put(to, escaped[_i].raw);
    fclose(to);
    ck_assert_str_eq(text, escaped[_i].wanted);
    free(text);
}
END_TEST

/* ---- lines ----------------------------------------------------------------------------------- */

static const struct located {
    const char *text;
    long line; /* 0: none */
} located[] = {
    {"206_x.cu:13:5: error: no", 13},
    {"206_x.cu(14): error: no", 14},
    {"/tmp/build/206_x.cu:15: error: no", 15},
    {"In file 206_x.cu:\nthen 206_x.cu:17", 17},
    {"1206_x.cu:13 and my_206_x.cu:3", 0},
    {"basics.h:13: error", 0},
    {"206_x.cu:x 206_x.cu(4 206_x.cu:0", 0},
    {"206_x.cu", 0},
    {"", 0},
};

START_TEST(lines_are_found_in_words)
{
    long line = 0;
    const char *rest = locate(located[_i].text, "phase2_cuda_basics/206_x.cu", &line);
    ck_assert_int_eq(rest != NULL, located[_i].line > 0);
    if (rest) ck_assert_int_eq(line, located[_i].line);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof *(table))

Suite *suite_schema(void)
{
    Suite *suite = suite_create("schema");
    TCase *tcase = tcase_create("schema");
    tcase_add_test(tcase, results_of_the_grader_are_valid);
    tcase_add_loop_test(tcase, other_files_are_refused_and_told_why, 0, ROWS(spoiled_results));
    tcase_add_loop_test(tcase, text_means_nothing_in_a_format, 0, ROWS(escaped));
    tcase_add_loop_test(tcase, lines_are_found_in_words, 0, ROWS(located));
    suite_add_tcase(suite, tcase);
    return suite;
}
