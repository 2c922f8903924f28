/* 2b_scan_single_pass.c: the cases of 210, and one more of what a call leaves in scratch; the speed
 * against a copy on the device, of which it moves hardly more. */
#include "exercises/shared/scan_cases.h"

static const char function[] = "exclusive_scan_single_pass";

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

/* In distinct sectors, for a tile's word is read again until it says something, and how often is
 * chance. */
static double touched_bytes(const device_counts *c)
{
    return (double)(c->footprint + 2 * c->on_device.bytes + c->fills.bytes);
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
    {.name = "wrapping, n=50001", .run = run_wrapping, .shape = {50001}},
    {.name = "in_place, n=5001", .run = run_in_place, .shape = {5001}},
    {.name = "n=40001, then 2001", .run = run_twice, .shape = {40001, 2001}},
    {.name = "n=70001, twice", .run = run_twice, .shape = {70001, 70001}},
    {.name = "n=1048577", .run = run_random, .shape = {1048577}, .once = true},
    {.name = "n=67108867", .run = run_random, .shape = {67108867}, .where = ON_GPU, .once = true},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "2^25 ints"},
     .function = function,
     .baseline = "baseline_copy_ints",
     .run = scan_random,
     .shape = {1 << 25},
     .where = ON_GPU,
     .threshold = 0.6,
     .bytes = 8.0 * (1 << 25),
     .peer_share = 0.88,
     .peer_bytes = 8.0 * (1 << 25)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"bytes touched", .relative_to = MINIMUM, .shape = "2^18 ints"},
     .function = function,
     .run = scan_random,
     .shape = {1 << 18},
     .count = touched_bytes,
     .ideal = 8.0 * (1 << 18),
     .bound = AT_MOST,
     .wanted = 1.1},
    {0},
};

EXERCISE(2b) = {
    .id = CHALLENGE(2, 'b'),
    .name = "scan_single_pass",
    .file = "phase2_cuda_basics/2b_scan_single_pass.cu",
    .functions = {"exclusive_scan_single_pass"},
    .baseline_file = "grader/exercises/2b_scan_single_pass/baseline.cu",
    .points = 15,
    .speed_points = 10,
    .see = "in_place, n=5001",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
