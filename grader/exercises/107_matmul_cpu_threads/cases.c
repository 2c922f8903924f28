/* 107_matmul_cpu_threads: cases of the product by threads: rows that do not divide evenly, fewer
 * rows than threads, more threads than can be started, and sizes that keep threads at work long
 * enough to meet. Its speed by the wall clock, against 106 on one core. */
#include "exercises/shared/matmul_cases.h"

#define FUNCTION "matmul_cpu_threads"

MATMUL_BY_THREADS_RUNNERS(FUNCTION)

static const grading_case cases[] = {
    MATMUL_BY_THREADS_ROWS,
    /* Threads that share the sum over k are in the same row for a millisecond. */
    {.name = "deep: 2x4x1000003, 2 threads", .run = run_random, .shape = {2, 4, 1000003, 2}},
    /* Rows times threads go beyond an int. */
    {.name = "tall: 8500001x1x1, 256 threads",
     .run = run_random,
     .shape = {8500001, 1, 1, 256},
     .once = true},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "106 on one core", .shape = "4 threads, 1024 × 2048 × 2048"},
     .function = FUNCTION,
     .baseline = "baseline_matmul_vectorized",
     .run = run_timed,
     .shape = {1024, 2048, 2048, WALL_CLOCK_CORES},
     .where = ON_HOST,
     .wall_clock = true,
     .threshold = 2.8, /* 0.7 of each core */
     .flop = 2.0 * 1024 * 2048 * 2048,
     .peer_share = 20.0},
    {0},
};

EXERCISE(107) = {
    .id = 107,
    .name = "matmul_cpu_threads",
    .file = "phase1_cpu/107_matmul_cpu_threads/107_matmul_cpu_threads.c",
    .functions = {FUNCTION},
    .prerequisites = {106},
    .baseline_file = "grader/exercises/107_matmul_cpu_threads/baseline.c",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
};
