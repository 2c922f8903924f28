/* 103_matmul_cpu: cases of the triple loop. It is a baseline itself, so nothing is timed. */
#include "exercises/shared/matmul_cases.h"

MATMUL_RUNNERS("matmul_cpu")

static const grading_case cases[] = {MATMUL_ROWS, {0}};

EXERCISE(103) = {
    .id = 103,
    .core = true,
    .name = "matmul_cpu",
    .file = "phase1_cpu/103_matmul_cpu/103_matmul_cpu.c",
    .functions = {"matmul_cpu"},
    .points = 10,
    .cases = cases,
};
