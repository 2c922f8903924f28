/* 2a_matmul_warptile: cases of the product with a tile a warp, sizes just beside its tiles and
 * rings, its speed against 401 as it was, and what a multiply-add costs in
 * shared memory and in barriers. */
#include "exercises/shared/matmul_cases.h"

MATMUL_RUNNERS("matmul_warptile")

static const grading_case cases[] = {
    MATMUL_ROWS,
    {.name = "misaligned, rows of 16 bytes", .run = run_misaligned, .shape = {36, 44, 12}},
    {.name = "rows of 16 bytes, k=0", .run = run_exact, .shape = {5, 8, 0}},
    {.name = "rows of 16 bytes, nan", .run = run_nan, .shape = {37, 44, 29}},
    {.name = "255x124x15", .run = run_random, .shape = {255, 124, 15}},
    {.name = "256x128x16", .run = run_random, .shape = {256, 128, 16}},
    {.name = "257x132x17", .run = run_random, .shape = {257, 132, 17}},
    {.name = "64x64x47", .run = run_random, .shape = {64, 64, 47}},
    {.name = "33x36x49", .run = run_random, .shape = {33, 36, 49}},
    LONG_ROW("65543x4x2", run_random, 65543, 4, 2),
    LONG_ROW("3x65540x2", run_random, 3, 65540, 2),
    LONG_ROW("3x4x5003", run_random, 3, 4, 5003),
    MATMUL_GPU_ROWS,
    GPU_ROW("2000x2008x2017", run_random, 2000, 2008, 2017),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "401", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_warptile",
     .baseline = "baseline_matmul_vectorized",
     .run = matmul_timed,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 1.1,
     .flop = 2.0 * 4096 * 4096 * 4096,
     .capability = 90,
     .peer_share = 0.58},
    {0},
};

/* Passes over shared memory for what is multiplied, and requests to local memory where registers
 * became that. */
static double operand_loads(const device_counts *c)
{
    return (double)(c->shared_load.wavefronts + c->local_load.requests);
}

static double barriers(const device_counts *c)
{
    return (double)c->barriers;
}

static const traffic_test traffic[] = {
    {.metric = {"operand wavefronts", .per = "warp FMA", .shape = "256 × 256 × 256"},
     .function = "matmul_warptile",
     .run = matmul_timed,
     .shape = {256, 256, 256},
     .count = operand_loads,
     .ideal = 256.0 * 256 * 256 / 32,
     .bound = AT_MOST,
     .least = 0.03, /* 14 × 14 sums fill the registers of a thread: at least 0.036 */
     .wanted = 0.15},
    {.metric = {"barriers", .per = "1000 warp FMAs", .shape = "256 × 256 × 256"},
     .function = "matmul_warptile",
     .run = matmul_timed,
     .shape = {256, 256, 256},
     .count = barriers,
     .ideal = 256.0 * 256 * 256 / 32 / 1000,
     .bound = AT_MOST,
     .wanted = 2},
    {.metric = {"bank conflicts", .per = "warp FMA", .shape = "256 × 256 × 256"},
     .function = "matmul_warptile",
     .run = matmul_timed,
     .shape = {256, 256, 256},
     .count = bank_conflicts,
     .ideal = 256.0 * 256 * 256 / 32,
     .bound = AT_MOST,
     .wanted = 0.01},
    {0},
};

EXERCISE(2a) = {
    .id = CHALLENGE(2, 'a'),
    .name = "matmul_warptile",
    .file = "phase2_cuda_basics/2a_matmul_warptile/2a_matmul_warptile.cu",
    .functions = {"matmul_warptile"},
    .prerequisites = {214},
    .baseline_file = "grader/exercises/2a_matmul_warptile/baseline.cu",
    .points = 15,
    .speed_points = 10,
    .see = "64x64x47",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
