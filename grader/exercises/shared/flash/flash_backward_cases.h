/*
 * flash_backward_cases.h: the gradients of attention in bf16 (4d, 4j). Random inputs, equal tokens,
 * large scores, sizes next to those of tiles. All have the signature of attention_flash2_backward.
 */
#ifndef GRADER_FLASH_BACKWARD_CASES_H
#define GRADER_FLASH_BACKWARD_CASES_H

#include "exercises/shared/attention_half_cases.h"

/** Call it and judge the gradients. @param shift bytes of its pointers beyond aligned addresses */
void flash_backward_check(const char *function, attention a, unsigned shift);

/** shape: batch, heads, seq, dim, causal */
void flash_backward_other_scale(const char *function, const long *shape);
void flash_backward_low_scores(const char *function, const long *shape);
void flash_backward_equal_tokens(const char *function, const long *shape);
void flash_backward_nan(const char *function, const long *shape);
void flash_backward_refused(const char *function, const long *shape);

/** For a speed test: such a call, or the baseline. */
void flash_backward_timed(const char *function, const long *shape);

#define FLASH_BACKWARD_RUNNER(what, function)                                                      \
    static void run_##what(const long *shape)                                                      \
    {                                                                                              \
        flash_backward_##what(function, shape);                                                    \
    }

/** What the rows below call, for one function. */
#define FLASH_BACKWARD_RUNNERS(function)                                                           \
    static void check(attention a, unsigned shift)                                                 \
    {                                                                                              \
        flash_backward_check(function, a, shift);                                                  \
    }                                                                                              \
    ATTENTION_HALF_RUNNERS(check)                                                                  \
    FLASH_BACKWARD_RUNNER(other_scale, function)                                                   \
    FLASH_BACKWARD_RUNNER(low_scores, function)                                                    \
    FLASH_BACKWARD_RUNNER(equal_tokens, function)                                                  \
    FLASH_BACKWARD_RUNNER(nan, function)                                                           \
    FLASH_BACKWARD_RUNNER(refused, function)                                                       \
    static void run_counted(const char *name, const long *shape)                                   \
    {                                                                                              \
        (void)name;                                                                                \
        run(shape);                                                                                \
    }                                                                                              \
    static void run_timed(const char *name, const long *shape)                                     \
    {                                                                                              \
        flash_backward_timed(name, shape);                                                         \
    }

/* clang-format off */
#define FLASH_BACKWARD_ROWS \
    {.name = "1x2x1x64", .run = run, .shape = {1, 2, 1, 64, 1}}, \
    {.name = "2x1x63x64", .run = run, .shape = {2, 1, 63, 64, 0}}, \
    {.name = "causal 1x2x65x64", .run = run, .shape = {1, 2, 65, 64, 1}}, \
    {.name = "1x1x130x64", .run = run, .shape = {1, 1, 130, 64, 0}}, \
    {.name = "1x1x1x128", .run = run, .shape = {1, 1, 1, 128, 0}}, \
    {.name = "causal 1x1x64x128", .run = run, .shape = {1, 1, 64, 128, 1}}, \
    {.name = "1x1x65x128", .run = run, .shape = {1, 1, 65, 128, 0}}, \
    {.name = "causal 1x1x129x128", .run = run, .shape = {1, 1, 129, 128, 1}}, \
    {.name = "any seq, 64", .run = run, .shape = {1, 1, 1, 64, 0}, .most = {2, 2, 100, 64, 1}}, \
    {.name = "any seq, 128", .run = run, .shape = {1, 1, 1, 128, 0}, .most = {2, 2, 70, 128, 1}}, \
    LONG_ROW("causal 1x1x300x64", run, 1, 1, 300, 64, 1), \
    ATTENTION_HALF_ROWS, \
    {.name = "misaligned, 64", .run = run_misaligned, .shape = {1, 2, 66, 64, 1}}, \
    {.name = "misaligned, 128", .run = run_misaligned, .shape = {1, 1, 40, 128, 0}}, \
    {.name = "another scale", .run = run_other_scale, .shape = {1, 1, 70, 64, 1}}, \
    {.name = "scores of 10000", .run = run_large_scores, .shape = {1, 1, 70, 64, 1}}, \
    {.name = "scores of -2500", .run = run_low_scores, .shape = {1, 1, 70, 64, 0}}, \
    {.name = "equal tokens", .run = run_equal_tokens, .shape = {1, 1, 100, 64, 0}}, \
    {.name = "equal tokens, causal", .run = run_equal_tokens, .shape = {1, 1, 70, 64, 1}}, \
    {.name = "nan", .run = run_nan, .shape = {1, 5, 67, 64, 0}, .once = true}, \
    {.name = "nan, 128", .run = run_nan, .shape = {1, 5, 30, 128, 0}, .once = true}, \
    GPU_ROW("causal 1x4x1000x128", run, 1, 4, 1000, 128, 1), \
    GPU_ROW("1x3x1500x64", run, 1, 3, 1500, 64, 0), \
    GPU_ROW("70001x1x3x64", run, 70001, 1, 3, 64, 1)
/* clang-format on */

#endif
