/* test_score.c: from verdicts to points. */
#include "grader/tests.h"

#include "verdict/verdict.h"

static const exercise both = {.id = 1, .points = 10, .speed_points = 5};
static const speed_test twice = {.threshold = 2.0};
static case_result cases[2];
static speed_result speeds[2];

static exercise_result scored(status a, status b, status speed, double ratio)
{
    cases[0].status = a;
    cases[1].status = b;
    speeds[0] = (speed_result){.test = &twice, .status = speed, .ratio = ratio};
    exercise_result r = {.exercise = &both,
                         .status = PASSED,
                         .case_count = 2,
                         .speed_count = 1,
                         .cases = cases,
                         .speeds = speeds};
    score(&r);
    return r;
}

static exercise_result with_finding(place where, status b)
{
    exercise_result r = scored(PASSED, b, NOT_RUN, 0);
    r.place = where;
    r.status = PASSED;
    cases[0].finding = "a race";
    score(&r);
    return r;
}

START_TEST(a_finding_costs_the_checks)
{
    exercise_result r = with_finding(ON_SOFTGPU, PASSED);
    ck_assert_int_eq(checks_status(&r), FAILED);
    ck_assert_int_eq(r.status, FAILED);
    ck_assert_double_eq(r.points, 8);
    ck_assert_double_eq(r.max_points, 15);
}
END_TEST

START_TEST(checks_are_gated_by_correctness)
{
    exercise_result r = with_finding(ON_SOFTGPU, FAILED);
    ck_assert_double_eq(r.points, 0);
    cases[0].finding = "";
    ck_assert_int_eq(checks_status(&r), NOT_RUN);
}
END_TEST

START_TEST(no_finding_passes_the_checks)
{
    exercise_result r = scored(PASSED, PASSED, SKIPPED, 0);
    r.place = ON_SOFTGPU;
    score(&r);
    ck_assert_int_eq(checks_status(&r), PASSED);
    ck_assert_int_eq(r.status, PASSED);
    ck_assert_double_eq(r.points, 10);
    ck_assert_double_eq(r.max_points, 10);
}
END_TEST

START_TEST(checks_need_softgpu)
{
    exercise_result r = scored(PASSED, PASSED, SKIPPED, 0);
    r.place = ON_GPU;
    ck_assert_int_eq(checks_status(&r), SKIPPED);
    ck_assert_double_eq(checks_points(&both, ON_GPU), 0);
    ck_assert_double_eq(checks_points(&both, ON_HOST), 0);
}
END_TEST

START_TEST(checks_are_a_fifth_at_least_1)
{
    const struct {
        double points, checks;
    } rows[] = {{1, 1}, {5, 1}, {10, 2}, {15, 3}, {17, 3}, {18, 4}, {30, 6}};
    const exercise e = {.points = rows[_i].points};
    ck_assert_double_eq(checks_points(&e, ON_SOFTGPU), rows[_i].checks);
}
END_TEST

START_TEST(correctness_gates)
{
    exercise_result r = scored(PASSED, FAILED, NOT_RUN, 0);
    ck_assert_int_eq(r.status, FAILED);
    ck_assert_double_eq(r.points, 0);
    ck_assert_double_eq(r.max_points, 15);
}
END_TEST

START_TEST(no_case_is_no_pass)
{
    ck_assert_int_eq(scored(SKIPPED, SKIPPED, SKIPPED, 0).status, FAILED);
}
END_TEST

START_TEST(speed_is_proportional)
{
    ck_assert_double_eq_tol(scored(PASSED, PASSED, PASSED, 2.0).points, 15, 1e-9);
    ck_assert_double_eq_tol(scored(PASSED, PASSED, PASSED, 9.0).points, 15, 1e-9);
    ck_assert_double_eq_tol(scored(PASSED, PASSED, FAILED, 1.0).points, 12.5, 1e-9);
    ck_assert_double_eq_tol(scored(PASSED, PASSED, FAILED, 0.19).points, 10, 1e-9);
}
END_TEST

/* A call of the exercise before it is right. */
START_TEST(a_challenge_is_met_or_not)
{
    const exercise challenge = {.id = CHALLENGE(4, 'b'), .points = 10, .speed_points = 5};
    const struct {
        status speed;
        double ratio, points, max_points;
    } rows[] = {{PASSED, 2.0, 15, 15}, {FAILED, 1.9, 0, 15}, {SKIPPED, 0, 0, 0}};
    exercise_result r = scored(PASSED, PASSED, rows[_i].speed, rows[_i].ratio);
    r.exercise = &challenge;
    r.status = PASSED;
    score(&r);
    ck_assert_int_eq(r.status, PASSED);
    ck_assert_double_eq(r.points, rows[_i].points);
    ck_assert_double_eq(r.max_points, rows[_i].max_points);
}
END_TEST

START_TEST(noisy_speed_earns_its_low_end)
{
    exercise_result r = scored(PASSED, PASSED, TOO_NOISY, 2.2);
    ck_assert(!is_settled(&r));
    ck_assert_double_eq(r.points, 10); /* void: no interval */
    speeds[0].low = 1.6;
    speeds[0].message = "too noisy";
    score(&r);
    ck_assert_int_eq(r.status, PASSED);
    ck_assert_double_eq_tol(r.points, 14, 1e-9);
    speeds[0].status = PASSED;
    ck_assert(is_settled(&r));
}
END_TEST

START_TEST(unjudged_speed_counts_in_neither)
{
    exercise_result r = scored(PASSED, SKIPPED, SKIPPED, 0);
    ck_assert_int_eq(r.status, PASSED);
    ck_assert_double_eq(r.points, 10);
    ck_assert_double_eq(r.max_points, 10);
}
END_TEST

START_TEST(impossible_speed_earns_nothing)
{
    exercise_result r = scored(PASSED, PASSED, FAILED, 50);
    speeds[0].message = "impossible";
    r.status = PASSED;
    score(&r);
    ck_assert_double_eq(r.points, 10);
}
END_TEST

START_TEST(skipped_counts_in_neither)
{
    exercise_result r = {.exercise = &both, .status = SKIPPED};
    score(&r);
    ck_assert_double_eq(r.max_points, 0);
    r.status = NOT_STARTED;
    score(&r);
    ck_assert_double_eq(r.max_points, 10);
    ck_assert_double_eq(r.points, 0);
}
END_TEST

Suite *suite_score(void)
{
    Suite *suite = suite_create("score");
    TCase *tcase = tcase_create("score");
    tcase_add_test(tcase, a_finding_costs_the_checks);
    tcase_add_test(tcase, checks_are_gated_by_correctness);
    tcase_add_test(tcase, no_finding_passes_the_checks);
    tcase_add_test(tcase, checks_need_softgpu);
    tcase_add_loop_test(tcase, checks_are_a_fifth_at_least_1, 0, 7);
    tcase_add_test(tcase, correctness_gates);
    tcase_add_test(tcase, no_case_is_no_pass);
    tcase_add_test(tcase, speed_is_proportional);
    tcase_add_loop_test(tcase, a_challenge_is_met_or_not, 0, 3);
    tcase_add_test(tcase, noisy_speed_earns_its_low_end);
    tcase_add_test(tcase, unjudged_speed_counts_in_neither);
    tcase_add_test(tcase, impossible_speed_earns_nothing);
    tcase_add_test(tcase, skipped_counts_in_neither);
    suite_add_tcase(suite, tcase);
    return suite;
}
