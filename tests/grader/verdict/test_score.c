/* test_score.c: from verdicts to points. */
#include "grader/tests.h"

#include "verdict/verdict.h"

static const exercise both = {.id = 1, .points = 10, .speed_points = 5};
static const speed_test twice = {.function = "f", .threshold = 2.0};
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
    ck_assert_double_eq_tol(scored(PASSED, PASSED, FAILED, 1.5).points, 12.5, 1e-9);
    ck_assert_double_eq_tol(scored(PASSED, PASSED, FAILED, 1.0).points, 10, 1e-9);
    ck_assert_double_eq_tol(scored(PASSED, PASSED, FAILED, 0.5).points, 10, 1e-9);
}
END_TEST

/* Against a yardstick that is fast itself. */
START_TEST(speed_may_begin_elsewhere)
{
    const speed_test peer = {.function = "f", .threshold = 0.8, .begin = 0.4};
    ck_assert_double_eq_tol(
        speed_credit(&(speed_result){.test = &peer, .status = FAILED, .ratio = 0.6}), 0.5, 1e-9);
    ck_assert_double_eq(
        speed_credit(&(speed_result){.test = &peer, .status = FAILED, .ratio = 0.4}), 0);
}
END_TEST

/* ---- parts ----------------------------------------------------------------------------------- */

static const grading_case rows[] = {
    {.name = "f 1"}, {.name = "g 1", .part = "g"}, {.name = "h", .part = "h"}, {0}};
static const exercise three = {
    .id = 1, .points = 15, .speed_points = 6, .functions = {"f"}, .cases = rows};

/* @param results of f, g and h, by letters: passed, failed, a finding, skipped; then a test of each
 * of f and g that passes */
static account of_three(const char *results)
{
    static const char *const names[] = {"f", "g", "h"};
    account a = account_begin(&three, ON_SOFTGPU);
    for (int i = 0; i < 3; i++) {
        if (results[i] == 's') continue;
        account_case(&a, names[i], results[i] == '-' ? "failed" : "passed", results[i] == '!');
    }
    account_test(&a, "f", "10", 1.0, false);
    account_test(&a, "g", "10", 1.0, false);
    return a;
}

START_TEST(a_part_earns_its_share)
{
    const struct {
        const char *results;
        double points;
        const char *first;
        bool passed;
    } each[] = {{"+++", 21, "passed", true},      {"+--", 5 + 3, "passed", false},
                {"-++", 10 + 3, "failed", false}, {"---", 0, "failed", false},
                {"!++", 14 + 3, "failed", false}, {"s++", 21, "skipped", true}};
    const account a = of_three(each[_i].results);
    ck_assert_double_eq_tol(account_points(&a), each[_i].points, 1e-9);
    ck_assert_str_eq(account_part(&a, 0), each[_i].first);
    ck_assert_int_eq(account_passed(&a), each[_i].passed);
    ck_assert_double_eq(account_most(&a), 21);
}
END_TEST

/* A case of none of them, or a function that is no part, is a matter of all. */
START_TEST(some_are_of_all_parts)
{
    account a = of_three("+-+");
    account_test(&a, "other", "10", 1.0, false);
    ck_assert_double_eq_tol(account_points(&a), 10 + 6 / 3.0, 1e-9);
    account_case(&a, NULL, "failed", false);
    ck_assert_int_eq(account_has(&a, "f"), false);
}
END_TEST

START_TEST(tests_of_one_call_earn_the_least)
{
    account a = account_begin(&both, ON_GPU);
    account_case(&a, NULL, "passed", false);
    account_test(&a, "f", "10", 1.0, false);
    account_test(&a, "f", "10", 0.2, false);
    account_test(&a, "f", "20", 0.6, false);
    ck_assert_double_eq_tol(account_points(&a), 10 + 5 * 0.4, 1e-9);
    account_test(&a, "f", NULL, 0.0, true); /* no less than the plain version */
    ck_assert_double_eq(account_points(&a), 10);
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
    ck_assert_double_eq_tol(r.points, 13, 1e-9);
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
    tcase_add_test(tcase, speed_may_begin_elsewhere);
    tcase_add_loop_test(tcase, a_part_earns_its_share, 0, 6);
    tcase_add_test(tcase, some_are_of_all_parts);
    tcase_add_test(tcase, tests_of_one_call_earn_the_least);
    tcase_add_loop_test(tcase, a_challenge_is_met_or_not, 0, 3);
    tcase_add_test(tcase, noisy_speed_earns_its_low_end);
    tcase_add_test(tcase, unjudged_speed_counts_in_neither);
    tcase_add_test(tcase, impossible_speed_earns_nothing);
    tcase_add_test(tcase, skipped_counts_in_neither);
    suite_add_tcase(suite, tcase);
    return suite;
}
