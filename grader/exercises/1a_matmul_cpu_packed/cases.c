/* 1a_matmul_cpu_packed: cases of the product with both matrices packed: those of 107, and sizes
 * beside its tiles and blocks. Its speed against a packed product that was held against OpenBLAS,
 * with one thread and with four. */
#include "exercises/shared/matmul_cases.h"

#define FUNCTION "matmul_cpu_packed"

MATMUL_BY_THREADS_RUNNERS(FUNCTION)

static const grading_case cases[] = {
    MATMUL_BY_THREADS_ROWS,
    {.name = "narrower than a vector", .run = run_random, .shape = {8, 3, 40, 1}},
    {.name = "around a tile", .run = run_random, .shape = {13, 31, 511, 1}},
    {.name = "one past a tile", .run = run_random, .shape = {9, 33, 513, 1}},
    {.name = "whole tiles", .run = run_random, .shape = {96, 192, 256, 1}},
    {.name = "whole blocks, misaligned", .run = run_random, .shape = {120, 512, 512, 1, 4}},
    {.name = "one past each block", .run = run_random, .shape = {241, 513, 513, 1}},
    {.name = "one past each block, 6 threads", .run = run_random, .shape = {385, 517, 515, 6}},
    {.name = "deep: 14x15x24007, 2 threads", .run = run_random, .shape = {14, 15, 24007, 2}},
    {.name = "a long row, 4 threads", .run = run_random, .shape = {1, 5000, 2000, 4}},
    {.name = "a long column, 4 threads", .run = run_random, .shape = {5000, 1, 2000, 4}},
    {0},
};

/* The baseline packs as the reference does. On one core both reached 0.92 to 0.96 of OpenBLAS with
 * AVX-512 and 0.85 with AVX2, so that 0.8 of it is about 0.7 of OpenBLAS. */
#define TIMED(words, threads, ...)                                                                 \
    {                                                                                              \
        .metric = {"FLOP rate", .relative_to = "the packed baseline",                              \
                   .shape = words ", 1024 × 1024 × 1024"},                                         \
        .function = FUNCTION, .baseline = "baseline_matmul_packed", .run = run_timed,              \
        .shape = {1024, 1024, 1024, threads}, .where = ON_HOST, .threshold = 0.8,                  \
        .flop = 2.0 * 1024 * 1024 * 1024, .peer_share = 20.0, __VA_ARGS__                          \
    }

static const speed_test speed[] = {
    TIMED("one thread", 1),
    TIMED("4 threads", WALL_CLOCK_CORES, .wall_clock = true),
    {0},
};

EXERCISE(1a) = {
    .id = CHALLENGE(1, 'a'),
    .name = "matmul_cpu_packed",
    .file = "phase1_cpu/1a_matmul_cpu_packed/1a_matmul_cpu_packed.c",
    .functions = {FUNCTION},
    .baseline_file = "grader/exercises/1a_matmul_cpu_packed/baseline.c",
    .points = 20,
    .speed_points = 10,
    .cases = cases,
    .speed = speed,
};
