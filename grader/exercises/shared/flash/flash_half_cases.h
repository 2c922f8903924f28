/*
 * flash_half_cases.h: attention in bf16 in one pass (4c, 4i). Scores that rise and fall from tile to
 * tile, of any size and sign; sizes next to those of tiles. All have the signature of
 * attention_flash2.
 */
#ifndef GRADER_FLASH_HALF_CASES_H
#define GRADER_FLASH_HALF_CASES_H

#include "exercises/shared/attention_half_cases.h"

/** Call it and judge out and lse. @param shift bytes of its pointers beyond aligned addresses */
void flash_half_check(const char *function, attention a, unsigned shift);

/** shape: batch, heads, seq, dim, causal */
void flash_half_without_lse(const char *function, const long *shape);
void flash_half_other_scale(const char *function, const long *shape);
void flash_half_rising(const char *function, const long *shape);
void flash_half_falling(const char *function, const long *shape);
void flash_half_without_weight(const char *function, const long *shape);
void flash_half_nan(const char *function, const long *shape);
void flash_half_future(const char *function, const long *shape);
void flash_half_own_rise(const char *function, const long *shape);
void flash_half_refused(const char *function, const long *shape);

#define FLASH_HALF_RUNNER(what, function)                                                          \
    static void run_##what(const long *shape)                                                      \
    {                                                                                              \
        flash_half_##what(function, shape);                                                        \
    }

/** What the rows below call, for one function. */
#define FLASH_HALF_RUNNERS(function)                                                               \
    static void check(attention a, unsigned shift)                                                 \
    {                                                                                              \
        flash_half_check(function, a, shift);                                                      \
    }                                                                                              \
    ATTENTION_HALF_RUNNERS(check)                                                                  \
    FLASH_HALF_RUNNER(without_lse, function)                                                       \
    FLASH_HALF_RUNNER(other_scale, function)                                                       \
    FLASH_HALF_RUNNER(rising, function)                                                            \
    FLASH_HALF_RUNNER(falling, function)                                                           \
    FLASH_HALF_RUNNER(without_weight, function)                                                    \
    FLASH_HALF_RUNNER(nan, function)                                                               \
    FLASH_HALF_RUNNER(future, function)                                                            \
    FLASH_HALF_RUNNER(own_rise, function)                                                          \
    FLASH_HALF_RUNNER(refused, function)

/* clang-format off */
#define FLASH_HALF_SIZES(dim) \
    {.name = "1x2x1x" #dim, .run = run, .shape = {1, 2, 1, dim, 1}}, \
    {.name = "2x1x63x" #dim, .run = run, .shape = {2, 1, 63, dim, 0}}, \
    {.name = "causal 1x2x65x" #dim, .run = run, .shape = {1, 2, 65, dim, 1}}, \
    {.name = "1x1x129x" #dim, .run = run, .shape = {1, 1, 129, dim, 0}}

#define FLASH_HALF_ROWS \
    FLASH_HALF_SIZES(64), \
    FLASH_HALF_SIZES(128), \
    {.name = "causal 1x1x64x64", .run = run, .shape = {1, 1, 64, 64, 1}}, \
    {.name = "causal 1x1x193x128", .run = run, .shape = {1, 1, 193, 128, 1}}, \
    {.name = "any seq, 64", .run = run, .shape = {1, 1, 1, 64, 0}, .most = {2, 3, 140, 64, 1}}, \
    {.name = "any seq, 128", .run = run, .shape = {1, 1, 1, 128, 0}, .most = {2, 2, 140, 128, 1}}, \
    LONG_ROW("causal 1x1x1030x64", run, 1, 1, 1030, 64, 1), \
    ATTENTION_HALF_ROWS, \
    {.name = "without lse", .run = run_without_lse, .shape = {1, 1, 30, 64, 1}}, \
    {.name = "misaligned, 64", .run = run_misaligned, .shape = {1, 2, 67, 64, 1}}, \
    {.name = "misaligned, 128", .run = run_misaligned, .shape = {1, 1, 70, 128, 0}}, \
    {.name = "another scale", .run = run_other_scale, .shape = {1, 1, 70, 64, 1}}, \
    {.name = "scores of 10000", .run = run_large_scores, .shape = {1, 1, 140, 64, 1}}, \
    {.name = "rising scores", .run = run_rising, .shape = {1, 1, 200, 64, 0}}, \
    {.name = "rising scores, causal", .run = run_rising, .shape = {1, 1, 140, 64, 1}}, \
    {.name = "falling scores", .run = run_falling, .shape = {1, 1, 140, 64, 0}}, \
    {.name = "keys without weight", .run = run_without_weight, .shape = {1, 2, 100, 64, 0}}, \
    {.name = "nan", .run = run_nan, .shape = {1, 2, 70, 64, 1}}, \
    {.name = "the future", .run = run_future, .shape = {1, 1, 150, 64, 1}}, \
    {.name = "a later query's scores rise", .run = run_own_rise, .shape = {1, 1, 500, 64, 1}}, \
    {.name = "causal 2x4x1000x128", .run = run, .shape = {2, 4, 1000, 128, 1}, .where = ON_GPU}, \
    {.name = "3x5x2500x64", .run = run, .shape = {3, 5, 2500, 64, 0}, .where = ON_GPU}, \
    GPU_ROW("70001x1x3x64", run, 70001, 1, 3, 64, 1), \
    GPU_ROW("causal 1x2x65536x128", run, 1, 2, 65536, 128, 1)
/* clang-format on */

#endif
