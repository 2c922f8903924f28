/*
 * test_corpus.c: the verdict of a submission against its claim, in rows; and a small corpus that
 * says what is not so, from end to end: each disagreement is told, and nothing else.
 */
#include "grader/tests.h"

#include "selftest/selftest.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- one verdict ----------------------------------------------------------------------------- */

#define WORDS "is 1, should be 2; "

static const traffic_test bytes_test = {.function = "f"};
static const speed_test ikj_test = {.function = "f"};

/* Of two cases, a count and a timing. */
typedef struct outcome {
    place place;
    status status;
    double points;
    char *reason, *message, *finding; /* of the exercise; of the case "3x3" */
    status of_case, of_traffic, of_speed;
    char *traffic_message, *speed_message;
} outcome;

#define RIGHT_ONE ON_SOFTGPU, PASSED, 10, "", "", "", PASSED, PASSED, PASSED, NULL, NULL
#define WRONG_ONE                                                                                  \
    ON_SOFTGPU, FAILED, 0, "", WORDS "transposed", "", FAILED, NOT_RUN, NOT_RUN, NULL, NULL
#define FOUND_ONE                                                                                  \
    ON_SOFTGPU, FAILED, 8, "", "", "a race at line 3", PASSED, PASSED, PASSED, NULL, NULL
#define SLOW_COUNT ON_SOFTGPU, PASSED, 10, "", "", "", PASSED, FAILED, PASSED, "counted 9.00", NULL
#define SLOW_TIME  ON_HOST, PASSED, 10, "", "", "", PASSED, PASSED, FAILED, NULL, NULL
#define VOID_TIME  ON_HOST, PASSED, 10, "", "", "", PASSED, PASSED, FAILED, NULL, "impossible: 1 us"
#define NOISY_TIME                                                                                 \
    ON_HOST, PASSED, 10, "", "", "", PASSED, PASSED, TOO_NOISY, NULL, "too noisy: 0.3"
#define ON_A_GPU ON_GPU, PASSED, 10, "", "", "", PASSED, SKIPPED, PASSED, NULL, NULL
#define UNBUILT_ONE                                                                                \
    ON_HOST, BUILD_FAILED, 0, "x.c:3: error", "", "", NOT_RUN, NOT_RUN, NOT_RUN, NULL, NULL

static const struct {
    bool holds;
    claim claim;
    outcome outcome;
} rows[] = {
    /* in a case: it, its words, and for who cheats not a point */
    {true, {CLAIM_WRONG, IN_CASE, .name = "3x3", .text = "transposed"}, {WRONG_ONE}},
    {true, {CLAIM_WRONG, IN_CASE, .name = "3", .text = "transposed"}, {WRONG_ONE}},
    {true, {CLAIM_WRONG, IN_CASE, .name = "3x3", .text = "shifted / transposed"}, {WRONG_ONE}},
    {false, {CLAIM_WRONG, IN_CASE, .name = "3x3", .text = "shifted"}, {WRONG_ONE}},
    {false, {CLAIM_WRONG, IN_CASE, .name = "3x3", .text = "shifted / scaled"}, {WRONG_ONE}},
    {false, {CLAIM_WRONG, IN_CASE, .name = "1x1", .text = "transposed"}, {WRONG_ONE}},
    {false, {CLAIM_WRONG, IN_CASE, .name = "3x3", .text = "transposed"}, {RIGHT_ONE}},
    {false, {CLAIM_WRONG, IN_CASE, .name = "3x3", .text = "error"}, {UNBUILT_ONE}},
    {true, {CLAIM_WRONG, IN_CASE, .name = "3x3", .text = "a race"}, {FOUND_ONE}},
    {false, {CLAIM_WRONG, IN_CASE, .name = "3x3", .text = "out of bounds"}, {FOUND_ONE}},
    {true, {CLAIM_FAST, IN_CASE, .name = "3x3", .text = "transposed"}, {WRONG_ONE}},
    {false, {CLAIM_FAST, IN_CASE, .name = "3x3", .text = "a race"}, {FOUND_ONE}},
    {false, {CLAIM_HOSTILE, IN_CASE, .name = "3x3", .text = "a race"}, {FOUND_ONE}},
    /* right: in the counts, too */
    {true, {.kind = CLAIM_RIGHT}, {RIGHT_ONE}},
    {true, {.kind = CLAIM_RIGHT}, {SLOW_TIME}},
    {false, {.kind = CLAIM_RIGHT}, {WRONG_ONE}},
    {false, {.kind = CLAIM_RIGHT}, {FOUND_ONE}},
    {false, {.kind = CLAIM_RIGHT}, {SLOW_COUNT}},
    {false, {.kind = CLAIM_RIGHT}, {UNBUILT_ONE}},
    /* slow: right but for the one count or timing */
    {true, {CLAIM_SLOW, IN_METRIC, .name = "bytes", .text = "counted 9"}, {SLOW_COUNT}},
    {false, {CLAIM_SLOW, IN_METRIC, .name = "bytes", .text = "counted 8"}, {SLOW_COUNT}},
    {false, {CLAIM_SLOW, IN_METRIC, .name = "sectors", .text = "counted 9"}, {SLOW_COUNT}},
    {false, {CLAIM_SLOW, IN_METRIC, .name = "bytes", .text = "counted"}, {RIGHT_ONE}},
    {false, {CLAIM_SLOW, IN_METRIC, .name = "bytes", .text = "transposed"}, {WRONG_ONE}},
    {true, {CLAIM_SLOW, IN_METRIC, .name = "bytes", .text = "counted 9"}, {ON_A_GPU}},
    {true, {CLAIM_SLOW, IN_METRIC, .name = "speedup", .text = "too slow"}, {SLOW_TIME}},
    {false, {CLAIM_SLOW, IN_METRIC, .name = "speedup", .text = "too slow"}, {VOID_TIME}},
    {true, {CLAIM_HOSTILE, IN_METRIC, .name = "speedup", .text = "impossible"}, {VOID_TIME}},
    {false, {CLAIM_HOSTILE, IN_METRIC, .name = "speedup", .text = "impossible"}, {RIGHT_ONE}},
    {true,
     {CLAIM_HOSTILE, IN_METRIC, .name = "speedup", .text = "too slow / too noisy"},
     {SLOW_TIME}},
    {true,
     {CLAIM_HOSTILE, IN_METRIC, .name = "speedup", .text = "too slow / too noisy"},
     {NOISY_TIME}},
    {false,
     {CLAIM_HOSTILE, IN_METRIC, .name = "speedup", .text = "too slow / too noisy"},
     {RIGHT_ONE}},
    {false, {CLAIM_SLOW, IN_METRIC, .name = "speedup", .text = "too slow"}, {NOISY_TIME}},
    {false, {CLAIM_HOSTILE, IN_METRIC, .name = "bytes", .text = "counted 9"}, {ON_A_GPU}},
    /* in the build */
    {true, {CLAIM_HOSTILE, IN_BUILD, .name = "build", .text = "x.c:3"}, {UNBUILT_ONE}},
    {false, {CLAIM_HOSTILE, IN_BUILD, .name = "build", .text = "x.c:4"}, {UNBUILT_ONE}},
    {false, {CLAIM_HOSTILE, IN_BUILD, .name = "build", .text = "transposed"}, {WRONG_ONE}},
};

static bool holds(const claim *c, const outcome *o)
{
    case_result cases[] = {
        {.name = "1x1", .status = PASSED, .message = "", .finding = ""},
        {.name = "3x3", .status = o->of_case, .message = o->message, .finding = o->finding}};
    traffic_result count = {.test = &bytes_test,
                            .metric = "bytes stored, 128 × 128",
                            .status = o->of_traffic,
                            .message = o->traffic_message};
    speed_result timing = {.test = &ikj_test,
                           .metric = "speedup over ijk, 512 × 512 × 512",
                           .status = o->of_speed,
                           .message = o->speed_message};
    const exercise_result r = {.place = o->place,
                               .status = o->status,
                               .points = o->points,
                               .reason = o->reason,
                               .cases = cases,
                               .case_count = 2,
                               .traffics = &count,
                               .traffic_count = 1,
                               .speeds = &timing,
                               .speed_count = 1};
    return as_claimed(c, &r);
}

START_TEST(a_claim_is_held_against_the_verdict)
{
    ck_assert_int_eq(holds(&rows[_i].claim, &rows[_i].outcome), rows[_i].holds);
}
END_TEST

START_TEST(a_gpu_shows_it_in_another_case)
{
    claim c = {CLAIM_WRONG, IN_CASE, .name = "9x9", .text = "transposed", .name_on_gpu = "3x3"};
    outcome o = {WRONG_ONE};
    ck_assert(!holds(&c, &o));
    o.place = ON_GPU;
    ck_assert(holds(&c, &o));
}
END_TEST

/* ---- from end to end ------------------------------------------------------------------------- */

#define PRODUCT(store)                                                                             \
    "#include \"cpu.h\"\n"                                                                         \
    "void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)\n"             \
    "{\n"                                                                                          \
    "    for (int i = 0; i < m; i++)\n"                                                            \
    "        for (int j = 0; j < n; j++) {\n"                                                      \
    "            float sum = 0;\n"                                                                 \
    "            for (int p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];\n"                \
    "            c[i * n + j] = " store ";\n"                                                      \
    "        }\n"                                                                                  \
    "}\n"

#define NEGATE(file, line, sum)                                                                    \
    "--- a/" file "\n+++ b/" file "\n@@ -" line ",3 +" line ",3 @@\n"                              \
    "             for (int p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];\n"               \
    "-            c[i * n + j] = " sum ";\n"                                                       \
    "+            c[i * n + j] = -sum;\n"                                                          \
    "         }\n"

static const struct {
    const char *file, *text;
    bool agrees;
} files[] = {
    {"103_matmul_cpu/wrong/as_it_says.c", "// WRONG: 2x3x4 | the sign is wrong\n" PRODUCT("-sum"),
     true},
    {"103_matmul_cpu/wrong/other_words.c", "// WRONG: 2x3x4 | twice as large\n" PRODUCT("-sum"),
     false},
    {"103_matmul_cpu/wrong/is_right.c", "// WRONG: 2x3x4 | should be\n" PRODUCT("sum"), false},
    {"103_matmul_cpu/wrong/of_solution.patch",
     "// WRONG: 2x3x4 | the sign is wrong\n" NEGATE("phase1_cpu/103_matmul_cpu/103_matmul_cpu.c",
                                                    "7", "sum"),
     true},
    {"103_matmul_cpu/wrong/of_right.patch",
     "// WRONG: 2x3x4 | the sign is wrong\n" NEGATE("right/is_right.c", "8", "sum"), true},
    {"103_matmul_cpu/wrong/stale.patch",
     "// WRONG: 2x3x4 | the sign is wrong\n" NEGATE("phase1_cpu/103_matmul_cpu/103_matmul_cpu.c",
                                                    "7", "+sum"),
     false},
    {"103_matmul_cpu/wrong/of_nothing.patch",
     "// WRONG: 2x3x4 | the sign is wrong\n" NEGATE("right/none.c", "8", "sum"), false},
    {"103_matmul_cpu/right/is_right.c", "// RIGHT: a sum\n" PRODUCT("sum"), true},
    {"103_matmul_cpu/right/is_wrong.c", "// RIGHT: a sum\n" PRODUCT("-sum"), false},
    {"103_matmul_cpu/fast/no_claim.c", PRODUCT("-sum"), false},
};
#define FILES (sizeof files / sizeof *files)

static char root[] = "/tmp/corpus.XXXXXX";

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
    make_folders_of(path);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void write_corpus(void)
{
    write_file("solutions", "phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", PRODUCT("sum"));
    for (size_t i = 0; i < FILES; i++) write_file("grader/exercises", files[i].file, files[i].text);
}

/* A course of a few files. */
static void set_up(void)
{
    char command[2 * PATH_MAX];
    const char *course = getenv("COURSE_ROOT");
    strcpy(root + strlen(root) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    chmod(root, 0755);
    snprintf(command, sizeof command, "cd '%s' && cp -r common phase?_* '%s'",
             course ? course : ".", root);
    ck_assert_int_eq(system(command), 0);
    write_corpus();
}

static void tear_down(void)
{
    remove_tree(root);
}

static bool is_told(const char *output, const char *file)
{
    char line[128];
    snprintf(line, sizeof line, "FAIL %s: ", file);
    return strstr(output, line) != NULL;
}

static process_result run_corpus(void)
{
    char grader[PATH_MAX];
    const char *build = getenv("COURSE_BUILD");
    snprintf(grader, sizeof grader, "%s/grader", build ? build : "build");
    setenv("COURSE_ROOT", root, 1);
    const char *const argv[] = {grader, "corpus", "--exercise",  "103", "--jobs",
                                "2",    "--seed", "81726354321", NULL};
    return process_run(argv, NULL, 600.0, 10000);
}

START_TEST(each_disagreement_is_told)
{
    process_result r = run_corpus();
    ck_assert_msg(strstr(r.output, "corpus: 4 passed, 6 failed, 0 skipped") != NULL, "%s",
                  r.output);
    for (size_t i = 0; i < FILES; i++) {
        ck_assert_msg(is_told(r.output, files[i].file) != files[i].agrees, "%s in\n%s",
                      files[i].file, r.output);
    }
    ck_assert_ptr_nonnull(strstr(r.output, "wanted: 2x3x4 fails with \"twice as large\""));
    ck_assert_ptr_nonnull(
        strstr(r.output, "wrong/stale.patch: does not apply to the solution: "
                         "error: patch failed: phase1_cpu/103_matmul_cpu/103_matmul_cpu.c:7"));
    ck_assert_ptr_nonnull(
        strstr(r.output, "wrong/of_nothing.patch: the file that it changes does not exist"));
    ck_assert_int_eq(r.status, 1);
    free(r.output);
}
END_TEST

START_TEST(what_needs_a_missing_layer_is_skipped)
{
    write_file("grader/exercises", "103_matmul_cpu/hostile/held.c",
               "// HOSTILE: 2x3x4 | the sign is wrong | needs files/user\n" PRODUCT("-sum"));
    setenv("ISOLATION", "off", 1);
    process_result r = run_corpus();
    ck_assert_msg(strstr(r.output, "skipped 103_matmul_cpu/hostile/held.c: needs files/user\n") &&
                      strstr(r.output, "corpus: 4 passed, 6 failed, 1 skipped"),
                  "%s", r.output);
    free(r.output);
}
END_TEST

Suite *suite_corpus(void)
{
    Suite *suite = suite_create("corpus");
    TCase *verdicts = tcase_create("verdicts"), *whole = tcase_create("end to end");
    tcase_add_loop_test(verdicts, a_claim_is_held_against_the_verdict, 0,
                        sizeof rows / sizeof *rows);
    tcase_add_test(verdicts, a_gpu_shows_it_in_another_case);
    suite_add_tcase(suite, verdicts);
    tcase_add_checked_fixture(whole, set_up, tear_down);
    tcase_add_test(whole, each_disagreement_is_told);
    tcase_add_test(whole, what_needs_a_missing_layer_is_skipped);
    suite_add_tcase(suite, whole);
    return suite;
}
