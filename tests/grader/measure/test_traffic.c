/* test_traffic.c: from counters to numbers, from numbers to verdicts, points and results.json; and
 * that one submission is counted alike every time. */
#include "grader/tests.h"

#include "measure/measure.h"
#include "verdict/verdict.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRADINGS 3

/* ---- counts.c -------------------------------------------------------------------------------- */

START_TEST(what_moves_is_sectors_and_copies)
{
    const device_counts c = {.global_load = {.sectors = 10, .bytes = 320},
                             .global_store = {.sectors = 5, .bytes = 20},
                             .global_atomic = {.sectors = 1, .bytes = 4},
                             .read_only = {.sectors = 7, .bytes = 28},
                             .to_device = {1, 100},
                             .to_host = {1, 200},
                             .on_device = {1, 1000},
                             .fills = {1, 50}};
    ck_assert_double_eq(moved_bytes(&c), 23 * 32 + 100 + 200 + 2 * 1000 + 50);
    ck_assert_double_eq(stored_bytes(&c), 24 + 100 + 200 + 2 * 1000 + 50);
    ck_assert_double_eq(host_copies(&c), 2);
}
END_TEST

START_TEST(wide_requests_count_as_several)
{
    const device_counts narrow = {.global_load = {.requests = 2, .sectors = 8, .bytes = 256}};
    const device_counts wide = {.global_store = {.requests = 2, .sectors = 32, .bytes = 1024}};
    const device_counts apart = {.global_load = {.requests = 1, .sectors = 32, .bytes = 128}};
    const device_counts broadcast = {.global_load = {.requests = 2, .sectors = 2, .bytes = 256}};
    const device_counts tail = {.global_load = {.requests = 1, .sectors = 1, .bytes = 4}};
    const device_counts texels = {.read_only = {.requests = 1, .sectors = 32, .bytes = 128}};
    ck_assert_double_eq(sectors_per_request(&narrow), 4);
    ck_assert_double_eq(sectors_per_request(&wide), 4);
    ck_assert_double_eq(sectors_per_request(&apart), 32);
    ck_assert_double_eq(sectors_per_request(&broadcast), 1);
    ck_assert_double_eq(sectors_per_request(&tail), 1);
    ck_assert_double_eq(sectors_per_request(&texels), 32);
}
END_TEST

START_TEST(shares_of_blocks_warps_and_requests)
{
    const device_counts c = {.blocks = 4,
                             .warps = 8,
                             .instructions = 80,
                             .longest = 40,
                             .block_atomics = 100,
                             .global_atomic = {.requests = 8, .sectors = 8, .bytes = 4 * 256},
                             .shared_load = {.requests = 6, .wavefronts = 9, .conflicts = 3},
                             .shared_store = {.requests = 3, .wavefronts = 4, .conflicts = 1},
                             .shared_atomic = {.requests = 1, .wavefronts = 2, .conflicts = 1}};
    ck_assert_double_eq(atomics_per_block(&c), 100);
    ck_assert_double_eq(instructions_per_warp(&c), 40);
    ck_assert_double_eq(bank_conflicts(&c), 5);
    ck_assert_double_eq(atomics(&c), 256);
}
END_TEST

START_TEST(launches_and_what_the_host_submits)
{
    const device_counts c = {.launches = 41, .host_launches = 2};
    ck_assert_double_eq(kernel_launches(&c), 41);
    ck_assert_double_eq(host_launches(&c), 2);
}
END_TEST

START_TEST(launches_of_nothing_add_no_waves)
{
    const device_counts alone = {.launches = 1, .blocks = 96, .resident = 64};
    const device_counts beside = {.launches = 4, .blocks = 99, .resident = 4 * 64};
    ck_assert_double_eq(waves(&alone), 1.5);
    ck_assert_double_gt(waves(&beside), 1.5);
}
END_TEST

START_TEST(requests_memory_and_tensor_cores)
{
    const device_counts c = {.global_load = {.requests = 1},
                             .read_only = {.requests = 64},
                             .global_store = {.requests = 2},
                             .global_atomic = {.requests = 4},
                             .shared_load = {.requests = 8},
                             .shared_store = {.requests = 16},
                             .shared_atomic = {.requests = 32},
                             .by_class = {[CLASS_TENSOR] = 64, [CLASS_FLOAT] = 128},
                             .allocated = {3, 300},
                             .peak = 200};
    ck_assert_double_eq(global_requests(&c), 71);
    ck_assert_double_eq(shared_requests(&c), 56);
    ck_assert_double_eq(tensor_instructions(&c), 64);
    ck_assert_double_eq(peak_bytes(&c), 200);
    ck_assert_double_eq(allocated_bytes(&c), 300);
}
END_TEST

START_TEST(of_nothing_nothing)
{
    const device_counts none = {0};
    ck_assert_double_eq(moved_bytes(&none), 0);
    ck_assert_double_eq(sectors_per_request(&none), 0);
    ck_assert_double_eq(bank_conflicts(&none), 0);
    ck_assert_double_eq(atomics_per_block(&none), 0);
    ck_assert_double_eq(instructions_per_warp(&none), 0);
    ck_assert_double_eq(waves(&none), 0);
}
END_TEST

/* ---- traffic.c ------------------------------------------------------------------------------- */

static const device_counts few = {.global_load = {.sectors = 10}};
static const device_counts many = {.global_load = {.sectors = 80}};

START_TEST(number_of_a_test)
{
    const traffic_test plain = {.count = moved_bytes};
    const traffic_test share = {.count = moved_bytes, .ideal = 160};
    const traffic_test times = {.count = moved_bytes, .baseline = "baseline"};
    const device_counts none = {0};
    ck_assert_double_eq(traffic_number(&plain, &few, &none), 320);
    ck_assert_double_eq(traffic_number(&share, &few, &none), 2);
    ck_assert_double_eq(traffic_number(&times, &few, &many), 8);
    ck_assert_double_eq(traffic_number(&times, &many, &few), 0.125);
    ck_assert_double_eq(traffic_number(&times, &none, &many), 0);
}
END_TEST

START_TEST(bounds)
{
    const struct {
        bound bound;
        double number;
        bool met;
    } rows[] = {{AT_LEAST, 8, true}, {AT_LEAST, 7.9, false}, {AT_LEAST, NAN, false},
                {AT_MOST, 8, true},  {AT_MOST, 8.1, false},  {AT_MOST, NAN, false},
                {EXACTLY, 8, true},  {EXACTLY, 7, false},    {EXACTLY, 9, false}};
    const traffic_test test = {.bound = rows[_i].bound, .wanted = 8};
    ck_assert_int_eq(traffic_meets(&test, rows[_i].number), rows[_i].met);
}
END_TEST

/* A call that knows the open inputs is nearly as good as wanted, with others it is not. */
START_TEST(the_worse_number_earns_points)
{
    const traffic_test least = {.bound = AT_LEAST, .wanted = 8},
                       most = {.bound = AT_MOST, .wanted = 8};
    ck_assert_double_eq(traffic_for_points(&least, 7.9, 1), 1);
    ck_assert_double_eq(traffic_for_points(&most, 8.1, 90), 90);
    ck_assert_double_eq(traffic_for_points(&most, 90, 8.1), 90);
    ck_assert_double_eq(traffic_for_points(&most, 9, 9.2), 9);  /* alike */
    ck_assert_double_eq(traffic_for_points(&least, 8, 7.9), 8); /* met: it is said, or earns all */
}
END_TEST

static bool is_impossible(const traffic_test *t, uint64_t sectors, const device_counts *baseline)
{
    const device_counts c = {.global_load = {.sectors = sectors}, .allocated = {1, sectors}};
    char *message = traffic_impossible(t, &c, baseline);
    const bool told = message && strstr(message, "impossible");
    ck_assert(told || !message);
    free(message);
    return told;
}

/* Whoever moves less than there is has it done elsewhere. */
START_TEST(less_than_the_least_is_impossible)
{
    const traffic_test ideal = {.count = moved_bytes, .ideal = 320, .bound = AT_MOST};
    const traffic_test times = {.count = moved_bytes, .baseline = "baseline"};
    const traffic_test held = {.count = allocated_bytes, .ideal = 2, .least = 4};
    const device_counts none = {0}, once = {.launches = 1, .footprint = 320},
                        twice = {.launches = 2, .footprint = 320};
    ck_assert(!is_impossible(&ideal, 10, &none) && is_impossible(&ideal, 9, &none));
    ck_assert(!is_impossible(&times, 10, &once) && is_impossible(&times, 9, &once));
    ck_assert(!is_impossible(&times, 9, &twice)); /* what lies between them need not be */
    ck_assert(!is_impossible(&held, 8, &none) && is_impossible(&held, 7, &none));
}
END_TEST

/* ---- points ---------------------------------------------------------------------------------- */

static case_result right_case = {.name = "n=1", .status = PASSED, .message = "", .finding = ""};

/* @return of an exercise of 10 + 5 points with one traffic test */
static exercise_result scored(const traffic_test *test, status s, double counted)
{
    static exercise e = {
        .id = 1, .name = "one", .file = "1_one.cu", .points = 10, .speed_points = 5};
    static traffic_result traffic;
    traffic = (traffic_result){.test = test, .status = s, .counted = counted};
    exercise_result r = {.exercise = &e,
                         .place = s == SKIPPED ? ON_GPU : ON_SOFTGPU,
                         .status = PASSED,
                         .prerequisites = "",
                         .case_count = 1,
                         .cases = &right_case,
                         .traffic_count = 1,
                         .traffics = &traffic};
    score(&r);
    return r;
}

START_TEST(traffic_is_proportional)
{
    const struct {
        bound bound;
        status status;
        double begin, counted, points;
    } rows[] = {{AT_LEAST, PASSED, 2, 20, 15},
                {AT_LEAST, FAILED, 2, 5, 12.5},
                {AT_LEAST, FAILED, 2, 2, 10},
                {AT_MOST, PASSED, 24, 0, 15},
                {AT_MOST, FAILED, 24, 12, 12.5},
                {AT_MOST, FAILED, 24, 25, 10},
                {AT_LEAST, FAILED, 2, NAN, 10},
                {AT_MOST, FAILED, 24, NAN, 10},
                {EXACTLY, FAILED, 2, 7, 10},
                {AT_LEAST, FAILED, 2, 9, 10}, /* met, but not for secret inputs */
                {AT_LEAST, NOT_RUN, 2, 0, 10},
                {AT_LEAST, FAILED, 0, 7, 10}, /* nobody says where it begins */
                {AT_MOST, FAILED, 0, 9, 10}};
    const traffic_test test = {
        .function = "f", .bound = rows[_i].bound, .begin = rows[_i].begin, .wanted = 8};
    const exercise_result r = scored(&test, rows[_i].status, rows[_i].counted);
    ck_assert_double_eq_tol(r.points, rows[_i].points, 1e-9);
    ck_assert_double_eq(r.max_points, 15);
    ck_assert_int_eq(r.status, PASSED);
}
END_TEST

/* The baseline is the plain version. */
START_TEST(a_reduction_begins_at_1)
{
    const traffic_test test = {.function = "f", .baseline = "g", .bound = AT_LEAST, .wanted = 9};
    ck_assert_double_eq_tol(scored(&test, FAILED, 5).points, 12.5, 1e-9);
    ck_assert_double_eq(scored(&test, FAILED, 1).points, 10);
}
END_TEST

START_TEST(on_a_gpu_traffic_counts_in_neither)
{
    const traffic_test test = {.function = "f", .wanted = 8};
    const exercise_result r = scored(&test, SKIPPED, 0);
    ck_assert_double_eq(r.points, 10);
    ck_assert_double_eq(r.max_points, 10);
}
END_TEST

/* ---- results.json ---------------------------------------------------------------------------- */

static json_t *traffic_of(exercise_result r)
{
    json_t *entry = results_exercise(&r);
    json_t *traffic = json_incref(json_array_get(json_object_get(entry, "traffic"), 0));
    json_decref(entry);
    return traffic;
}

static const char *word(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

START_TEST(results_say_what_was_counted)
{
    const traffic_test test = {
        .metric = {"bytes"}, .function = "one", .bound = AT_LEAST, .wanted = 8};
    json_t *traffic = traffic_of(scored(&test, FAILED, 4));
    ck_assert_str_eq(word(traffic, "quantity"), "bytes");
    ck_assert_str_eq(word(traffic, "bound"), "at least");
    ck_assert_str_eq(word(traffic, "verdict"), "failed");
    ck_assert_double_eq(json_number_value(json_object_get(traffic, "counted")), 4);
    ck_assert_double_eq(json_number_value(json_object_get(traffic, "wanted")), 8);
    json_decref(traffic);
    traffic = traffic_of(scored(&test, FAILED, NAN));
    ck_assert(json_is_null(json_object_get(traffic, "counted")));
    json_decref(traffic);
    traffic = traffic_of(scored(&test, SKIPPED, 0));
    ck_assert_str_eq(word(traffic, "verdict"), "skipped: needs softgpu");
    json_decref(traffic);
}
END_TEST

START_TEST(results_say_what_checks_are_worth)
{
    const traffic_test test = {.metric = {"bytes"}, .function = "one", .wanted = 8};
    exercise_result r = scored(&test, PASSED, 8);
    json_t *entry = results_exercise(&r), *checks = json_object_get(entry, "checks");
    ck_assert_str_eq(word(checks, "verdict"), "passed");
    ck_assert_double_eq(json_number_value(json_object_get(checks, "points")), 2);
    ck_assert_double_eq(json_number_value(json_object_get(checks, "max_points")), 2);
    json_decref(entry);
}
END_TEST

/* ---- the same counters every time ------------------------------------------------------------ */

static json_t *graded_traffic(const char *grader, const char *results)
{
    const char *const argv[] = {grader, "grade",     "--submission", "solutions", "--exercise",
                                "208",  "--results", results,        "--fresh",   NULL};
    const char *root = getenv("COURSE_ROOT");
    process_result run = process_run(argv, root ? root : ".", 600.0, 10000);
    ck_assert_msg(run.status == 0, "%s", run.output);
    free(run.output);
    json_t *whole = json_load_file(results, 0, NULL);
    json_t *entry = json_array_get(json_object_get(whole, "exercises"), 0);
    json_t *traffic = json_incref(json_object_get(entry, "traffic"));
    json_decref(whole);
    unlink(results);
    return traffic;
}

START_TEST(gradings_count_alike)
{
    char grader[PATH_MAX], results[PATH_MAX];
    const char *build = getenv("COURSE_BUILD"), *nvcc = getenv("NVCC");
    if (!build || !nvcc || !*nvcc) return; /* without a compiler there are no kernels to count */
    snprintf(grader, sizeof grader, "%s/grader", build);
    snprintf(results, sizeof results, "%s/counted_alike.%d.json", build, (int)getpid());
    json_t *first = graded_traffic(grader, results);
    ck_assert_str_eq(word(json_array_get(first, 0), "verdict"), "passed");
    for (int i = 1; i < GRADINGS; i++) {
        json_t *again = graded_traffic(grader, results);
        ck_assert(json_equal(first, again));
        json_decref(again);
    }
    json_decref(first);
}
END_TEST

Suite *suite_traffic(void)
{
    Suite *suite = suite_create("traffic");
    TCase *tcase = tcase_create("traffic");
    tcase_add_test(tcase, what_moves_is_sectors_and_copies);
    tcase_add_test(tcase, wide_requests_count_as_several);
    tcase_add_test(tcase, shares_of_blocks_warps_and_requests);
    tcase_add_test(tcase, launches_and_what_the_host_submits);
    tcase_add_test(tcase, launches_of_nothing_add_no_waves);
    tcase_add_test(tcase, of_nothing_nothing);
    tcase_add_test(tcase, requests_memory_and_tensor_cores);
    tcase_add_test(tcase, number_of_a_test);
    tcase_add_test(tcase, less_than_the_least_is_impossible);
    tcase_add_loop_test(tcase, bounds, 0, 9);
    tcase_add_test(tcase, the_worse_number_earns_points);
    tcase_add_loop_test(tcase, traffic_is_proportional, 0, 13);
    tcase_add_test(tcase, a_reduction_begins_at_1);
    tcase_add_test(tcase, on_a_gpu_traffic_counts_in_neither);
    tcase_add_test(tcase, results_say_what_was_counted);
    tcase_add_test(tcase, results_say_what_checks_are_worth);
    tcase_add_test(tcase, gradings_count_alike);
    suite_add_tcase(suite, tcase);
    return suite;
}
