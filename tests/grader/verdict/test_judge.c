/*
 * test_judge.c: one made-up exercise from its cases to its points: run.c, judge.c, and what cases
 * are made of: inputs.c and reference.c. No worker is needed: these cases call nothing.
 */
#include "grader/tests.h"

#include "correctness/running.h"
#include "verdict/verdict.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int runs, failing;
static unsigned long long seen[8];

static void passes(const long *shape)
{
    seen[runs++ % 8] = random_u64(case_random());
    expect(shape[0] == 3, "shape %ld", shape[0]);
}

static void fails_at_last(const long *shape)
{
    (void)shape;
    float *x = random_f32(100);
    expect(++failing < 3, "the third run failed: %d", x != NULL);
}

static void notes(const long *shape)
{
    (void)shape;
    note("accuracy %d %%", 97);
}

static const grading_case cases[] = {
    {"passes", passes, {3}, .where = 0},
    {"fails", fails_at_last, {0}, .where = 0},
    {"notes", notes, {0}, .where = ON_HOST, .once = true},
    {"elsewhere", passes, {1}, .where = ON_GPU},
    {NULL, NULL, {0}, .where = 0},
};
static const grading_case well[] = {{"notes", notes, {0}, .where = 0},
                                    {NULL, NULL, {0}, .where = 0}};
static const speed_test speeds[] = {
    {.metric = {"m"}, .function = "f", .where = ON_HOST, .threshold = 1},
    {.metric = {"n"}, .function = "f", .where = ON_GPU, .threshold = 1},
    {0}};
static const exercise made = {.id = 103, .name = "made", .points = 10, .cases = cases};
static const exercise good = {
    .id = 104, .name = "good", .points = 10, .speed_points = 5, .cases = well, .speed = speeds};
static options asked;
static case_state state;

static void start(void)
{
    runs = failing = 0;
    asked = (options){.build = "/no/such/build"};
    state = case_begin(&asked, &made, ON_HOST, NULL);
    case_enter(&state);
}

static exercise_result judged(const exercise *e, bool built)
{
    const build b = {
        .exercise = e, .place = ON_HOST, .ok = built, .log = built ? "a warning" : "line 3: error"};
    const device_facts device = {.name = "none"};
    return judge(&asked, &b, NULL, &device);
}

/* ---- cases ----------------------------------------------------------------------------------- */

START_TEST(verdicts_of_cases)
{
    exercise_result r = judged(&made, true);
    ck_assert_int_eq(r.case_count, 4);
    ck_assert_int_eq(r.cases[0].status, PASSED);
    ck_assert_int_eq(r.cases[1].status, FAILED);
    ck_assert_int_eq(r.cases[2].status, PASSED);
    ck_assert_int_eq(r.cases[3].status, SKIPPED);
    ck_assert_str_eq(r.cases[1].message, "the third run failed: 1; the calls before it were right: "
                                         "this one has its buffers at other addresses");
    ck_assert_str_eq(r.cases[2].message, "accuracy 97 %");
    ck_assert_int_eq(r.status, FAILED);
    ck_assert_ptr_nonnull(strstr(r.reason, "fails: the third run failed: 1; the calls"));
    ck_assert_str_eq(r.warnings, "a warning");
    ck_assert_double_eq(r.points, 0);
    ck_assert_double_eq(r.max_points, 10);
    exercise_result_free(&r);
}
END_TEST

START_TEST(a_case_runs_with_two_seeds_and_the_first_again)
{
    case_result results[5];
    run_cases(&state, results);
    ck_assert_int_eq(runs, 3);
    ck_assert_int_eq(failing, 3);
    ck_assert(seen[0] == seen[2] && seen[0] != seen[1]);
    ck_assert_uint_ne(results[0].seed, results[1].seed);
    ck_assert_int_lt(results[0].seed >> 48, 1); /* short enough to type */
    ck_assert_ptr_null(state.allocations);
    for (int i = 0; i < 4; i++) case_result_free(&results[i]);
}
END_TEST

START_TEST(a_seed_repeats_a_case)
{
    case_result results[5];
    asked.seed_given = true, asked.seed = 7, asked.case_name = "passes";
    run_cases(&state, results);
    const unsigned long long first = seen[0];
    ck_assert_uint_eq(results[0].seed, 7);
    ck_assert_int_eq(results[1].status, SKIPPED);
    for (int i = 0; i < 4; i++) case_result_free(&results[i]);
    runs = 0;
    asked.case_name = NULL, asked.case_start = "pass";
    run_cases(&state, results);
    ck_assert_uint_eq(seen[0], first);
    ck_assert_int_eq(results[2].status, SKIPPED);
    for (int i = 0; i < 4; i++) case_result_free(&results[i]);
}
END_TEST

START_TEST(after_a_deadline_nothing_runs)
{
    case_result results[5];
    state.dead = true;
    run_cases(&state, results);
    ck_assert_int_eq(runs, 0);
    ck_assert_int_eq(results[0].status, NOT_RUN);
    ck_assert_str_eq(results[0].message, "not run after an earlier deadline");
    ck_assert_int_eq(results[3].status, SKIPPED);
    for (int i = 0; i < 4; i++) case_result_free(&results[i]);
}
END_TEST

START_TEST(cases_have_a_time_together)
{
    case_result results[5];
    asked.slow = 1e-12; /* of the ten minutes */
    run_cases(&state, results);
    asked.slow = 0;
    ck_assert_int_eq(results[1].status, NOT_RUN);
    ck_assert_str_eq(results[1].message, "not run: the cases before it took too long together");
    for (int i = 0; i < 4; i++) case_result_free(&results[i]);
}
END_TEST

/* ---- why it failed --------------------------------------------------------------------------- */

static void fails_from_1025(const long *shape)
{
    expect(shape[1] < 1025 && !shape[2], "%ld is too much", shape[1]);
}

START_TEST(the_largest_that_is_right_is_named)
{
    static const grading_case sized[] = {{"3x1024", fails_from_1025, {3, 1024}, .where = 0},
                                         {"9x7", fails_from_1025, {9, 7}, .where = 0},
                                         {"1x0", fails_from_1025, {1, 0}, .where = 0},
                                         {"5x3001", fails_from_1025, {5, 3001}, .where = 0},
                                         {"2x1025", fails_from_1025, {2, 1025}, .where = 0},
                                         {"any", fails_from_1025, {1, 1, 1}, .most = {3, 3, 1}},
                                         {"notes", notes, {0, 5000}, .where = 0},
                                         {NULL, NULL, {0}, .where = 0}};
    const exercise e = {.id = 105, .name = "sized", .points = 10, .cases = sized};
    exercise_result r = judged(&e, true);
    ck_assert_str_eq(
        r.reason,
        "5x3001: 3001 is too much; right up to 1024 (3x1024), wrong from 1025 (2x1025) on");
    exercise_result_free(&r);
}
END_TEST

/* ---- exercises ------------------------------------------------------------------------------- */

START_TEST(what_does_not_build_is_not_run)
{
    exercise_result r = judged(&good, false);
    ck_assert_int_eq(r.status, BUILD_FAILED);
    ck_assert_str_eq(r.reason, "line 3: error");
    ck_assert_str_eq(r.warnings, "");
    ck_assert_int_eq(r.case_count, 0);
    ck_assert_int_eq(r.speeds[0].status, NOT_RUN);
    ck_assert_int_eq(r.speeds[1].status, SKIPPED); /* this place cannot judge it */
    ck_assert_double_eq(r.max_points, 15);
    exercise_result_free(&r);
}
END_TEST

START_TEST(without_a_baseline_there_is_no_speed)
{
    exercise_result r = judged(&good, true);
    ck_assert_int_eq(r.status, PASSED);
    ck_assert_ptr_nonnull(strstr(r.speeds[0].message, "baseline"));
    ck_assert_double_eq(r.points, 10);
    exercise_result_free(&r);
}
END_TEST

START_TEST(one_case_is_not_timed)
{
    asked.case_name = "notes";
    exercise_result r = judged(&good, true);
    ck_assert_int_eq(r.speeds[0].status, SKIPPED);
    ck_assert_ptr_null(r.speeds[0].message);
    ck_assert_double_eq(r.max_points, 10);
    exercise_result_free(&r);
}
END_TEST

/* ---- calls that are timed or counted --------------------------------------------------------- */

/* @param function of the student's: the others are right */
static void is_wrong_when_timed(const char *function, const long *shape)
{
    (void)shape;
    expect(strcmp(function, "f") != 0, "c[3] is wrong");
}

static void races_when_counted(const char *function, const long *shape)
{
    (void)shape;
    (void)function;
    running->last.counts.launches = 1;
    running->found = calloc(1, sizeof *running->found);
    running->found[running->found_count++].text = strdup("f: race");
}

static double counted_one(const device_counts *c)
{
    return (double)c->launches;
}

static exercise_result measured(place where, const speed_test *s, const traffic_test *t)
{
    const exercise e = {.id = 105,
                        .name = "measured",
                        .points = 10,
                        .speed_points = 5,
                        .cases = well,
                        .speed = s,
                        .traffic = t};
    const build b = {.exercise = &e, .place = where, .ok = true, .log = "", .library = ""};
    const build baseline = {.ok = true, .library = ""};
    const device_facts device = {.name = "none"};
    return judge(&asked, &b, &baseline, &device);
}

START_TEST(a_timed_call_that_is_wrong_fails_the_exercise)
{
    const speed_test tests[] = {{.metric = {"m"},
                                 .function = "f",
                                 .baseline = "g",
                                 .run = is_wrong_when_timed,
                                 .shape = {100},
                                 .where = ON_HOST,
                                 .threshold = 1},
                                {0}};
    exercise_result r = measured(ON_HOST, tests, NULL);
    ck_assert_int_eq(r.status, FAILED);
    ck_assert_double_eq(r.points, 0);
    ck_assert_str_eq(r.reason, "m: c[3] is wrong");
    ck_assert_int_eq(r.case_count, 2);
    ck_assert_int_eq(r.cases[1].failure, FAILURE_RESULT);
    ck_assert_int_eq(r.speeds[0].status, NOT_RUN);
    exercise_result_free(&r);
}
END_TEST

START_TEST(a_finding_in_a_counted_call_fails_the_checks)
{
    const traffic_test test = {.metric = {"m"},
                               .function = "f",
                               .run = races_when_counted,
                               .count = counted_one,
                               .bound = AT_MOST,
                               .wanted = 1};
    const traffic_test tests[] = {test, test, {0}};
    exercise_result r = measured(ON_SOFTGPU, NULL, tests);
    ck_assert_int_eq(r.status, FAILED);
    ck_assert_int_eq(checks_status(&r), FAILED);
    ck_assert_double_eq(r.points, 8);
    ck_assert_str_eq(r.reason, "m: f: race");
    ck_assert_int_eq(r.traffics[1].status, NOT_RUN);
    exercise_result_free(&r);
}
END_TEST

/* A threshold belongs to the GPUs on which it was measured. */
START_TEST(other_gpus_do_not_judge)
{
    const speed_test hopper[] = {
        {.metric = {"m"}, .function = "f", .where = ON_GPU, .capability = 90}, {0}};
    const struct {
        bool sm_90a;
        int capability;
        const char *elsewhere;
    } rows[] = {{true, 80, "skipped: needs sm_90a"},
                {false, 80, "skipped: needs compute capability 9.0"},
                {true, 90, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const exercise e = {.id = 1, .cases = well, .speed = hopper, .sm_90a = rows[i].sm_90a};
        const build b = {.exercise = &e, .place = ON_GPU, .log = "does not build"};
        const device_facts device = {.capability = rows[i].capability};
        exercise_result r = judge(&asked, &b, NULL, &device);
        ck_assert_str_eq(r.speeds[0].elsewhere, rows[i].elsewhere);
        ck_assert_int_eq(r.speeds[0].status, *rows[i].elsewhere ? SKIPPED : NOT_RUN);
        exercise_result_free(&r);
    }
}
END_TEST

/* ---- inputs ---------------------------------------------------------------------------------- */

START_TEST(inputs_are_what_was_asked_for)
{
    int hits = 0, highest = 0, outside = 0;
    state.random = random_seed(5);
    const double *zeros = f64_array(1000);
    const float *x = random_f32_between(2000000, 2, 3); /* in huge pages */
    const int *labels = random_i32(1000, -2, 3);
    float *y = random_f32(1000);
    sprinkle_f32(y, 1000, 5, 10);
    for (int i = 0; i < 1000; i++) {
        outside += !(zeros[i] == 0 && labels[i] >= -2 && labels[i] < 3 && fabsf(y[i]) <= 5);
        highest += labels[i] == 2;
        hits += y[i] == 5;
    }
    for (int i = 0; i < 2000000; i++) outside += !(x[i] >= 2 && x[i] <= 3);
    ck_assert_int_eq(outside, 0);
    ck_assert(highest > 100 && hits > 5 && hits <= 10);
    sprinkle_f32(y, 0, 5, 10); /* nowhere */
    ck_assert_ptr_nonnull(state.allocations);
    inputs_free();
    ck_assert_ptr_null(state.allocations);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_inputs)
{
    state.random = random_seed(5);
    float *first = random_normal_f32(1000), *second = random_normal_f32(1000);
    state.random = random_seed(5);
    const float *again = random_normal_f32(1000);
    ck_assert_mem_eq(first, again, 4000);
    ck_assert_mem_ne(first, second, 4000);
    inputs_free();
}
END_TEST

/* ---- references ------------------------------------------------------------------------------ */

#define NEAR(a, b) ck_assert_double_eq_tol(a, b, 1e-12)

START_TEST(references_by_hand)
{
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, -1, 0, 2, 1, 0}; /* 2 x 3 times 3 x 2 */
    double c[4], scale[4], y[4];
    reference_matmul(c, scale, a, b, 2, 2, 3);
    ck_assert(c[0] == 4 && c[1] == 3 && c[2] == 10 && c[3] == 6);
    ck_assert(scale[0] == 4 && scale[1] == 5 && scale[2] == 10 && scale[3] == 14);
    const float x[] = {1000, 1000, -INFINITY, -INFINITY};
    reference_softmax(y, x, 2, 2);
    ck_assert(y[0] == 0.5 && y[1] == 0.5 && y[2] == 0 && y[3] == 0); /* not NaN */
}
END_TEST

START_TEST(cross_entropy_by_hand)
{
    const float logits[] = {0, 0, 800, 0, 0, 1};
    const int labels[] = {0, 0, -1};
    double loss[3], grad[6];
    NEAR(reference_cross_entropy(loss, grad, logits, labels, 3, 2, -1), log(2) / 2);
    NEAR(loss[0], log(2));
    NEAR(loss[1], 0);
    NEAR(loss[2], 0);
    NEAR(grad[0], -0.25);
    NEAR(grad[1], 0.25);
    NEAR(grad[4], 0);
    const int ignored[] = {-1, -1, -1};
    NEAR(reference_cross_entropy(loss, grad, logits, ignored, 3, 2, -1), 0);
}
END_TEST

Suite *suite_judge(void)
{
    Suite *suite = suite_create("judge");
    TCase *tcase = tcase_create("judge");
    tcase_add_checked_fixture(tcase, start, NULL);
    tcase_add_test(tcase, verdicts_of_cases);
    tcase_add_test(tcase, a_case_runs_with_two_seeds_and_the_first_again);
    tcase_add_test(tcase, a_seed_repeats_a_case);
    tcase_add_test(tcase, after_a_deadline_nothing_runs);
    tcase_add_test(tcase, cases_have_a_time_together);
    tcase_add_test(tcase, the_largest_that_is_right_is_named);
    tcase_add_test(tcase, what_does_not_build_is_not_run);
    tcase_add_test(tcase, without_a_baseline_there_is_no_speed);
    tcase_add_test(tcase, one_case_is_not_timed);
    tcase_add_test(tcase, a_timed_call_that_is_wrong_fails_the_exercise);
    tcase_add_test(tcase, a_finding_in_a_counted_call_fails_the_checks);
    tcase_add_test(tcase, other_gpus_do_not_judge);
    tcase_add_test(tcase, inputs_are_what_was_asked_for);
    tcase_add_test(tcase, the_same_seed_gives_the_same_inputs);
    tcase_add_test(tcase, references_by_hand);
    tcase_add_test(tcase, cross_entropy_by_hand);
    suite_add_tcase(suite, tcase);
    return suite;
}
