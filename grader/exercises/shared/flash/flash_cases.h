/*
 * flash_cases.h: attention without memory for its scores, in fp32 (409, 4h): as 313, and what an
 * online softmax gets wrong: scores that rise from tile to tile, tiles without any weight, tails of
 * tiles; the log-sum-exp. All have the signature of attention_flash.
 */
#ifndef GRADER_FLASH_CASES_H
#define GRADER_FLASH_CASES_H

#include "exercises/shared/attention_cases.h"

/** shape: batch, heads, seq, dim, causal */
void flash_random(const char *function, const long *shape);
void flash_misaligned(const char *function, const long *shape);
void flash_without_lse(const char *function, const long *shape);
void flash_no_columns(const char *function, const long *shape);
void flash_other_scale(const char *function, const long *shape);
/** Scores that rise from the first key to the last, by little or far, or fall. */
void flash_rising(const char *function, const long *shape);
void flash_rising_far(const char *function, const long *shape);
void flash_falling(const char *function, const long *shape);
void flash_large_scores(const char *function, const long *shape);
/** shape: ..., first and end of the keys that have no weight */
void flash_without_weight(const char *function, const long *shape);
void flash_nan(const char *function, const long *shape);
void flash_future(const char *function, const long *shape);
void flash_too_wide(const char *function, const long *shape);

/** One timed or counted call: of a baseline out is not judged. */
void flash_timed(const char *function, const long *shape);

#define FLASH_RUNNER(what, function)                                                               \
    static void run_##what(const long *shape)                                                      \
    {                                                                                              \
        flash_##what(function, shape);                                                             \
    }

/** What the rows below call, for one function. */
#define FLASH_RUNNERS(function)                                                                    \
    FLASH_RUNNER(random, function)                                                                 \
    FLASH_RUNNER(misaligned, function)                                                             \
    FLASH_RUNNER(without_lse, function)                                                            \
    FLASH_RUNNER(no_columns, function)                                                             \
    FLASH_RUNNER(other_scale, function)                                                            \
    FLASH_RUNNER(rising, function)                                                                 \
    FLASH_RUNNER(rising_far, function)                                                             \
    FLASH_RUNNER(falling, function)                                                                \
    FLASH_RUNNER(large_scores, function)                                                           \
    FLASH_RUNNER(without_weight, function)                                                         \
    FLASH_RUNNER(nan, function)                                                                    \
    FLASH_RUNNER(future, function)                                                                 \
    FLASH_RUNNER(too_wide, function)

/* clang-format off */
#define FLASH_ROW(text, ...) {.name = "flash " text, .run = run_random, .shape = {__VA_ARGS__}}
#define FLASH_ON_A_GPU(text, ...) \
    {.name = "flash " text, .run = run_random, .shape = {__VA_ARGS__}, .where = ON_GPU, .once = true}

#define FLASH_ROWS \
    FLASH_ROW("1x1x1x1", 1, 1, 1, 1, 0), \
    FLASH_ROW("1x2x7x16", 1, 2, 7, 16, 0), \
    FLASH_ROW("causal 2x2x7x5", 2, 2, 7, 5, 1), \
    FLASH_ROW("1x1x63x64", 1, 1, 63, 64, 0), \
    FLASH_ROW("causal 1x1x63x32", 1, 1, 63, 32, 1), \
    FLASH_ROW("1x2x65x33", 1, 2, 65, 33, 0), \
    FLASH_ROW("causal 1x1x65x64", 1, 1, 65, 64, 1), \
    FLASH_ROW("causal 2x1x130x128", 2, 1, 130, 128, 1), \
    FLASH_ROW("1x1x33x100", 1, 1, 33, 100, 0), \
    FLASH_ROW("0x2x5x4", 0, 2, 5, 4, 0), \
    FLASH_ROW("2x2x0x4", 2, 2, 0, 4, 1), \
    LONG_ROW("flash causal 1x1x1000x8", run_random, 1, 1, 1000, 8, 1), \
    LONG_ROW("flash 1x1x1030x2", run_random, 1, 1, 1030, 2, 0), \
    LONG_ROW("flash 1x300x1x2", run_random, 1, 300, 1, 2, 0), \
    LONG_ROW("flash causal 300x1x2x1", run_random, 300, 1, 2, 1, 1), \
    {.name = "flash any shape", .run = run_random, .shape = {1, 1, 1, 1, 0}, \
     .most = {3, 3, 150, 128, 1}}, \
    {.name = "no columns", .run = run_no_columns, .shape = {1, 2, 70, 0, 1}}, \
    {.name = "lse is NULL", .run = run_without_lse, .shape = {1, 2, 40, 24, 1}}, \
    {.name = "another scale", .run = run_other_scale, .shape = {1, 2, 70, 24, 1}}, \
    {.name = "rising scores", .run = run_rising, .shape = {1, 1, 270, 8, 0}}, \
    {.name = "rising scores, causal", .run = run_rising, .shape = {1, 1, 270, 8, 1}}, \
    {.name = "scores that rise far", .run = run_rising_far, .shape = {1, 1, 270, 8, 0}}, \
    {.name = "falling scores", .run = run_falling, .shape = {1, 1, 270, 8, 0}}, \
    {.name = "scores of 10000", .run = run_large_scores, .shape = {1, 2, 140, 16, 1}}, \
    {.name = "first keys without weight", .run = run_without_weight, \
     .shape = {1, 1, 200, 9, 0, 0, 140}}, \
    {.name = "first keys without weight, causal", .run = run_without_weight, \
     .shape = {1, 1, 200, 9, 1, 0, 140}}, \
    {.name = "last keys without weight", .run = run_without_weight, \
     .shape = {1, 1, 200, 9, 0, 60, 200}}, \
    {.name = "no key with weight", .run = run_without_weight, .shape = {1, 2, 70, 9, 0, 0, 70}}, \
    {.name = "nan", .run = run_nan, .shape = {1, 3, 134, 6, 0}}, \
    {.name = "nan, causal", .run = run_nan, .shape = {1, 3, 134, 6, 1}}, \
    {.name = "the future", .run = run_future, .shape = {1, 2, 145, 12, 1}}, \
    {.name = "misaligned", .run = run_misaligned, .shape = {1, 2, 80, 16, 1}}, \
    {.name = "129 columns", .run = run_too_wide, .shape = {1, 1, 20, 129, 0}}, \
    FLASH_ON_A_GPU("1x3x1000x64", 1, 3, 1000, 64, 0), \
    FLASH_ON_A_GPU("causal 2x3x1000x128", 2, 3, 1000, 128, 1), \
    FLASH_ON_A_GPU("causal 70001x1x3x4", 70001, 1, 3, 4, 1), \
    FLASH_ON_A_GPU("1x70001x2x32", 1, 70001, 2, 32, 0), \
    FLASH_ON_A_GPU("1x1x65536x64", 1, 1, 65536, 64, 0), \
    FLASH_ON_A_GPU("causal 1x2x65536x64", 1, 2, 65536, 64, 1)

/** Against three kernels that store all scores. */
#define FLASH_SPEED(name, least) \
    {.metric = {"speedup", .over = "three kernels with all scores in memory", \
                .shape = "causal 1 × 32 × 4096 × 64"}, \
     .function = name, .baseline = "baseline_attention", .run = flash_timed, \
     .shape = {1, 32, 4096, 64, 1}, .varied = 1, .where = ON_GPU, .threshold = least, \
     .flop = 2.0 * 32 * 4096 * 4096 * 64}
/* clang-format on */

#define FLASH_ARRAYS(rows, dim) (4.0 * (rows) * (4 * (dim) + 1)) /* bytes of all five */

#endif
