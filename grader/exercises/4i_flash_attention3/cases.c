/* 4i_flash_attention3: attention in bf16 by TMA and wgmma, which GPUs of compute capability 9.0
 * have, and softgpu. 4c's cases, and sizes beyond several tiles; its speed against 4c; on softgpu,
 * which units do the work. shape: batch, heads, seq, dim, causal */
#include "exercises/shared/flash/flash_half_cases.h"

FLASH_HALF_RUNNERS("attention_flash3")

static const grading_case cases[] = {
    FLASH_HALF_ROWS,
    {.name = "1x1x400x128", .run = run, .shape = {1, 1, 400, 128, 0}},
    {.name = "causal 1x2x385x64", .run = run, .shape = {1, 2, 385, 64, 1}},
    {.name = "causal 1x1x513x128", .run = run, .shape = {1, 1, 513, 128, 1}},
    {.name = "another scale, 128", .run = run_other_scale, .shape = {1, 1, 70, 128, 1}},
    {.name = "rising scores, 128", .run = run_rising, .shape = {1, 1, 300, 128, 1}},
    {.name = "falling scores, 128", .run = run_falling, .shape = {1, 1, 300, 128, 1}},
    LONG_ROW("more heads than multiprocessors, 2x150x2x128", run, 2, 150, 2, 128, 1),
    {0},
};

/* ---- speed and counts ------------------------------------------------------------------------ */

static void run_timed(const char *function, const long *shape)
{
    if (!attention_half_baseline(function, shape)) run(shape);
}

static const speed_test speed[] = {
    ATTENTION_HALF_SPEED("attention_flash3", 2, 3.6), /* cuDNN */
    {0},
};

#define COUNTED 384 /* queries, of one head of 64 */
#define PRODUCT "64 × 64 × 16 product"

/* All arrays of bf16 begin at multiples of 16 bytes, and most at odd ones: enough for the TMA. */
static void run_at_16(const char *function, const long *shape)
{
    (void)function;
    check(random_attention(shape), 16);
}

/* Four warps make such a product by one wgmma, or half of one that is twice as wide; of mma.sync it
 * takes 32. */
static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = PRODUCT, .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash3",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = tensor_instructions,
     .ideal = 2.0 * COUNTED * COUNTED * 64 / (64 * 64 * 16),
     .bound = AT_MOST,
     .multiplications = 2.0 * COUNTED * COUNTED * 64,
     .least = 1,
     .wanted = 4,
     .begin = 32},
    {.metric = {"operations", .relative_to = "those below the diagonal",
                .shape = "causal 1 × 1 × 1152 × 64"},
     .function = "attention_flash3",
     .run = run_timed,
     .shape = {1, 1, 3 * COUNTED, 64, 1},
     .count = operations,
     .ideal = 2.0 * 9 * COUNTED * COUNTED * 64,
     .bound = AT_MOST,
     .wanted = 1.5},
    {.metric = {"share of loads by bulk copies", .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash3",
     .run = run_at_16,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = loads_in_bulk,
     .bound = AT_LEAST,
     .wanted = 0.99},
    {.metric = {"shared-memory loads", .per = PRODUCT, .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash3",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = shared_loads,
     .ideal = 2.0 * COUNTED * COUNTED * 64 / (64 * 64 * 16),
     .bound = AT_MOST,
     .wanted = 0.5}, /* out may go through shared memory when it is stored */
    {.metric = {"bytes touched", .relative_to = "bytes of all arrays",
                .shape = "causal 1 × 1 × 1024 × 64"},
     .function = "attention_flash3",
     .run = run_timed,
     .shape = {1, 1, 1024, 64, 1},
     .count = footprint_bytes,
     .ideal = 1024.0 * (4 * 64 * 2 + 4),
     .bound = AT_MOST,
     .wanted = 1.2},
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
    .baseline_file = "grader/exercises/4a_matmul_mma/baseline.cu",
    .exponentials = true,
    .masks = true,
    .points = 30,
    .speed_points = 15,
    .see = "causal 1x2x65x64",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
