/*
 * matmul_half_cases.h: the same for products of bf16 or fp16 whose sums are fp32: what the inputs
 * are after rounding is what counts, and products of two of them are exact.
 */
#ifndef GRADER_MATMUL_HALF_CASES_H
#define GRADER_MATMUL_HALF_CASES_H

#include "exercises/shared/matmul_cases.h"

/* shape: m, n, k */
void half_random(const char *function, element_type, const long *shape);
/** Small integers, as matmul_exact. */
void half_exact(const char *function, element_type, const long *shape);
/** As matmul_nan, and zero times infinity. */
void half_nan(const char *function, element_type, const long *shape);
void half_zero_times_infinity(const char *function, element_type, const long *shape);
/** Pointers that are aligned to an element and to nothing more. */
void half_misaligned(const char *function, element_type, const long *shape);
/** Numbers that bf16 has and fp16 has not. */
void half_range(const char *function, element_type, const long *shape);
/** Sums that fp16 cannot count up to: from 2,048 on it has no odd numbers. */
void half_long(const char *function, element_type, const long *shape);
/** Sums beyond 65,504, where fp16 ends. */
void half_large(const char *function, element_type, const long *shape);
/** x in bf16, and x becomes what that is: the upper half of each float, quicker than rounding where
 *  there are millions. */
void *upper_halves(float *x, size_t count);
/** One timed call, of bf16. */
void half_timed(const char *function, const long *shape);

/** Rows for bf16, beside MATMUL_ROWS; and large ones, for a GPU, beside MATMUL_GPU_ROWS. */
#define MATMUL_HALF_ROWS                                                                           \
    {.name = "misaligned, rows of 16 bytes", .run = run_misaligned, .shape = {40, 48, 56}},        \
        {.name = "127x129x31", .run = run_random, .shape = {127, 129, 31}},                        \
        {.name = "130x136x40", .run = run_random, .shape = {130, 136, 40}},                        \
        {.name = "33x40x36", .run = run_random, .shape = {33, 40, 36}},                            \
        {.name = "33x36x40", .run = run_random, .shape = {33, 36, 40}},                            \
        LONG_ROW("3x20008x8", run_random, 3, 20008, 8),                                            \
        {.name = "range of bf16", .run = run_range, .shape = {33, 40, 48}},                        \
    {                                                                                              \
        .name = "long sums, 16x24x1600", .run = run_long, .shape = { 16, 24, 1600 }                \
    }

#define MATMUL_HALF_GPU_ROWS                                                                       \
    {.name = "70001x30x20", .run = run_random, .shape = {70001, 30, 20}, .where = ON_GPU},         \
    {                                                                                              \
        .name = "long sums, 64x80x16384", .run = run_long, .shape = {64, 80, 16384},               \
        .where = ON_GPU                                                                            \
    }

/** All rows of a product that copies 16 bytes at a time where it can. The arguments are rows of its
 *  own: sizes beside its tiles. */
#define MATMUL_HALF_WIDE_ROWS(...)                                                                 \
    MATMUL_ROWS, MATMUL_HALF_ROWS,                                                                 \
        {.name = "rows of 16 bytes, k=0", .run = run_exact, .shape = {5, 8, 0}},                   \
        {.name = "rows of 16 bytes, nan", .run = run_nan, .shape = {37, 48, 72}}, __VA_ARGS__,     \
        {.name = "64x64x328", .run = run_random, .shape = {64, 64, 328}},                          \
        LONG_ROW("65543x8x8", run_random, 65543, 8, 8),                                            \
        LONG_ROW("3x65544x8", run_random, 3, 65544, 8),                                            \
        LONG_ROW("3x8x5008", run_random, 3, 8, 5008), MATMUL_GPU_ROWS, MATMUL_HALF_GPU_ROWS

/** What these rows call. Both arguments may depend on the case's shape. */
#define MATMUL_HALF_RUNNERS(function, element)                                                     \
    static void run_exact(const long *shape)                                                       \
    {                                                                                              \
        half_exact(function, element, shape);                                                      \
    }                                                                                              \
    static void run_random(const long *shape)                                                      \
    {                                                                                              \
        half_random(function, element, shape);                                                     \
    }                                                                                              \
    static void run_nan(const long *shape)                                                         \
    {                                                                                              \
        half_nan(function, element, shape);                                                        \
    }                                                                                              \
    static void run_zero_times_infinity(const long *shape)                                         \
    {                                                                                              \
        half_zero_times_infinity(function, element, shape);                                        \
    }                                                                                              \
    static void run_misaligned(const long *shape)                                                  \
    {                                                                                              \
        half_misaligned(function, element, shape);                                                 \
    }                                                                                              \
    static void run_range(const long *shape)                                                       \
    {                                                                                              \
        half_range(function, element, shape);                                                      \
    }                                                                                              \
    static void run_long(const long *shape)                                                        \
    {                                                                                              \
        half_long(function, element, shape);                                                       \
    }

#endif
