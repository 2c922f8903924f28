/*
 * attention_half_cases.h: what attention in bf16, forward (4c) and backward (4d), has in common:
 * inputs, sizes of nothing, and a rate beside that of a product. A file that uses the rows defines
 * run_refused, and says by ATTENTION_HALF_RUNNERS what checks a call.
 */
#ifndef GRADER_ATTENTION_HALF_CASES_H
#define GRADER_ATTENTION_HALF_CASES_H

#include "exercises/shared/attention_cases.h"
#include "exercises/shared/matmul_half_cases.h"

#define BF16_ROUNDING (1.0 / 256) /* of 8 bits, the most that one is off by */

/** x becomes what it is in bf16, and lies so many bytes beyond an aligned address. */
argument attention_half_in(const char *name, float *x, size_t count, unsigned shift);

/** @param check judges a call whose pointers are `shift` bytes beyond aligned addresses */
#define ATTENTION_HALF_RUNNERS(check)                                                              \
    static void run(const long *shape)                                                             \
    {                                                                                              \
        check(random_attention(shape), 0);                                                         \
    }                                                                                              \
    static void run_misaligned(const long *shape)                                                  \
    {                                                                                              \
        check(random_attention(shape), 2);                                                         \
    }                                                                                              \
    static void run_empty(const long *shape)                                                       \
    {                                                                                              \
        static const long full[] = {1, 2, 5, 64, 0};                                               \
        run(shape);                                                                                \
        run(full);                                                                                 \
    }                                                                                              \
    static void run_large_scores(const long *shape)                                                \
    {                                                                                              \
        check(large_scores(shape), 0);                                                             \
    }

/* clang-format off */
#define ATTENTION_HALF_ROWS \
    LONG_ROW("1x257x1x64", run, 1, 257, 1, 64, 0), \
    {.name = "empty, 0x2x5x64", .run = run_empty, .shape = {0, 2, 5, 64, 0}}, \
    {.name = "empty, 2x0x5x128", .run = run_empty, .shape = {2, 0, 5, 128, 0}}, \
    {.name = "empty, 2x2x0x64", .run = run_empty, .shape = {2, 2, 0, 64, 1}}, \
    {.name = "refused: dim is neither 64 nor 128", .run = run_refused, .shape = {1, 1, 2, 64, 0}}
/* clang-format on */

/* ---- speed ----------------------------------------------------------------------------------- */

#define ATTENTION_HALF_HEADS 32
#define ATTENTION_HALF_SEQ   8192
#define ATTENTION_HALF_SIDE  4096 /* of the product beside it */

/** So many products of [seq x dim] and [dim x seq], of which half of the scores are not needed. */
#define ATTENTION_HALF_WORK(products)                                                              \
    (1.0 * (products)*ATTENTION_HALF_SEQ * ATTENTION_HALF_SEQ * 128 * ATTENTION_HALF_HEADS)

/** Call a baseline, a product whose rows are proportional to the heads. @return is it one? */
bool attention_half_baseline(const char *function, const long *shape);

/** Rates of arithmetic. The baseline's is known by the bytes of its three matrices. */
#define ATTENTION_HALF_SPEED(timed, products, least)                                               \
    {                                                                                              \
        .metric = {"FLOP rate", .relative_to = "402", .shape = "causal 1 × 32 × 8192 × 128"},      \
        .function = timed, .baseline = "baseline_matmul_tensorcore", .run = run_timed,             \
        .shape = {1, ATTENTION_HALF_HEADS, ATTENTION_HALF_SEQ, 128, 1}, .varied = 1,               \
        .where = ON_GPU, .threshold = least, .work = ATTENTION_HALF_WORK(products),                \
        .baseline_work = 2.0 * ATTENTION_HALF_SIDE * ATTENTION_HALF_SIDE * ATTENTION_HALF_SIDE,    \
        .flop = ATTENTION_HALF_WORK(products), .precision = IN_HALF, .capability = 90,             \
        .peer_share = 0.04, .peer_bytes = 4096.0 * 4096 * (2 + 2 + 4)                              \
    }

#endif
