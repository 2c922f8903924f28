/* test_checks.c: a GPU's entry of results.json, and what softgpu has to say of it. */
#include "grader/tests.h"

#include "verdict/verdict.h"

static const exercise made = {.id = 203, .name = "made", .points = 10, .speed_points = 5};
static json_t *entry;

static json_t *a_case(const char *name, const char *status, const char *message,
                      const char *finding, int seed)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:[], s:i}", "name", name, "status", status,
                     "message", message, "finding", finding, "mismatch", 0, "findings", "seed",
                     seed);
}

static void on_gpu(json_t *cases, bool passed)
{
    entry =
        json_pack("{s:i, s:s, s:f, s:f, s:s, s:o, s:{s:s}, s:[{s:s, s:f}], s:[{s:s, s:n}]}", "id",
                  203, "status", passed ? "passed" : "failed", "points", passed ? 15.0 : 0.0,
                  "max_points", 15.0, "reason", passed ? "" : "a: wrong", "cases", cases, "checks",
                  "verdict", "skipped: needs softgpu", "speeds", "function", "f", "credit", 1.0,
                  "traffic", "verdict", "skipped: needs softgpu", "credit");
}

static void and_softgpu(json_t *cases)
{
    json_t *soft = json_pack("{s:i, s:o}", "id", 203, "cases", cases);
    checks_take(entry, &made, soft);
    json_decref(soft);
}

static const json_t *case_of(size_t i)
{
    return json_array_get(json_object_get(entry, "cases"), i);
}

static void expect_entry(const char *status, double points, const char *checks, int left_out)
{
    const json_t *c = json_object_get(entry, "checks");
    ck_assert_str_eq(string_of(entry, "status"), status);
    ck_assert_double_eq(real_of(entry, "points"), points);
    ck_assert_double_eq(real_of(entry, "max_points"), 15.0);
    ck_assert_str_eq(string_of(c, "verdict"), checks);
    ck_assert_int_eq(integer_of(c, "left_out"), left_out);
}

START_TEST(nothing_found)
{
    on_gpu(json_pack("[o, o]", a_case("a", "passed", "", "", 1), a_case("b", "passed", "", "", 2)),
           true);
    and_softgpu(json_pack("[o]", a_case("a", "passed", "", "", 3)));
    expect_entry("passed", 15.0, "passed", 1); /* b is a case of GPUs alone */
    ck_assert_int_eq(integer_of(case_of(0), "seed"), 1);
    json_decref(entry);
}
END_TEST

START_TEST(a_finding_costs_checks_and_speed)
{
    on_gpu(json_pack("[o]", a_case("a", "passed", "", "", 1)), true);
    and_softgpu(json_pack("[o]", a_case("a", "passed", "", "a race", 3)));
    expect_entry("failed", 8.0, "failed", 0);
    ck_assert_str_eq(string_of(entry, "reason"), "a: a race");
    ck_assert_str_eq(string_of(case_of(0), "status"), "passed");
    ck_assert_str_eq(string_of(case_of(0), "finding"), "a race");
    ck_assert_int_eq(integer_of(case_of(0), "seed"), 3); /* with which it is found again */
    json_decref(entry);
}
END_TEST

START_TEST(a_wrong_case_costs_all)
{
    on_gpu(json_pack("[o]", a_case("a", "passed", "", "", 1)), true);
    and_softgpu(json_pack("[o, o]", a_case("a", "failed", "out of bounds", "", 3),
                          a_case("softgpu's", "passed", "", "", 4)));
    expect_entry("failed", 0.0, "not_run", 0);
    ck_assert_str_eq(string_of(entry, "reason"), "a: on softgpu: out of bounds");
    ck_assert_str_eq(string_of(case_of(0), "status"), "failed");
    ck_assert_str_eq(string_of(case_of(1), "name"), "softgpu's");
    json_decref(entry);
}
END_TEST

START_TEST(a_case_that_was_wrong_already_is_explained)
{
    on_gpu(json_pack("[o]", a_case("a", "failed", "wrong", "", 1)), false);
    and_softgpu(json_pack("[o]", a_case("a", "failed", "out of bounds", "", 3)));
    expect_entry("failed", 0.0, "not_run", 0);
    ck_assert_str_eq(string_of(case_of(0), "message"), "wrong");
    ck_assert_str_eq(string_of(case_of(0), "finding"), "on softgpu: out of bounds");
    ck_assert_int_eq(integer_of(case_of(0), "seed"), 1);
    json_decref(entry);
}
END_TEST

START_TEST(what_softgpu_lacks_is_left_out)
{
    json_t *lacking = a_case("a", "failed", "uses wgmma, which softgpu lacks", "", 3);
    json_object_set_new(lacking, "findings", json_pack("[{s:s}]", "kind", "unsupported"));
    on_gpu(json_pack("[o]", a_case("a", "passed", "", "", 1)), true);
    and_softgpu(json_pack("[o]", lacking));
    expect_entry("passed", 15.0, "skipped: only a GPU can run it", 1);
    json_decref(entry);
}
END_TEST

START_TEST(what_does_not_build_for_softgpu_is_left_out)
{
    on_gpu(json_pack("[o]", a_case("a", "passed", "", "", 1)), true);
    and_softgpu(json_array());
    expect_entry("passed", 15.0, "skipped: only a GPU can run it", 1);
    json_decref(entry);
}
END_TEST

/* @return softgpu's entry, whose count came to this verdict */
static json_t *with_count(const char *verdict, double credit)
{
    return json_pack("{s:i, s:[o], s:[{s:s, s:f, s:s}]}", "id", 203, "cases",
                     a_case("a", "passed", "", "", 3), "traffic", "verdict", verdict, "credit",
                     credit, "function", "f");
}

START_TEST(counts_count_beside_timings)
{
    on_gpu(json_pack("[o]", a_case("a", "passed", "", "", 1)), true);
    json_t *soft = with_count("failed", 0.5);
    json_object_set_new(json_array_get(json_object_get(soft, "traffic"), 0), "shape",
                        json_string("of another call"));
    checks_take(entry, &made, soft);
    expect_entry("passed", 10 + 5 * 0.75, "passed", 0);
    json_decref(soft);
    json_decref(entry);
}
END_TEST

START_TEST(a_count_without_a_verdict_stays_away)
{
    on_gpu(json_pack("[o]", a_case("a", "passed", "", "", 1)), true);
    json_t *soft = with_count("not_run", 0.0);
    checks_take(entry, &made, soft);
    expect_entry("passed", 15.0, "passed", 0);
    json_decref(soft);
    json_decref(entry);
}
END_TEST

Suite *suite_checks(void)
{
    Suite *suite = suite_create("checks");
    TCase *tcase = tcase_create("checks");
    tcase_add_test(tcase, nothing_found);
    tcase_add_test(tcase, counts_count_beside_timings);
    tcase_add_test(tcase, a_count_without_a_verdict_stays_away);
    tcase_add_test(tcase, a_finding_costs_checks_and_speed);
    tcase_add_test(tcase, a_wrong_case_costs_all);
    tcase_add_test(tcase, a_case_that_was_wrong_already_is_explained);
    tcase_add_test(tcase, what_softgpu_lacks_is_left_out);
    tcase_add_test(tcase, what_does_not_build_for_softgpu_is_left_out);
    suite_add_tcase(suite, tcase);
    return suite;
}
