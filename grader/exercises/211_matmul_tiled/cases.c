/* 211_matmul_tiled: cases of the product through shared memory, with sizes just beside the usual
 * tiles, and its speed against a coalesced kernel without tiles. */
#include "exercises/shared/matmul_cases.h"

MATMUL_RUNNERS("matmul_tiled")

static const grading_case cases[] = {
    MATMUL_ROWS,
    {.name = "31x31x31", .run = run_random, .shape = {31, 31, 31}},
    {.name = "32x32x33", .run = run_random, .shape = {32, 32, 33}},
    {.name = "33x32x15", .run = run_random, .shape = {33, 32, 15}},
    {.name = "33x32x40", .run = run_random, .shape = {33, 32, 40}},
    {.name = "129x1x17", .run = run_random, .shape = {129, 1, 17}},
    {.name = "1x1x1000", .run = run_random, .shape = {1, 1, 1000}},
    MATMUL_GPU_ROWS,
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "the untiled kernel", .shape = "2048 × 2048 × 2048"},
     .function = "matmul_tiled",
     .baseline = "baseline_matmul_naive",
     .run = matmul_timed,
     .shape = {2048, 2048, 2048},
     .where = ON_GPU,
     .threshold = 1.2,
     .flop = 2.0 * 2048 * 2048 * 2048,
     .peer_share = 0.097},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"reduction in DRAM bytes", .over = "the untiled kernel",
                .shape = "128 × 128 × 128"},
     .function = "matmul_tiled",
     .baseline = "baseline_matmul_naive",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 8.0},
    {.metric = {"bank conflicts", .per = "warp FMA", .shape = "128 × 128 × 128"},
     .function = "matmul_tiled",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = bank_conflicts,
     .ideal = 128.0 * 128 * 128 / 32,
     .bound = AT_MOST,
     .wanted = 0.2,
     .begin = 31.969},
    {0},
};

EXERCISE(211) = {
    .id = 211,
    .core = true,
    .name = "matmul_tiled",
    .file = "phase2_cuda_basics/211_matmul_tiled/211_matmul_tiled.cu",
    .functions = {"matmul_tiled"},
    .baseline_file = "grader/exercises/211_matmul_tiled/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .see = "33x32x40",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
