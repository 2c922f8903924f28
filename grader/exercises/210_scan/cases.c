/* 210_scan: lengths around warps, blocks and grids, sums that wrap around, out in the place of
 * in; the speed against a copy on the device. */
#include "exercises/shared/scan_cases.h"

SCAN_RUNNERS("exclusive_scan")

static const grading_case cases[] = {
    SCAN_ROWS,
    {.name = "wrapping, n=5001", .run = run_wrapping, .shape = {5001}},
    {.name = "in_place, n=3001", .run = run_in_place, .shape = {3001}},
    {.name = "n=40001, then 2001", .run = run_twice, .shape = {40001, 2001}},
    SCAN_LARGE_ROWS,
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
     .wanted = 2.2,
     .begin = 2.536},
    {.metric = {"instructions", .per = "warp", .shape = "2^18 ints"},
     .function = "exclusive_scan",
     .run = scan_random,
     .shape = {1 << 18},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 5000,
     .begin = 41440},
    {0},
};

EXERCISE(210) = {
    .id = 210,
    .name = "scan",
    .file = "phase2_cuda_basics/210_scan/210_scan.cu",
    .functions = {"exclusive_scan"},
    .promises = {{"exclusive_scan", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM}},
    .baseline_file = "grader/exercises/210_scan/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
