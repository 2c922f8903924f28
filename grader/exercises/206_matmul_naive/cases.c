/* 206_matmul_naive: cases of the one-thread-per-element product, and its speed against the same
 * kernel with rows and columns of threads exchanged. */
#include "exercises/shared/matmul_cases.h"

MATMUL_RUNNERS("matmul_naive")

static const grading_case cases[] = {
    MATMUL_ROWS,
    LONG_ROW("the most rows: 524280x1x1", run_random, 524280, 1, 1),
    MATMUL_GPU_ROWS,
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "the uncoalesced kernel", .shape = "2048 × 2048 × 2048"},
     .function = "matmul_naive",
     .baseline = "baseline_matmul_uncoalesced",
     .run = matmul_timed,
     .shape = {2048, 2048, 2048},
     .where = ON_GPU,
     .threshold = 4.0,
     .flop = 2.0 * 2048 * 2048 * 2048,
     .peer_share = 0.0074},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"sectors", .per = "request", .shape = "128 × 96 × 64"},
     .function = "matmul_naive",
     .run = matmul_timed,
     .shape = {128, 96, 64},
     .count = sectors_per_request,
     .bound = AT_MOST,
     .wanted = 4.5,
     .begin = 16.62},
    {.metric = {"reduction in DRAM bytes", .over = "the uncoalesced kernel",
                .shape = "128 × 96 × 64"},
     .function = "matmul_naive",
     .baseline = "baseline_matmul_uncoalesced",
     .run = matmul_timed,
     .shape = {128, 96, 64},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 4.0},
    {0},
};

EXERCISE(206) = {
    .id = 206,
    .core = true,
    .name = "matmul_naive",
    .file = "phase2_cuda_basics/206_matmul_naive/206_matmul_naive.cu",
    .functions = {"matmul_naive"},
    .baseline_file = "grader/exercises/206_matmul_naive/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "65x66x67",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
