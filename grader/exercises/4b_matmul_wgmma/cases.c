/* 4b_matmul_wgmma: cases of the product by TMA and wgmma, which GPUs of compute capability 9.0
 * have, and softgpu. Its speed against 4a as it was; on softgpu, which units do the work. */
#include "exercises/shared/matmul_half_cases.h"

MATMUL_HALF_RUNNERS("matmul_wgmma", ELEMENT_BF16)

static const grading_case cases[] = {
    MATMUL_HALF_WIDE_ROWS({.name = "127x248x56", .run = run_random, .shape = {127, 248, 56}},
                          {.name = "128x256x64", .run = run_random, .shape = {128, 256, 64}},
                          {.name = "257x264x72", .run = run_random, .shape = {257, 264, 72}},
                          {.name = "several tiles per block, 520x552x72",
                           .run = run_random,
                           .shape = {520, 552, 72}},
                          {.name = "several tiles per block, 520x760x456",
                           .run = run_random,
                           .shape = {520, 760, 456}}),
    {.name = "rows of 16 bytes, 1000x1000x1000",
     .run = run_random,
     .shape = {1000, 1000, 1000},
     .where = ON_GPU},
    GPU_ROW("more tiles than multiprocessors, 3000x5000x72", run_random, 3000, 5000, 72),
    {0},
};

/* The baseline's rate is known by the bytes of the three matrices. */
static const speed_test speed[] = {
    {.metric = {"speedup", .over = "4a", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_wgmma",
     .baseline = "baseline_matmul_mma",
     .run = half_timed,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 1.35,
     .flop = 2.0 * 4096 * 4096 * 4096,
     .precision = IN_HALF,
     .capability = 90,
     .peer_share = 0.11,
     .peer_bytes = 4096.0 * 4096 * (2 + 2 + 4)},
    {0},
};

#define COUNTED .function = "matmul_wgmma", .run = half_timed, .shape = {256, 256, 128}
#define PRODUCT "64 × 256 × 16 product"
#define SIZES   "256 × 256 × 128"

/* Four warps make one of those products by one instruction each; mma.sync needs 128, wmma 64. */
static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = PRODUCT, .shape = SIZES},
     COUNTED,
     .count = tensor_instructions,
     .ideal = 4.0 * 1 * 8,
     .bound = AT_MOST,
     .multiplications = 256.0 * 256 * 128,
     .least = 4,
     .wanted = 16,
     .begin = 64},
    {.metric = {"share of loads by bulk copies", .shape = SIZES},
     COUNTED,
     .count = loads_in_bulk,
     .bound = AT_LEAST,
     .wanted = 0.99},
    {.metric = {"shared-memory loads", .per = PRODUCT, .shape = SIZES},
     COUNTED,
     .count = shared_loads,
     .ideal = 4.0 * 1 * 8,
     .bound = AT_MOST,
     .wanted = 16}, /* sums may go through shared memory when they are stored */
    {0},
};

EXERCISE(4b) = {
    .id = CHALLENGE(4, 'b'),
    .name = "matmul_wgmma",
    .file = "phase4_optimization/4b_matmul_wgmma/4b_matmul_wgmma.cu",
    .functions = {"matmul_wgmma"},
    .prerequisites = {402},
    .sm_90a = true,
    .softgpu_90 = true,
    .baseline_file = "grader/exercises/4b_matmul_wgmma/baseline.cu",
    .points = 30,
    .speed_points = 15,
    .see = "127x248x56",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
