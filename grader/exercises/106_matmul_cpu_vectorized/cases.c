/* 106_matmul_cpu_vectorized: cases of the product in vector registers, with sizes around its
 * tiles, pointers aligned to a float only, and denormal numbers; its speed as a part of what the
 * core can multiply and add at most. */
#include "exercises/shared/matmul_cases.h"

#include <math.h>
#include <string.h>

MATMUL_RUNNERS("matmul_cpu_vectorized")

/* Every product and sum is a whole multiple of 2^-140, and less than the least normal number. */
static void run_denormal(const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    float *c = f32_array((size_t)(m * n));
    for (long i = 0; i < m * k; i++) a[i] = ldexpf(roundf(9 * a[i]), -70);
    for (long i = 0; i < k * n; i++) b[i] = ldexpf(roundf(9 * b[i]), -70);
    call_void("matmul_cpu_vectorized",
              ARGS(out_f32("c", c, (size_t)(m * n)), in_f32("a", a, (size_t)(m * k)),
                   in_f32("b", b, (size_t)(k * n)), i32((int)m), i32((int)n), i32((int)k)));
    expect_matmul(c, a, b, m, n, k);
}

/* The baseline does as many multiply-adds, but no product: only the student's c is checked. */
static void run_timed(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    float *c = f32_array((size_t)(m * n));
    call_void(function,
              ARGS(out_f32("c", c, (size_t)(m * n)), in_f32("a", a, (size_t)(m * k)),
                   in_f32("b", b, (size_t)(k * n)), i32((int)m), i32((int)n), i32((int)k)));
    if (strcmp(function, "matmul_cpu_vectorized") == 0) expect_matmul(c, a, b, m, n, k);
}

static const grading_case cases[] = {
    MATMUL_ROWS,
    MATMUL_THREADS_ROW,
    {.name = "misaligned_whole_vectors", .run = run_misaligned, .shape = {24, 64, 48}},
    {.name = "narrower_than_a_vector", .run = run_random, .shape = {8, 3, 40}},
    {.name = "one_past_a_vector", .run = run_random, .shape = {5, 9, 257}},
    {.name = "around_a_tile", .run = run_random, .shape = {13, 47, 255}},
    {.name = "one_past_a_tile", .run = run_random, .shape = {7, 33, 513}},
    {.name = "whole_tiles", .run = run_random, .shape = {48, 192, 256}},
    {.name = "denormal", .run = run_denormal, .shape = {8, 19, 3}},
    {.name = "around_a_block", .run = run_random, .shape = {257, 9, 33}},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"FMA rate", .relative_to = "peak of one core", .shape = "480 × 1024 × 1024"},
     .function = "matmul_cpu_vectorized",
     .baseline = "baseline_fma_peak",
     .run = run_timed,
     .shape = {480, 1024, 1024},
     .where = ON_HOST,
     .threshold = 0.35,
     .begin = 0.09, /* 105: matmul.tsv, n = 1024 */
     .flop = 2.0 * 480 * 1024 * 1024,
     .peer_share = 60.0},
    {0},
};

EXERCISE(106) = {
    .id = 106,
    .core = true,
    .name = "matmul_cpu_vectorized",
    .file = "phase1_cpu/106_matmul_cpu_vectorized/106_matmul_cpu_vectorized.c",
    .functions = {"matmul_cpu_vectorized"},
    .baseline_file = "grader/exercises/106_matmul_cpu_vectorized/baseline.c",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
};
