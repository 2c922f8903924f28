/* 210_scan.c: lengths around warps, blocks and grids, sums that wrap around, out in the place of
 * in; the speed against a copy on the device. */
#include "exercises/shared/scan_cases.h"

static const char function[] = "exclusive_scan";

static void run_random(const long *shape)
{
    scan_random(function, shape);
}

static void run_wrapping(const long *shape)
{
    scan_wrapping(function, shape);
}

static void run_ones(const long *shape)
{
    scan_ones(function, shape);
}

static void run_in_place(const long *shape)
{
    scan_in_place(function, shape);
}

static void run_twice(const long *shape)
{
    scan_twice(function, shape);
}

static const grading_case cases[] = {
    {.name = "n=0", .run = run_random, .shape = {0}},
    {.name = "n=1", .run = run_random, .shape = {1}},
    {.name = "n=33", .run = run_random, .shape = {33}},
    {.name = "ones, n=1000", .run = run_ones, .shape = {1000}},
    {.name = "n=1023", .run = run_random, .shape = {1023}},
    {.name = "n=1024", .run = run_random, .shape = {1024}},
    {.name = "n=1025", .run = run_random, .shape = {1025}},
    {.name = "any_n", .run = run_random, .shape = {2}, .most = {60000}},
    {.name = "wrapping, n=5001", .run = run_wrapping, .shape = {5001}},
    {.name = "in_place, n=3001", .run = run_in_place, .shape = {3001}},
    {.name = "n=40001, then 2001", .run = run_twice, .shape = {40001, 2001}},
    {.name = "n=1048577", .run = run_random, .shape = {1048577}, .once = true},
    {.name = "n=67108867", .run = run_random, .shape = {67108867}, .where = ON_GPU, .once = true},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "2^25 ints"},
     .function = "exclusive_scan",
     .baseline = "baseline_copy_ints",
     .run = scan_random,
     .shape = {1 << 25},
     .where = ON_GPU,
     .threshold = 0.4,
     .bytes = 8.0 * (1 << 25),
     .peer_share = 0.88,
     .peer_bytes = 8.0 * (1 << 25)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^18 ints"},
     .function = "exclusive_scan",
     .run = scan_random,
     .shape = {1 << 18},
     .count = moved_bytes,
     .ideal = 8.0 * (1 << 18),
     .bound = AT_MOST,
     .wanted = 2.2},
    {0},
};

EXERCISE(210) = {
    .id = 210,
    .name = "scan",
    .file = "phase2_cuda_basics/210_scan.cu",
    .functions = {"exclusive_scan"},
    .baseline_file = "grader/exercises/210_scan/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
