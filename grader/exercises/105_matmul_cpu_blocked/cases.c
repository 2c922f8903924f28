/* 105_matmul_cpu_blocked: cases of the blocked product, with sizes around every likely block, and
 * its speed against 104 where b is larger than the caches of most machines. A b that lies in the L3
 * cache, which neighbours on other cores share, would be fetched at their mercy. */
#include "exercises/shared/matmul_cases.h"

MATMUL_RUNNERS("matmul_cpu_blocked")

static const grading_case cases[] = {
    MATMUL_ROWS,
    MATMUL_THREADS_ROW,
    {.name = "around_16", .run = run_random, .shape = {15, 17, 16}},
    {.name = "around_32", .run = run_random, .shape = {33, 31, 33}},
    {.name = "around_64", .run = run_random, .shape = {63, 65, 64}},
    {.name = "around_128", .run = run_random, .shape = {129, 127, 129}},
    {.name = "around_256", .run = run_random, .shape = {7, 257, 255}},
    {.name = "around_512", .run = run_random, .shape = {3, 511, 513}},
    {.name = "around_1024", .run = run_random, .shape = {2, 1025, 1025}},
    {.name = "many_rows", .run = run_random, .shape = {1031, 6, 5}},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "104", .shape = "40 × 4000 × 4000 (b: 64 MB)"},
     .function = "matmul_cpu_blocked",
     .baseline = "baseline_matmul_ikj",
     .run = matmul_timed,
     .shape = {40, 4000, 4000},
     .where = ON_HOST,
     .threshold = 1.2,
     .flop = 2.0 * 40 * 4000 * 4000,
     .peer_share = 5.0},
    {0},
};

EXERCISE(105) = {
    .id = 105,
    .name = "matmul_cpu_blocked",
    .file = "phase1_cpu/105_matmul_cpu_blocked/105_matmul_cpu_blocked.c",
    .functions = {"matmul_cpu_blocked"},
    .baseline_file = "grader/exercises/105_matmul_cpu_blocked/baseline.c",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
};
