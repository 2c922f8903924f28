/* test_speed.c: medians and their intervals; what timings mean; a GPU's clocks, from a library that
 * only pretends to be NVIDIA's. */
#include "grader/tests.h"

#include "measure/measure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- statistics ------------------------------------------------------------------------------ */

START_TEST(quantiles_of_few)
{
    const double five[] = {5, 1, 4, 2, 3}, four[] = {4, 1, 3, 2};
    ck_assert_double_eq(quantile(five, 5, 0.5), 3);
    ck_assert_double_eq(quantile(four, 4, 0.5), 2.5);
    ck_assert_double_eq(quantile(five, 5, 0.0), 1);
    ck_assert_double_eq(quantile(five, 5, 1.0), 5);
    ck_assert_double_eq(quantile(five, 1, 0.9), 5);
    ck_assert_double_eq(quantile(five, 0, 0.5), 0);
}
END_TEST

START_TEST(intervals_of_few)
{
    const double two[] = {3, 1}, ties[] = {2, 2, 2, 2, 2, 2, 2};
    const interval none = bootstrap(two, 0), one = bootstrap(two, 1), both = bootstrap(two, 2);
    ck_assert_double_eq(none.median, 0);
    ck_assert_double_eq(one.low, 3);
    ck_assert_double_eq(one.high, 3);
    ck_assert_double_eq(both.median, 2);
    ck_assert_double_eq(both.low, 1);
    ck_assert_double_eq(both.high, 3);
    ck_assert_double_eq(bootstrap(ties, 7).low, 2);
    ck_assert_double_eq(bootstrap(ties, 7).high, 2);
}
END_TEST

START_TEST(same_numbers_same_interval)
{
    double values[15], backwards[15];
    random_state rng = random_seed(3);
    for (int i = 0; i < 15; i++) backwards[14 - i] = values[i] = random_normal(&rng);
    const interval a = bootstrap(values, 15), b = bootstrap(values, 15);
    const interval c = bootstrap(backwards, 15);
    ck_assert_mem_eq(&a, &b, sizeof a);
    ck_assert_mem_eq(&a, &c, sizeof a);
    ck_assert(a.low <= a.median && a.median <= a.high);
}
END_TEST

START_TEST(outliers_do_not_move_it)
{
    double values[15];
    for (int i = 0; i < 15; i++) values[i] = 1.0 + 0.01 * (i % 5);
    values[3] = 1e9;
    values[8] = 1e-9;
    values[11] = 1e6;
    const interval x = bootstrap(values, 15);
    ck_assert_double_ge(x.low, 0.99);
    ck_assert_double_le(x.high, 1.05);
}
END_TEST

static double draw_normal(random_state *rng)
{
    return 1.0 + 0.1 * random_normal(rng);
}

static double draw_skewed(random_state *rng)
{
    return exp(0.3 * random_normal(rng));
}

/* Cauchy's: it has no mean, but a median. */
static double draw_heavy(random_state *rng)
{
    return 1.0 + 0.1 * tan(3.14159265358979 * (random_uniform(rng, 0.0f, 1.0f) - 0.5));
}

static const struct coverage {
    double (*draw)(random_state *);
    int count;
} coverages[] = {
    {draw_normal, 15}, {draw_skewed, 15}, {draw_heavy, 15}, {draw_normal, 45}, {draw_heavy, 60}};

START_TEST(intervals_hold_the_median_95_times_in_100)
{
    const int trials = 600;
    int held = 0;
    double values[SAMPLES_MAX];
    random_state rng = random_seed(11);
    for (int trial = 0; trial < trials; trial++) {
        for (int i = 0; i < coverages[_i].count; i++) values[i] = coverages[_i].draw(&rng);
        const interval x = bootstrap(values, coverages[_i].count);
        held += x.low <= 1.0 && 1.0 <= x.high;
    }
    ck_assert_msg(held >= 0.93 * trials && held <= 0.985 * trials, "%d of %d", held, trials);
}
END_TEST

/* ---- verdicts -------------------------------------------------------------------------------- */

static const speed_test timed = {
    .metric = {"m"}, .where = ON_GPU, .threshold = 2.0, .flop = 1e9, .bytes = 1e6};

static const struct judged {
    double ratio, low, high, waited;
    unsigned long long reasons;
    bool last;
    status wanted;
} judgements[] = {
    {2.1, 2.0, 2.4, 0, 0, false, PASSED},
    {1.9, 1.8, 1.99, 0, 0, false, FAILED},
    {2.1, 1.9, 2.3, 0, 0, false, TOO_NOISY},
    {2.1, 1.9, 2.3, 0, 0, true, TOO_NOISY},
    {2.01, 1.98, 2.04, 0, 0, false, TOO_NOISY},
    {2.01, 1.98, 2.04, 0, 0, true, PASSED}, /* so narrow that its middle decides */
    {1.99, 1.97, 2.03, 0, 0, true, FAILED},
    {2.01, 1.98, 2.04, 0.3, 0, true, TOO_NOISY}, /* but not on a busy machine */
    {1.9, 1.8, 1.99, 0.3, 0, true, TOO_NOISY},
    {1.5, 1.4, 1.59, 0.3, 0, true, FAILED},
    {2.1, 2.0, 2.4, 0.3, 0, true, PASSED},
    {1.9, 1.8, 1.99, 0, 0x20, true, TOO_NOISY}, /* heat */
    {1.9, 1.8, 1.99, 0, 0x04, true, FAILED},    /* a power cap is how a GPU works */
};

START_TEST(the_interval_decides)
{
    const struct judged *j = &judgements[_i];
    const speed_result s = {.test = &timed,
                            .ratio = j->ratio,
                            .low = j->low,
                            .high = j->high,
                            .waited = j->waited,
                            .clocks = {.reasons = j->reasons}};
    ck_assert_str_eq(status_name(speed_verdict(&s, j->last)), status_name(j->wanted));
}
END_TEST

/* What is hopeless has failed, however disturbed the machine was. */
START_TEST(hopeless_is_far_below)
{
    const speed_result s = {.test = &timed,
                            .low = 0.1 * timed.threshold,
                            .high = 0.49 * timed.threshold,
                            .waited = 0.9};
    ck_assert(speed_hopeless(s.high, timed.threshold));
    ck_assert(!speed_hopeless(0.51 * timed.threshold, timed.threshold));
    ck_assert(!speed_hopeless(1.0, 0.0));
    ck_assert_int_eq(speed_verdict(&s, false), FAILED);
}
END_TEST

/* By the wall clock others take what threads would have gained. */
START_TEST(threads_without_cores_have_not_failed)
{
    const speed_test threaded = {.where = ON_HOST, .wall_clock = true, .threshold = 3.0};
    speed_result s = {.test = &threaded, .ratio = 1.0, .low = 0.9, .high = 1.1, .waited = 0.3};
    ck_assert_int_eq(speed_verdict(&s, true), TOO_NOISY);
    s.waited = 0.01;
    ck_assert_int_eq(speed_verdict(&s, true), FAILED);
}
END_TEST

START_TEST(plain_is_far_above)
{
    const speed_result s = {.test = &timed,
                            .low = 2.01 * timed.threshold,
                            .high = 9.0 * timed.threshold,
                            .waited = 0.9};
    ck_assert(speed_plain(s.low, timed.threshold));
    ck_assert(!speed_plain(1.14 * timed.threshold, timed.threshold));
    ck_assert_int_eq(speed_verdict(&s, false), PASSED);
}
END_TEST

START_TEST(nothing_is_faster_than_the_device)
{
    const device_facts device = {.flop_per_second = {[IN_FP32] = 1e12, [IN_HALF] = 1e13},
                                 .copy_bytes_per_second = 1e12};
    speed_result s = {.test = &timed, .seconds = 2e-3};
    ck_assert_ptr_null(speed_ceiling(&s, &device));
    s.seconds = 0.9e-3;
    ck_assert_str_eq(speed_ceiling(&s, &device), "arithmetic");
    const speed_test copying = {.where = ON_GPU, .bytes = 1e9};
    s.test = &copying;
    ck_assert_str_eq(speed_ceiling(&s, &device), "memory");
    s.seconds = 0.96e-3; /* a copy is not quite the fastest there is */
    ck_assert_ptr_null(speed_ceiling(&s, &device));
    ck_assert_ptr_null(speed_ceiling(&s, &(device_facts){0}));
    const speed_test halves = {.where = ON_GPU, .flop = 1e9, .precision = IN_HALF};
    s = (speed_result){.test = &halves, .seconds = 0.2e-3}; /* beyond fp32, and rightly so */
    ck_assert_ptr_null(speed_ceiling(&s, &device));
    s.seconds = 0.09e-3;
    ck_assert_str_eq(speed_ceiling(&s, &device), "arithmetic");
    const device_facts core = {.core_adds_per_second = 1e9};
    const speed_test on_a_core = {.where = ON_HOST, .flop = 1e9};
    s = (speed_result){.test = &on_a_core, .seconds = 2e-3};
    ck_assert_ptr_null(speed_ceiling(&s, &core));
    s.seconds = 1.9e-3;
    ck_assert_str_eq(speed_ceiling(&s, &core), "arithmetic");
}
END_TEST

START_TEST(a_slow_peer_voids_the_ratio)
{
    const device_facts device = {
        .flop_per_second = {1e12}, .copy_bytes_per_second = 1e12, .core_adds_per_second = 1e9};
    const speed_test by_bytes = {.where = ON_GPU, .peer_share = 0.5, .peer_bytes = 1e9};
    const speed_test by_core = {.where = ON_HOST, .peer_share = 4.0, .flop = 4e9};
    speed_result s = {.test = &by_bytes, .baseline_seconds = 2e-3};
    ck_assert_double_eq_tol(peer_rate(&s, &device), 1.0, 1e-9);
    s.baseline_seconds = 10e-3;
    ck_assert_double_eq_tol(peer_rate(&s, &device), 0.2, 1e-9);
    s = (speed_result){.test = &by_core, .baseline_seconds = 2.0};
    ck_assert_double_eq_tol(peer_rate(&s, &device), 0.5, 1e-9);
    ck_assert(peer_is_sane(0.31) && !peer_is_sane(0.29));
    s.test = &timed; /* nothing is known of its baseline */
    ck_assert(peer_is_sane(peer_rate(&s, &device)));
}
END_TEST

START_TEST(a_forged_time_does_not_agree)
{
    ck_assert(clocks_agree(1e-3, 300e-6, 290e-6));
    ck_assert(clocks_agree(100e-6, 330e-6, 300e-6));
    ck_assert(!clocks_agree(0.2e-3, 1.1e-3, 0.3e-3)); /* 1 ms, of which it claims a fifth */
    ck_assert(!clocks_agree(50e-6, 350e-6, 300e-6));  /* 100 us, of which it claims half */
    ck_assert(!clocks_agree(1e-9, 400e-6, 300e-6));
    ck_assert(clocks_agree(1e-3, 100e-6, 300e-6)); /* less is no matter */
}
END_TEST

/* Frozen kernels that no GPU has run yet: their rates are not known. Once measured, they go into
 * the row of their speed test, and leave this list. */
static const char *const unmeasured[] = {"baseline_attention",
                                         "baseline_attention_backward",
                                         "baseline_average_models",
                                         "baseline_bitonic",
                                         "baseline_blur",
                                         "baseline_dot_product",
                                         "baseline_embedding_backward",
                                         "baseline_fetch_left",
                                         "baseline_finish",
                                         "baseline_loader_drive",
                                         "baseline_paged_heads",
                                         "baseline_polynomial",
                                         "baseline_pool_drive",
                                         "baseline_rmsnorm_backward",
                                         "baseline_sae_layers",
                                         "baseline_train_epoch",
                                         "baseline_train_steps",
                                         "baseline_turn"};

static bool is_unmeasured(const char *baseline)
{
    for (size_t i = 0; i < sizeof unmeasured / sizeof *unmeasured; i++) {
        if (strcmp(baseline, unmeasured[i]) == 0) return true;
    }
    return false;
}

START_TEST(known_rates_are_complete)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        for (const speed_test *s = (*e)->speed; s && s->function; s++) {
            const bool known = s->peer_share > 0 && (s->peer_bytes > 0 || s->flop > 0);
            ck_assert_msg(known != is_unmeasured(s->baseline), "%d: the rate of %s is %s", (*e)->id,
                          s->baseline, known ? "known" : "not known");
            ck_assert_msg(s->shape[s->varied] >= 32, "%d: its size cannot be varied", (*e)->id);
        }
    }
}
END_TEST

/* ---- NVML ------------------------------------------------------------------------------------ */

static const char fake_source[] =
    "int nvmlInit_v2(void) { return 0; }\n"
    "int nvmlShutdown(void) { return 0; }\n"
    "static int device;\n"
    "int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = &device; return (int)i; }\n"
    "int nvmlDeviceGetHandleByPciBusId_v2(const char *at, void **d)\n"
    "{ *d = &device; return at[0] == '0' ? 0 : 6; }\n"
    "int nvmlDeviceGetClockInfo(void *d, int which, unsigned *mhz)\n"
    "{ if (d != &device) return 1; *mhz = which == 1 ? 1980 : which == 2 ? 3201 : 0; return 0; }\n"
    "int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *c)\n"
    "{ (void)d; (void)sensor; static unsigned t = 40; *c = t++; return 0; }\n"
    "int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *bits)\n"
    "{ (void)d; static int n; *bits = n++ == 1 ? 0x24 : 0x1; return 0; }\n"
    "int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *count, void *all)\n"
    "{ (void)d; (void)all; *count = 3; return 0; }\n";

/* @return its path, or NULL where there is no compiler; the caller frees and unlinks */
static char *build_fake(void)
{
    char source[] = "/tmp/nvml.XXXXXX", *library = NULL;
    const char *cc = getenv("CC");
    const int file = mkstemp(source);
    ck_assert_int_eq(write(file, fake_source, strlen(fake_source)), (ssize_t)strlen(fake_source));
    close(file);
    if (asprintf(&library, "%s.so", source) < 0) return NULL;
    const char *const argv[] = {
        cc && *cc ? cc : "cc", "-shared", "-fPIC", "-x", "c", source, "-o", library, NULL};
    process_result r = process_run(argv, NULL, 600.0, 4096);
    ck_assert_msg(r.status == 0, "%s", r.output);
    free(r.output);
    unlink(source);
    return library;
}

START_TEST(clocks_are_read_and_throttling_is_seen)
{
    char *library = build_fake();
    speed_clocks c = {0};
    ck_assert_ptr_null(nvml_open(library, "X:00"));
    nvml *n = nvml_open(library, "0000:18:00.0");
    ck_assert_ptr_nonnull(n);
    gpu_state s = nvml_read(n);
    clocks_watch(&c, &s, 2);
    ck_assert(s.known && !clocks_throttled(&c));
    ck_assert_uint_eq(s.sm_mhz, 1980);
    ck_assert_uint_eq(s.memory_mhz, 3201);
    ck_assert_str_eq(clocks_reasons(&c), "");
    for (int i = 0; i < 2; i++) {
        s = nvml_read(n);
        clocks_watch(&c, &s, 2);
    }
    ck_assert(clocks_throttled(&c)); /* in the middle, and no more at the end */
    ck_assert_str_eq(clocks_reasons(&c), "power cap, heat");
    ck_assert_uint_eq(c.before.celsius, 40);
    ck_assert_uint_eq(c.after.celsius, 42);
    ck_assert_uint_eq(c.others, 1);
    nvml_close(n);
    unlink(library);
    free(library);
}
END_TEST

START_TEST(without_the_library_nothing_is_known)
{
    speed_clocks c = {0};
    ck_assert_ptr_null(nvml_open("libno-such-nvml.so.1", ""));
    const gpu_state s = nvml_read(NULL);
    ck_assert(!s.known);
    clocks_watch(&c, &s, 2);
    ck_assert(!c.before.known && !clocks_throttled(&c));
    nvml_close(NULL);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof *(table))

Suite *suite_speed(void)
{
    Suite *suite = suite_create("speed");
    TCase *tcase = tcase_create("speed");
    tcase_add_test(tcase, quantiles_of_few);
    tcase_add_test(tcase, intervals_of_few);
    tcase_add_test(tcase, same_numbers_same_interval);
    tcase_add_test(tcase, outliers_do_not_move_it);
    tcase_add_loop_test(tcase, intervals_hold_the_median_95_times_in_100, 0, ROWS(coverages));
    tcase_add_loop_test(tcase, the_interval_decides, 0, ROWS(judgements));
    tcase_add_test(tcase, hopeless_is_far_below);
    tcase_add_test(tcase, threads_without_cores_have_not_failed);
    tcase_add_test(tcase, plain_is_far_above);
    tcase_add_test(tcase, nothing_is_faster_than_the_device);
    tcase_add_test(tcase, a_slow_peer_voids_the_ratio);
    tcase_add_test(tcase, a_forged_time_does_not_agree);
    tcase_add_test(tcase, known_rates_are_complete);
    tcase_add_test(tcase, clocks_are_read_and_throttling_is_seen);
    tcase_add_test(tcase, without_the_library_nothing_is_known);
    suite_add_tcase(suite, tcase);
    return suite;
}
