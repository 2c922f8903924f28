/*
 * test_hidden.c: an instructor's private file: what it may say, that a case of it decides, and that
 * a student learns from the results neither shape nor seed.
 */
#include "grader/tests.h"

#include "correctness/correctness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE                                                                                     \
    "void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)\n{\n"          \
    "    for (int i = 0; i < m; i++)\n        for (int j = 0; j < n; j++) {\n"                     \
    "            float sum = n == 4099 ? 1.0f : 0.0f;\n"                                           \
    "            for (int p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];\n"                \
    "            c[i * n + j] = sum;\n        }\n}\n"

static const struct {
    const char *text;
    bool good;
    int count;
} shapes[] = {{"129x65x257", true, 3},
              {"7", true, 1},
              {"3x-20", true, 2},
              {"1x2x3x4x5x6x7x8", true, 8},
              {"1x2x3x4x5x6x7x8x9x1x2x3x4x5x6x7x8x9", false, 0},
              {"", false, 0},
              {"x3", false, 0},
              {"3x", false, 0},
              {"3 x 4", false, 0},
              {"3x4y", false, 0},
              {"99999999999999999999", false, 0}};

START_TEST(a_shape)
{
    long shape[SHAPE_MAX];
    int count;
    ck_assert_int_eq(hidden_shape(shapes[_i].text, shape, &count), shapes[_i].good);
    if (shapes[_i].good) ck_assert_int_eq(count, shapes[_i].count);
}
END_TEST

static const struct {
    failure failure;
    const char *mistake, *words;
} kinds[] = {
    {FAILURE_NONE, NULL, ""},
    {FAILURE_RESULT, "; only the first row is right", "wrong result; only the first row is right"},
    {FAILURE_RESULT, "; the first 17 of each row are right", "wrong result"},
    {FAILURE_RESULT, NULL, "wrong result"},
    {FAILURE_DEADLINE, NULL, "too slow, or endless"},
    {FAILURE_CRASH, NULL, "crash"},
    {FAILURE_WROTE_OUTSIDE, NULL, "wrote outside of its arrays"},
    {FAILURE_NO_BARRIER, "; a barrier is missing", "missing barrier"},
    {FAILURE_OUT_OF_BOUNDS, NULL, "access out of bounds"},
};

START_TEST(the_kind_of_a_failure)
{
    char *words = hidden_words(kinds[_i].failure, kinds[_i].mistake);
    ck_assert_str_eq(words, kinds[_i].words);
    free(words);
}
END_TEST

START_TEST(each_failure_has_words)
{
    char *words = hidden_words((failure)_i, NULL);
    ck_assert_str_ne(words, "");
    free(words);
}
END_TEST

static const struct {
    device_finding_kind kind;
    failure failure;
} found[] = {{FINDING_OUT_OF_BOUNDS, FAILURE_OUT_OF_BOUNDS},
             {FINDING_STREAM_RACE, FAILURE_RACE},
             {FINDING_MISSING_SYNCWARP, FAILURE_NO_BARRIER},
             {FINDING_UNINITIALISED, FAILURE_UNWRITTEN},
             {FINDING_LEAK, FAILURE_CALL},
             {(device_finding_kind)12345, FAILURE_CALL}};

START_TEST(the_failure_behind_a_finding)
{
    ck_assert_int_eq(failure_of(&(device_finding){.kind = found[_i].kind}), found[_i].failure);
}
END_TEST

/* ---- the grader with a file ------------------------------------------------------------------ */

static char folder[PATH_MAX];

static const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX + 64];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    write_text(text, "%s", in_folder(name));
}

static void make_folder(void)
{
    const char *build = getenv("COURSE_BUILD");
    snprintf(folder, sizeof folder, "%s/hidden %d", build ? build : "build", (int)getpid());
    mkdir(folder, 0777);
    write_file("phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", SOURCE);
}

static void remove_folder(void)
{
    remove_tree(folder);
}

/* @return what it said; the results are in results.json */
static process_result grade_hidden(const char *file, const char *reveal)
{
    char grader[PATH_MAX];
    const char *build = getenv("COURSE_BUILD");
    snprintf(grader, sizeof grader, "%s/grader", build ? build : "build");
    write_file("hidden.ini", file);
    const char *const argv[] = {grader,         "grade",
                                "--submission", folder,
                                "--exercise",   "103",
                                "--results",    in_folder("results.json"),
                                "--hidden",     in_folder("hidden.ini"),
                                reveal,         NULL};
    return process_run(argv, NULL, 600.0, 10000);
}

static const struct {
    const char *file, *said;
} wrong[] = {
    {"seed = many", ":1: a seed is a number"},
    {"seed = 1\nseed = 2", ":2: there is a seed already"},
    {"; nothing\n\n[999]\n", ":3: there is no such exercise"},
    {"case = 1x2x3", ":1: not a setting"},
    {"[103]\nshape = 1x2x3", ":2: not a setting"},
    {"[103]\nsome words", ":2: neither"},
    {"[103]\ncase = 1x2", ":2: the shape of 3x2x5003 has 3 numbers, not 2"},
    {"[103]\ncase = 1x2xthree", ":2: the shape of 3x2x5003 is like 3x2x5003"},
    {"[103]\ncase = forward 1x2x3", ":2: it has no such case: say which, e.g. case = "},
    {"[203]\ncase = 777",
     ":2: its cases are not named after their shapes: say which, e.g. case = large_values 4099"},
    {"[301]\ncase = 17", ":2: its cases are not named after their shapes"},
    {"[103]\ncase = 1 2 3", ":2: a case is"},
    {"[103]\ncase = 90000000x90000000x1", ":2: this shape is too large"},
    {"[103]\ncase = 3x4x5\ncase = nan 0x31x5", ":3: the reference solution does not pass"},
};

START_TEST(a_file_that_makes_no_sense)
{
    make_folder();
    process_result r = grade_hidden(wrong[_i].file, NULL);
    json_t *root = json_load_file(in_folder("results.json"), 0, NULL);
    ck_assert_msg(r.status == 2 && strstr(r.output, wrong[_i].said), "%s: %d, %s", wrong[_i].file,
                  r.status, r.output);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "exercises")), 0);
    ck_assert_str_eq(json_string_value(json_object_get(root, "error")),
                     "the instructor's file cannot be used");
    json_decref(root);
    free(r.output);
    remove_folder();
}
END_TEST

static const char private[] = "seed = 8172635417 ; of this year\n[103]\ncase = 3x5x7\n"
                              "case = misaligned 3x4099x5\n";

/* The text of results.json without the submission's path, in which a process id may be anything.
 * Seconds have three digits, or they could be those of a size. */
static char *results_text(void)
{
    json_t *root = json_load_file(in_folder("results.json"), 0, NULL);
    char *text = json_dumps(json_object_get(root, "exercises"), JSON_REAL_PRECISION(3));
    json_decref(root);
    return text;
}

START_TEST(a_hidden_case_decides_and_stays_hidden)
{
    make_folder();
    process_result r = grade_hidden(private, NULL);
    char *text = results_text();
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(text, "\"reason\": \"hidden 2: wrong result"));
    ck_assert_ptr_nonnull(strstr(text, "\"status\": \"failed\""));
    ck_assert_ptr_null(strstr(text, "4099"));
    ck_assert_ptr_null(strstr(text, "3x5x7"));
    ck_assert_ptr_null(strstr(text, "8172635417"));
    ck_assert_ptr_null(strstr(text, "\"seed\": 1"));
    ck_assert_ptr_null(strstr(r.output, "4099"));
    ck_assert_ptr_null(strstr(r.output, "SEED"));
    free(text);
    free(r.output);
    remove_folder();
}
END_TEST

static json_int_t seed_of_case(size_t index)
{
    json_t *root = json_load_file(in_folder("results.json"), 0, NULL);
    json_t *exercise = json_array_get(json_object_get(root, "exercises"), 0);
    json_t *one = json_array_get(json_object_get(exercise, "cases"), index);
    const json_int_t seed = json_integer_value(json_object_get(one, "seed"));
    json_decref(root);
    return seed;
}

START_TEST(the_instructor_sees_all_and_a_class_has_one_seed)
{
    make_folder();
    process_result r = grade_hidden(private, "--reveal");
    char *text = results_text();
    ck_assert_ptr_nonnull(strstr(text, "[line 4 of the hidden file] c[0][0]"));
    const json_int_t first = seed_of_case(0), second = seed_of_case(1);
    ck_assert_int_ne(first, second);
    free(text);
    free(r.output);
    write_file("phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", SOURCE "/* somebody else's */\n");
    free(grade_hidden(private, "--reveal").output);
    ck_assert_int_eq(seed_of_case(0), first);
    ck_assert_int_eq(seed_of_case(1), second);
    remove_folder();
}
END_TEST

Suite *suite_hidden(void)
{
    Suite *suite = suite_create("hidden");
    TCase *tcase = tcase_create("hidden");
    tcase_add_loop_test(tcase, a_shape, 0, sizeof shapes / sizeof *shapes);
    tcase_add_loop_test(tcase, the_kind_of_a_failure, 0, sizeof kinds / sizeof *kinds);
    tcase_add_loop_test(tcase, each_failure_has_words, FAILURE_NONE + 1, FAILURES);
    tcase_add_loop_test(tcase, the_failure_behind_a_finding, 0, sizeof found / sizeof *found);
    tcase_add_loop_test(tcase, a_file_that_makes_no_sense, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(tcase, a_hidden_case_decides_and_stays_hidden);
    tcase_add_test(tcase, the_instructor_sees_all_and_a_class_has_one_seed);
    suite_add_tcase(suite, tcase);
    return suite;
}
