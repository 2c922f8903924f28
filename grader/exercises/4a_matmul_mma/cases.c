/* 4a_matmul_mma: cases of the product by mma.sync, sizes just beside its tiles and rings, its
 * speed against 402 as it was, and what a product costs in shared memory. */
#include "exercises/shared/matmul_half_cases.h"

MATMUL_HALF_RUNNERS("matmul_mma", ELEMENT_BF16)

static const grading_case cases[] = {
    MATMUL_HALF_WIDE_ROWS({.name = "255x120x56", .run = run_random, .shape = {255, 120, 56}},
                          {.name = "256x128x64", .run = run_random, .shape = {256, 128, 64}},
                          {.name = "257x136x72", .run = run_random, .shape = {257, 136, 72}}),
    GPU_ROW("2000x2008x2016", run_random, 2000, 2008, 2016),
    {0},
};

/* The baseline's rate is known by the bytes of the three matrices. */
static const speed_test speed[] = {
    {.metric = {"speedup", .over = "402", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_mma",
     .baseline = "baseline_matmul_tensorcore",
     .run = half_timed,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 2.2,
     .flop = 2.0 * 4096 * 4096 * 4096,
     .precision = IN_HALF,
     .capability = 90,
     .peer_share = 0.04,
     .peer_bytes = 4096.0 * 4096 * (2 + 2 + 4)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = "16 × 8 × 16 product", .shape = "256 × 256 × 256"},
     .function = "matmul_mma",
     .run = half_timed,
     .shape = {256, 256, 256},
     .count = tensor_instructions,
     .ideal = 16.0 * 32 * 16,
     .bound = AT_LEAST,
     .multiplications = 256.0 * 256 * 256,
     .wanted = 1.0},
    {.metric = {"shared-memory requests", .per = "16 × 8 × 16 product", .shape = "256 × 256 × 256"},
     .function = "matmul_mma",
     .run = half_timed,
     .shape = {256, 256, 256},
     .count = shared_requests,
     .ideal = 16.0 * 32 * 16,
     .bound = AT_MOST,
     .least = 0.05, /* 64 × 96 sums fill the registers of a warp: at least 0.2 */
     .wanted = 0.4},
    {.metric = {"bank conflicts", .shape = "256 × 256 × 256"},
     .function = "matmul_mma",
     .run = half_timed,
     .shape = {256, 256, 256},
     .count = bank_conflicts,
     .bound = EXACTLY,
     .wanted = 0},
    {0},
};

EXERCISE(4a) = {
    .id = CHALLENGE(4, 'a'),
    .name = "matmul_mma",
    .file = "phase4_optimization/4a_matmul_mma/4a_matmul_mma.cu",
    .functions = {"matmul_mma"},
    .prerequisites = {402},
    .baseline_file = "grader/exercises/4a_matmul_mma/baseline.cu",
    .points = 20,
    .speed_points = 10,
    .see = "64x64x328",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
