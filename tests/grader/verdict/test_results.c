/*
 * test_results.c: from verdicts to results.json (results.c), to the terminal (terminal.c) and to
 * what is remembered (cache.c). Whatever a compiler or a student printed, the file can be read
 * again.
 */
#include "grader/tests.h"

#include "views/views.h"
#include "grade/grade.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[96];
static const speed_test speeds[] = {
    {.metric = {"m"}, .function = "f", .where = 7, .threshold = 2},
    {.metric = {"n", .over = "104"}, .function = "g", .where = 7, .threshold = 1}};
static const traffic_test traffics[] = {
    {.metric = {"t"}, .function = "f", .bound = AT_MOST, .wanted = 4}};
static const exercise made = {
    .id = 103, .name = "made", .file = "phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", .points = 10};

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/results.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/new/folder/results.json", folder);
}

static void tear_down(void)
{
    remove_tree(folder);
}

static exercise_result made_result(case_result *cases, speed_result *of_speed,
                                   traffic_result *of_traffic)
{
    return (exercise_result){.exercise = &made,
                             .place = ON_SOFTGPU,
                             .status = FAILED,
                             .reason = "a\xff reason\n\033[31m",
                             .warnings = NULL,
                             .prerequisites = "",
                             .cases = cases,
                             .case_count = 3,
                             .speeds = of_speed,
                             .speed_count = 2,
                             .traffics = of_traffic,
                             .traffic_count = 1,
                             .points = 8,
                             .max_points = 10};
}

static json_t *made_entry(void)
{
    case_result cases[] = {
        {.name = "1x1",
         .status = PASSED,
         .message = "\xc3\xa9\r\033[2K\xc2\x9b\n\xe2\x80\xaex",
         .finding = "",
         .seed = 1ull << 40},
        {.name = "2x2", .status = SKIPPED},
        {.name = "3x3", .status = FAILED, .message = "100 \xe2\x82 wrong", .finding = "a race"}};
    speed_result of_speed[] = {{.test = &speeds[0],
                                .metric = "m",
                                .status = PASSED,
                                .ratio = 3,
                                .low = NAN,
                                .high = 3.00049},
                               {.test = &speeds[1],
                                .metric = "n over 104",
                                .status = FAILED,
                                .ratio = 0.5,
                                .message = "slow"}};
    traffic_result of_traffic[] = {
        {.test = &traffics[0], .metric = "t", .status = FAILED, .counted = NAN}};
    exercise_result r = made_result(cases, of_speed, of_traffic);
    json_t *entry = results_exercise(&r);
    ck_assert_ptr_nonnull(entry);
    return entry;
}

static grading made_grading(const options *o)
{
    return (grading){.options = o,
                     .device = {.name = "softgpu \xff"},
                     .commit = "c",
                     .started = "2026-11-20T10:00:00Z",
                     .modified = json_false(),
                     .hashes = json_object(),
                     .points = 8,
                     .max_points = 10,
                     .exercises = json_pack("[o]", made_entry())};
}

/* ---- entries --------------------------------------------------------------------------------- */

START_TEST(an_outcome_says_how_many_parts)
{
    char line[200];
    json_t *entry = json_pack("{s:s, s:[{s:s}, {s:s}, {s:s}], s:[{s:s}, {s:s}]}", "status",
                              "failed", "parts", "status", "passed", "status", "failed", "status",
                              "skipped", "cases", "status", "passed", "status", "failed");
    print_outcome(entry, line, sizeof line);
    ck_assert_str_eq(line, "failed, 1 of 2 parts, 1 of 2 cases wrong");
    json_decref(entry);
}
END_TEST

START_TEST(an_entry_says_what_was_judged)
{
    json_t *entry = made_entry(), *cases = json_object_get(entry, "cases");
    json_t *speed = json_object_get(entry, "speed"),
           *first = json_array_get(json_object_get(entry, "speeds"), 0),
           *count = json_array_get(json_object_get(entry, "traffic"), 0);
    ck_assert_uint_eq(json_array_size(cases), 2); /* what was not asked for is left out */
    ck_assert_str_eq(string_of(json_array_get(cases, 0), "message"), "\xc3\xa9??[2K?? ???x");
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(cases, 0), "seed")),
                     1ll << 40);
    ck_assert_str_eq(string_of(json_array_get(cases, 1), "message"), "100 ?? wrong");
    ck_assert_str_eq(string_of(entry, "reason"), "a? reason ?[31m");
    ck_assert_str_eq(string_of(entry, "warnings"), "");
    ck_assert_str_eq(string_of(speed, "metric"), "n over 104"); /* the one furthest below */
    ck_assert_str_eq(string_of(speed, "quantity"), "n");
    ck_assert_str_eq(string_of(speed, "over"), "104");
    ck_assert(json_is_null(json_object_get(speed, "per")));
    ck_assert(json_is_null(json_object_get(first, "low")));
    ck_assert_double_eq(real_of(first, "high"), 3.0);
    ck_assert(json_is_null(json_object_get(count, "counted")));
    ck_assert_str_eq(string_of(count, "bound"), "at most");
    json_decref(entry);
}
END_TEST

static json_t *read_back(void)
{
    char why[256];
    json_t *results = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(results);
    ck_assert_msg(results_are_valid(results, why), "%s", why);
    return results;
}

START_TEST(the_file_is_valid)
{
    const options o = {.results = path, .submission = "\xff/mine", .backend = BACKEND_CPU};
    grading g = made_grading(&o);
    ck_assert(results_write(&g));
    json_t *results = read_back();
    ck_assert_double_eq(real_of(results, "points"), 8);
    ck_assert_str_eq(string_of(results, "submission"), "?/mine");
    ck_assert_ptr_null(json_object_get(results, "signature"));
    ck_assert_int_eq(access(folder, F_OK), 0);
    json_decref(results);
    grading_free(&g);
}
END_TEST

START_TEST(with_a_key_it_is_signed)
{
    char key_path[96];
    signing_key key;
    snprintf(key_path, sizeof key_path, "%s/key", folder);
    FILE *file = fopen(key_path, "w");
    fputs("a key of many bytes", file);
    fclose(file);
    chmod(key_path, 0600);
    ck_assert(key_read(&key, key_path));
    const options o = {.results = path, .submission = ".", .key = key_path};
    grading g = made_grading(&o);
    ck_assert(results_write(&g));
    json_t *results = read_back();
    ck_assert_ptr_null(signature_flaw(results, &key));
    json_decref(results);
    results_write_failure(&o, "no \xff device");
    results = read_back();
    ck_assert_ptr_null(signature_flaw(results, &key));
    ck_assert_str_eq(string_of(results, "error"), "no ? device");
    json_decref(results);
    unlink(key_path); /* while it was graded */
    ck_assert(!results_write(&g));
    grading_free(&g);
    key_free(&key);
}
END_TEST

START_TEST(what_cannot_be_written_is_told)
{
    char blocked[128];
    snprintf(blocked, sizeof blocked, "%s/file/results.json", folder);
    *strrchr(blocked, '/') = '\0';
    fclose(fopen(blocked, "w"));
    blocked[strlen(blocked)] = '/';
    const options o = {.results = blocked, .submission = "."};
    grading g = made_grading(&o);
    ck_assert(!results_write(&g));
    grading_free(&g);
}
END_TEST

/* ---- the terminal ---------------------------------------------------------------------------- */

/* What is printed to standard output. */
static char *printed(void (*print)(const grading *), const grading *g)
{
    char *text = calloc(1, 1 << 14);
    char file[96];
    snprintf(file, sizeof file, "%s/printed", folder);
    ck_assert_ptr_nonnull(freopen(file, "w", stdout));
    print(g);
    fflush(stdout);
    FILE *from = fopen(file, "r");
    ck_assert_uint_gt(fread(text, 1, (1 << 14) - 1, from), 0);
    fclose(from);
    return text;
}

static void print_first(const grading *g)
{
    report_exercise(g->options, json_array_get(g->exercises, 0));
}

static void expect_words(char *text, const char *const words[])
{
    for (; *words; words++) ck_assert_msg(strstr(text, *words) != NULL, "%s in\n%s", *words, text);
    free(text);
}

START_TEST(the_terminal_says_it_in_words)
{
    static const char *const of_exercise[] = {"103 made",
                                              "failed: 1 of 2 cases wrong",
                                              "3x3: 100 ?? wrong",
                                              "a race",
                                              "again: make check EX=103 CASE='3x3' SEED=0\n",
                                              "speed: slow",
                                              "traffic: t: counted 0, ",
                                              NULL};
    static const char *const of_failed_count[] = {"FAILED traffic: t: too much",
                                                  "look: make profile EX=103",
                                                  "see it: make see EX=103\n", NULL};
    static const char *const of_table[] = {"103  made", "failed: 1 of 2",     "8.0 / 10.0",
                                           "total",     "details in /r.json", NULL};
    const options o = {.results = "/r.json", .submission = "."};
    grading g = made_grading(&o);
    expect_words(printed(print_first, &g), of_exercise);
    json_t *entry = json_array_get(g.exercises, 0);
    json_object_set_new(json_array_get(json_object_get(entry, "traffic"), 0), "message",
                        json_string("too much"));
    expect_words(printed(print_first, &g), of_failed_count);
    expect_words(printed(report_table, &g), of_table);
    grading_free(&g);
}
END_TEST

static void print_again_in_folder(const grading *g)
{
    json_t *one = json_pack("{s:s, s:i}", "name", "it's 3x3", "seed", 7);
    report_again(g->options->submission, json_array_get(g->exercises, 0), one);
    json_decref(one);
}

START_TEST(a_case_is_tried_again_where_it_was)
{
    static const struct {
        const char *folder, *words;
    } rows[] = {{".", "SEED=7\n"},
                {"", "SEED=7\n"},
                {"/tmp/s", "SEED=7 SUBMISSION='/tmp/s'\n"},
                {"/it's a $ub \"mission\"", " SUBMISSION='/it'\\''s a $$ub \"mission\"'\n"}};
    const options o = {.submission = rows[_i].folder};
    const char *const words[] = {"again: make check EX=103 CASE='it'\\''s 3x3' SEED=7",
                                 rows[_i].words, NULL};
    grading g = made_grading(&o);
    expect_words(printed(print_again_in_folder, &g), words);
    grading_free(&g);
}
END_TEST

/* ---- what is remembered ---------------------------------------------------------------------- */

START_TEST(an_entry_is_remembered_by_its_key)
{
    const options o = {.build = folder};
    const char *key = "0123456789abcdef0123456789abcdef",
               *other = "1123456789abcdef0123456789abcdef";
    ck_assert_ptr_null(cache_load(o.build, key));
    json_t *entry = made_entry();
    cache_store(o.build, key, entry);
    json_t *back = cache_load(o.build, key);
    ck_assert(json_equal(back, entry));
    ck_assert_ptr_null(cache_load(o.build, other));
    json_object_set_new(entry, "points", json_real(9));
    cache_store(o.build, key, entry); /* whoever is last */
    json_decref(back);
    back = cache_load(o.build, key);
    ck_assert(json_equal(back, entry));
    json_decref(back);
    json_decref(entry);
}
END_TEST

START_TEST(a_damaged_memory_is_none)
{
    char file[160];
    const options o = {.build = folder};
    const char *key = "0123456789abcdef0123456789abcdef";
    json_t *entry = made_entry();
    cache_store(o.build, key, entry);
    snprintf(file, sizeof file, "%s/graded/%s.json", folder, key);
    ck_assert_int_eq(truncate(file, 100), 0);
    ck_assert_ptr_null(cache_load(o.build, key));
    json_decref(entry);
}
END_TEST

Suite *suite_results(void)
{
    Suite *suite = suite_create("results");
    TCase *tcase = tcase_create("results");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, an_entry_says_what_was_judged);
    tcase_add_test(tcase, an_outcome_says_how_many_parts);
    tcase_add_test(tcase, the_file_is_valid);
    tcase_add_test(tcase, with_a_key_it_is_signed);
    tcase_add_test(tcase, what_cannot_be_written_is_told);
    tcase_add_test(tcase, the_terminal_says_it_in_words);
    tcase_add_loop_test(tcase, a_case_is_tried_again_where_it_was, 0, 4);
    tcase_add_test(tcase, an_entry_is_remembered_by_its_key);
    tcase_add_test(tcase, a_damaged_memory_is_none);
    suite_add_tcase(suite, tcase);
    return suite;
}
