/* 102_stopwatch: a stopwatch against a function that has a clock of its own. What a call took is
 * in what the student measured of it, whatever else the machine does; so a time is held against the
 * function's own, never against the planned one. */
#include "correctness/case.h"
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNIT          100000 /* nanoseconds: what a call takes, if it is not told more */
#define OVER_A_SECOND 1050000000
#define NO_ROOM       40000000 /* times: more than malloc has at hand */
#define ATTEMPTS      3 /* a machine may stop between f's clock and the student's, once in a while */

typedef struct measurement {
    stopwatch_plan plan;
    int warm, reps;
    double median, spread;
} measurement;

static measurement *plan_of(int warm, int reps)
{
    measurement *m = (measurement *)f64_array(sizeof *m / sizeof(double) + 1);
    m->warm = warm, m->reps = reps;
    for (int i = 0; i < PLAN_CALLS; i++) m->plan.length[i] = UNIT;
    return m;
}

/* Whatever the times, f is called so often. */
static void measure(measurement *m)
{
    const int calls = m->reps < 1 ? 0 : (m->warm < 0 ? 0 : m->warm) + m->reps;
    m->plan.calls = 0;
    m->median = call_returning_f64(
        "bench_ns",
        ARGS(worker_function("timed_work"),
             opaque(inout_f32("arg", (float *)&m->plan, sizeof m->plan / sizeof(float))),
             i32(m->warm), i32(m->reps), out_of(ELEMENT_F64, "spread", &m->spread, 1)));
    expect(m->plan.calls == calls, "warm %d, reps %d: f(arg) was called %d times, should be %d",
           m->warm, m->reps, m->plan.calls, calls);
}

/* ---- what should have been measured ---------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static double median_of(const int *took, int count)
{
    int sorted[PLAN_CALLS];
    memcpy(sorted, took, (size_t)count * sizeof *took);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return 0.5 * ((double)sorted[(count - 1) / 2] + sorted[count / 2]);
}

/* The width of the middle half. */
static double width_of(const int *took, int count)
{
    int sorted[PLAN_CALLS];
    memcpy(sorted, took, (size_t)count * sizeof *took);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return sorted[count - 1 - count / 4] - sorted[count / 4];
}

static double mean_of(const int *took, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += took[i];
    return sum / count;
}

/* What two clocks may differ by: two looks at them, and a share of the time. */
static bool is_near(double got, double want)
{
    return fabs(got - want) <= 20e3 + 0.05 * fabs(want);
}

/* What else the number is. */
static const char *mistake_of(const measurement *m)
{
    const int *timed = m->plan.took + m->warm, all = m->warm + m->reps;
    const double want = median_of(timed, m->reps);
    int sorted[PLAN_CALLS];
    memcpy(sorted, timed, (size_t)m->reps * sizeof *sorted);
    qsort(sorted, (size_t)m->reps, sizeof *sorted, by_value);
    if (is_near(m->median, mean_of(timed, m->reps))) return ": it is the mean";
    if (is_near(m->median, sorted[0])) return ": it is the fastest";
    if (is_near(m->median, sorted[m->reps / 2]))
        return ": it is the upper of the two in the middle";
    if (is_near(m->median, timed[m->reps / 2])) return ": the times are not sorted";
    if (is_near(m->median, median_of(m->plan.took, all))) return ": the warm-up is in it";
    if (is_near(m->median, median_of(m->plan.took, m->reps))) return ": the warm-up is in it";
    if (is_near(m->median * 1e3, want)) return ": microseconds?";
    if (is_near(m->median * 1e9, want)) return ": seconds?";
    if (want > 1e9 && is_near(m->median, fmod(want, 1e9)))
        return ": the whole seconds are missing: tv_sec counts them, tv_nsec the rest";
    return m->median < 0.5 * want && m->plan.sleeps ? ": does that clock stand still in a sleep?"
                                                    : "";
}

/* Is it as the function says? @return NULL, or what is wrong */
static const char *judged(const measurement *m)
{
    static char text[256];
    const int *timed = m->plan.took + m->warm;
    const double want = median_of(timed, m->reps), width = width_of(timed, m->reps);
    if (!is_near(m->median, want)) {
        snprintf(text, sizeof text, "the median is %.0f ns, should be %.0f%s", m->median, want,
                 mistake_of(m));
        return text;
    }
    if (!is_near(m->spread * m->median, width)) {
        snprintf(text, sizeof text, "spread is %.4g, should be %.4g: %.0f ns of %.0f", m->spread,
                 width / want, width, want);
        return text;
    }
    return NULL;
}

static void expect_measured(measurement *m)
{
    const char *wrong = "";
    for (int i = 0; i < ATTEMPTS && wrong; i++) {
        measure(m);
        wrong = judged(m);
    }
    expect(!wrong, "warm %d, reps %d: %s", m->warm, m->reps, wrong);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* The calls of the warm-up are ten times as long. shape: warm, reps, does f sleep */
static void run_steady(const long *shape)
{
    measurement *m = plan_of((int)shape[0], (int)shape[1]);
    for (int i = 0; i < m->warm; i++) m->plan.length[i] = 10 * UNIT;
    m->plan.sleeps = (int)shape[2];
    expect_measured(m);
}

/* One call takes fifty times as long as the others. shape: warm, reps, which of the timed ones */
static void run_outlier(const long *shape)
{
    measurement *m = plan_of((int)shape[0], (int)shape[1]);
    m->plan.length[shape[0] + shape[2]] = 50 * UNIT;
    expect_measured(m);
}

/* No two calls are alike, and the middle ones come first or last. shape: warm, reps */
static void run_mixed(const long *shape)
{
    measurement *m = plan_of((int)shape[0], (int)shape[1]);
    int *timed = m->plan.length + m->warm;
    for (int i = 0; i < m->reps; i++) timed[i] = (1 + (i + m->reps / 2) % m->reps) * 2 * UNIT;
    expect_measured(m);
}

/* f(arg) takes no time: that is a number, too. */
static void run_instant(const long *shape)
{
    measurement *m = plan_of((int)shape[0], (int)shape[1]);
    memset(m->plan.length, 0, sizeof m->plan.length);
    measure(m);
    expect(m->median >= 0.0 && m->median <= 1e9 * call_seconds(), "the median is %g ns", m->median);
    expect(m->spread >= 0.0 && isfinite(m->spread), "spread is %g", m->spread);
}

/* More calls than f notes: half of them at most can have taken twice the mean. */
static void run_many(const long *shape)
{
    measurement *m = plan_of((int)shape[0], (int)shape[1]);
    for (int i = 0; i < PLAN_CALLS; i++) m->plan.length[i] = 1000;
    measure(m);
    const double most = 2e9 * call_seconds() / m->reps;
    expect(m->median >= 1000.0 && m->median <= most,
           "each call took 1000 ns or more, half of them at most %.0f, and the median is %.0f",
           most, m->median);
}

static void run_nothing(const long *shape)
{
    measurement *m = plan_of((int)shape[0], (int)shape[1]);
    measure(m);
    expect(m->median == 0.0, "reps %d: returned %g, should be 0", m->reps, m->median);
    expect(m->spread == 0.0, "reps %d: spread is %g, should be 0", m->reps, m->spread);
}

static void run_without_spread(const long *shape)
{
    measurement *m = plan_of((int)shape[0], (int)shape[1]);
    const double got = call_returning_f64(
        "bench_ns",
        ARGS(worker_function("timed_work"),
             opaque(inout_f32("arg", (float *)&m->plan, sizeof m->plan / sizeof(float))),
             i32(m->warm), i32(m->reps), null_pointer()));
    expect(got >= UNIT, "each call took %d ns or more, and the median is %.0f", UNIT, got);
}

/* A call that begins in one second of the clock and ends in another. */
static void run_over_a_second(const long *shape)
{
    (void)shape;
    measurement *m = plan_of(0, 1);
    m->plan.length[0] = OVER_A_SECOND;
    m->plan.sleeps = 1;
    expect_measured(m);
}

static void run_without_memory(const long *shape)
{
    (void)shape;
    const double got = call_returning_f64("bench_ns_without_memory", ARGS(i32(NO_ROOM)));
    expect(isnan(got), "no memory is left for %d times: returned %g, should be NaN", NO_ROOM, got);
}

static void run_freed(const long *shape)
{
    (void)shape;
    const double kept = call_returning_f64("bytes_that_bench_ns_keeps", ARGS(i32(PLAN_CALLS)));
    expect(kept <= 0.0, "after %d times %.0f bytes stay allocated: is free() missing?", PLAN_CALLS,
           kept);
}

static const grading_case cases[] = {
    {.name = "one", .run = run_steady, .shape = {0, 1}},
    {.name = "warm", .run = run_steady, .shape = {8, 5}},
    {.name = "one_warm", .run = run_steady, .shape = {1, 1}},
    {.name = "sleeps", .run = run_steady, .shape = {2, 9, 1}},
    {.name = "outlier_first", .run = run_outlier, .shape = {3, 11, 0}},
    {.name = "outlier_in_the_middle", .run = run_outlier, .shape = {0, 11, 5}},
    {.name = "outlier_last", .run = run_outlier, .shape = {2, 10, 9}},
    {.name = "2_times", .run = run_mixed, .shape = {1, 2}},
    {.name = "3_times", .run = run_mixed, .shape = {0, 3}},
    {.name = "8_times", .run = run_mixed, .shape = {2, 8}},
    {.name = "13_times", .run = run_mixed, .shape = {0, 13}},
    {.name = "instant", .run = run_instant, .shape = {3, 101}},
    {.name = "1500_warm", .run = run_instant, .shape = {1500, 3}},
    {.name = "any_count", .run = run_mixed, .shape = {0, 1}, .most = {5, 30}},
    {.name = "no_reps", .run = run_nothing, .shape = {5, 0}},
    {.name = "fewer_than_none", .run = run_nothing, .shape = {5, -3}},
    {.name = "no_spread", .run = run_without_spread, .shape = {1, 5}},
    {.name = "freed", .run = run_freed},
    {.name = "no_memory", .run = run_without_memory},
    {.name = "over_a_second", .run = run_over_a_second, .once = true},
    LONG_ROW("390_times", run_steady, 10, 390),
    LONG_ROW("70001_times", run_many, 3, 70001),
    {0},
};

EXERCISE(102) = {
    .id = 102,
    .name = "stopwatch",
    .file = "phase1_cpu/102_stopwatch/102_stopwatch.c",
    .functions = {"bench_ns"},
    .points = 10,
    .cases = cases,
};
