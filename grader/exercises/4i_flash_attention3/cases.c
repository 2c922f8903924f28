/* 4i_flash_attention3.c: attention in bf16 by TMA and wgmma, which GPUs of compute capability 9.0
 * have, and softgpu. 4c's cases, and sizes beyond several tiles; its speed against 4c; on softgpu,
 * which units do the work. shape: batch, heads, seq, dim, causal */
#include "exercises/shared/flash/flash_half_cases.h"

#include <string.h>

FLASH_HALF_RUNNERS("attention_flash3")

static const grading_case cases[] = {
    FLASH_HALF_ROWS,
    {.name = "1x1x400x128", .run = run, .shape = {1, 1, 400, 128, 0}},
    {.name = "causal 1x2x385x64", .run = run, .shape = {1, 2, 385, 64, 1}},
    {.name = "causal 1x1x513x128", .run = run, .shape = {1, 1, 513, 128, 1}},
    {.name = "rising scores, 128", .run = run_rising, .shape = {1, 1, 300, 128, 1}},
    LONG_ROW("more heads than multiprocessors, 2x150x2x128", run, 2, 150, 2, 128, 1),
    {0},
};

/* ---- speed and counts ------------------------------------------------------------------------ */

/* A baseline has 4c's signature. */
static void run_timed(const char *function, const long *shape)
{
    if (strncmp(function, "baseline_", 9) == 0)
        flash_half_check(function, random_attention(shape), 0);
    else
        run(shape);
}

static const speed_test speed[] = {
    {0},
};

#define COUNTED 384 /* queries, of one head of 64 */
#define PRODUCT "64 × 128 × 16 product"

static const traffic_test traffic[] = {
    {0},
};

EXERCISE(4i) = {
    .id = CHALLENGE(4, 'i'),
    .name = "flash_attention3",
    .file = "phase4_optimization/4i_flash_attention3/4i_flash_attention3.cu",
    .functions = {"attention_flash3"},
    .promises = {{"attention_flash3", WAITS_FOR_NOTHING | ALLOCATES_NOTHING}},
    .prerequisites = {CHALLENGE(4, 'c')},
    .sm_90a = true,
    .softgpu_90 = true,
    .exponentials = true,
    .masks = true,
    .points = 30,
    .speed_points = 15,
    .see = "causal 1x2x65x64",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
