/* 217_histogram: values of every kind of crowd, tables smaller and larger than shared memory; the
 * atomics against one per value. */
#include "correctness/case.h"

#include <string.h>

static void expect_counts(const int *counts, const int *values, size_t n, int bins)
{
    int *want = i32_array(bins);
    for (size_t i = 0; i < n; i++) {
        if (values[i] >= 0 && values[i] < bins) want[values[i]]++;
    }
    expect_equal_i32((layout){"counts", 1, bins}, counts, want);
}

static void count(const char *function, const int *values, size_t n, int bins)
{
    int *counts = i32_array(bins);
    call_cuda(function, ARGS(out_i32("counts", counts, bins), in_i32("values", values, n), u64(n),
                             i32(bins), stream()));
    expect_counts(counts, values, n, bins);
}

/* shape: n, bins */
static void run_random(const long *shape)
{
    count("histogram", random_i32(shape[0], 0, (int)shape[1]), shape[0], (int)shape[1]);
}

static void count_equal(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    int *values = i32_array(n);
    const int value = *random_i32(1, 0, (int)shape[1]);
    for (size_t i = 0; i < n; i++) values[i] = value;
    count(function, values, n, (int)shape[1]);
}

static void run_equal(const long *shape)
{
    count_equal("histogram", shape);
}

/* A third of them is to be counted; the rest is just outside, or far. */
static void run_outside(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const int bins = (int)shape[1], edges[] = {-1, bins, INT_MIN, INT_MAX};
    int *values = random_i32(n, -bins - 1, 2 * bins + 1);
    for (size_t i = 0; i < 4 && 7 * i < n; i++) values[7 * i] = edges[i];
    count("histogram", values, n, bins);
}

static void run_counted(const char *function, const long *shape)
{
    count(function, random_i32(shape[0], 0, (int)shape[1]), shape[0], (int)shape[1]);
}

static const grading_case cases[] = {
    {.name = "n=0, 5 bins", .run = run_random, .shape = {0, 5}},
    {.name = "n=1, 1 bin", .run = run_random, .shape = {1, 1}},
    {.name = "n=33, 0 bins", .run = run_outside, .shape = {33, 0}},
    {.name = "n=1000, 1 bin", .run = run_random, .shape = {1000, 1}},
    {.name = "n=70001, 256 bins", .run = run_random, .shape = {70001, 256}},
    {.name = "n=5003, 1500 bins", .run = run_random, .shape = {5003, 1500}},
    {.name = "any", .run = run_random, .shape = {2, 1}, .most = {40000, 3000}},
    {.name = "all equal, n=50003, 10 bins", .run = run_equal, .shape = {50003, 10}},
    {.name = "values outside, n=3001, 100 bins", .run = run_outside, .shape = {3001, 100}},
    {.name = "n=4099, 12288 bins", .run = run_random, .shape = {4099, 12288}},
    {.name = "n=4099, 12289 bins", .run = run_random, .shape = {4099, 12289}},
    {.name = "n=40009, 100003 bins", .run = run_random, .shape = {40009, 100003}},
    {.name = "values outside, n=4099, 100003 bins", .run = run_outside, .shape = {4099, 100003}},
    /* More than 16 bits count, in all and in each of 16 blocks; on a GPU in each of 1023. */
    LONG_ROW("all equal, n=2^20, 1 bin", run_equal, 1L << 20, 1),
    GPU_ROW("all equal, n=67108867, 256 bins", run_equal, 67108867, 256),
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"reduction in global atomics", .over = "one per value", .shape = "2^18 values"},
     .function = "histogram",
     .baseline = "baseline_atomic_per_value",
     .run = run_counted,
     .shape = {1 << 18, 256},
     .count = atomics,
     .bound = AT_LEAST,
     .wanted = 8.0},
    {.metric = {"DRAM bytes", .relative_to = "bytes of the values", .shape = "2^18 values"},
     .function = "histogram",
     .run = run_counted,
     .shape = {1 << 18, 256},
     .count = moved_bytes,
     .ideal = 4.0 * (1 << 18),
     .bound = AT_MOST,
     .wanted = 2.0},
    {.metric = {"instructions", .per = "warp", .shape = "2^20 equal values"},
     .function = "histogram",
     .run = count_equal,
     .shape = {1 << 20, 256},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 10000},
    {0},
};

EXERCISE(217) = {
    .id = 217,
    .name = "histogram",
    .file = "phase2_cuda_basics/217_histogram/217_histogram.cu",
    .functions = {"histogram"},
    .baseline_file = "grader/exercises/217_histogram/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "n=5003, 1500 bins",
    .cases = cases,
    .traffic = traffic,
};
