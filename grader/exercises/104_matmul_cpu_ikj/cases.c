/* 104_matmul_cpu_ikj: cases of the product with rows in the innermost loop, and its speed against
 * the loop order of 103. No power of two is timed: it would slow the baseline down even more. */
#include "exercises/shared/matmul_cases.h"

MATMUL_RUNNERS("matmul_cpu_ikj")

static const grading_case cases[] = {
    MATMUL_ROWS,
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "the loops of 103", .shape = "64 × 1000 × 500"},
     .function = "matmul_cpu_ikj",
     .baseline = "baseline_matmul_ijk",
     .run = matmul_timed,
     .shape = {64, 1000, 500},
     .where = ON_HOST,
     .threshold = 4.0,
     .flop = 2.0 * 64 * 1000 * 500,
     .peer_share = 1.5},
    {0},
};

EXERCISE(104) = {
    .id = 104,
    .core = true,
    .name = "matmul_cpu_ikj",
    .file = "phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c",
    .functions = {"matmul_cpu_ikj"},
    .baseline_file = "grader/exercises/104_matmul_cpu_ikj/baseline.c",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
};
