/* 2b_scan_single_pass: the cases of 210, and one more of what a call leaves in scratch; the speed
 * against a copy on the device, of which it moves hardly more. */
#include "exercises/shared/scan_cases.h"

SCAN_RUNNERS("exclusive_scan_single_pass")

/* In distinct sectors, for a tile's word is read again until it says something, and how often is
 * chance. */
static double touched_bytes(const device_counts *c)
{
    return (double)(c->footprint + 2 * c->on_device.bytes + c->fills.bytes);
}

static const grading_case cases[] = {
    SCAN_ROWS,
    {.name = "wrapping, n=50001", .run = run_wrapping, .shape = {50001}},
    {.name = "in_place, n=5001", .run = run_in_place, .shape = {5001}},
    {.name = "n=40001, then 2001", .run = run_twice, .shape = {40001, 2001}},
    {.name = "n=70001, twice", .run = run_twice, .shape = {70001, 70001}},
    SCAN_LARGE_ROWS,
    {0},
};

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "2^25 ints"},
     .function = "exclusive_scan_single_pass",
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
     .function = "exclusive_scan_single_pass",
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
    .file = "phase2_cuda_basics/2b_scan_single_pass/2b_scan_single_pass.cu",
    .functions = {"exclusive_scan_single_pass"},
    .baseline_file = "grader/exercises/210_scan/baseline.cu",
    .points = 15,
    .speed_points = 10,
    .see = "in_place, n=5001",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
