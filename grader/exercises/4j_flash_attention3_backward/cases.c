/* 4j_flash_attention3_backward: the gradients of attention in bf16 by TMA and wgmma, which GPUs
 * of compute capability 9.0 have, and softgpu. 4d's cases, and sizes beyond several tiles; its
 * speed beside a product's; on softgpu, which units do the work. shape: batch, heads, seq, dim,
 * causal */
#include "exercises/shared/flash/flash_backward_cases.h"

#include <math.h>

FLASH_BACKWARD_RUNNERS("attention_flash3_backward")

static const grading_case cases[] = {
    FLASH_BACKWARD_ROWS,
    LONG_ROW("1x1x400x128", run, 1, 1, 400, 128, 0),
    LONG_ROW("causal 1x1x385x128", run, 1, 1, 385, 128, 1),
    LONG_ROW("1x1x500x64", run, 1, 1, 500, 64, 0),
    LONG_ROW("causal 1x2x499x64", run, 1, 2, 499, 64, 1),
    {.name = "scores of -2500, 128", .run = run_low_scores, .shape = {1, 1, 200, 128, 0}},
    LONG_ROW("more heads than softgpu has multiprocessors, 1x20x2x128", run, 1, 20, 2, 128, 1),
    GPU_ROW("more heads than multiprocessors, 2x150x2x128", run, 2, 150, 2, 128, 1),
    GPU_ROW("causal 1x2x2049x128", run, 1, 2, 2049, 128, 1),
    {0},
};

/* ---- speed and counts ------------------------------------------------------------------------ */

static const speed_test speed[] = {
    ATTENTION_HALF_SPEED("attention_flash3_backward", 5, 2.35), /* 0.8 of cuDNN */
    {0},
};

#define COUNTED 384 /* queries, of one head of 64 */
#define WORK    (5.0 * COUNTED * COUNTED * 64)
#define PRODUCT "64 × 64 × 16 product"

/* loads_in_bulk without atomics: the contract allows them for the sums of grad_q. */
static double loads_but_sums_in_bulk(const device_counts *c)
{
    const double bulk = (double)c->bulk_load.bytes;
    return bulk / fmax(bulk + (double)(c->global_load.bytes + c->read_only.bytes), 1.0);
}

/* All arrays of bf16 begin at multiples of 16 bytes, and most at odd ones: enough for the TMA. */
static void run_at_16(const char *function, const long *shape)
{
    (void)function;
    check(random_attention(shape), 16);
}

/* Four warps make such a product by one wgmma, or half of one that is twice as wide; of mma.sync it
 * takes 32. Five products are needed, and seven if no block adds to the sums of another. */
static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = PRODUCT, .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash3_backward",
     .run = run_counted,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = tensor_instructions,
     .ideal = WORK / (64 * 64 * 16),
     .bound = AT_MOST,
     .multiplications = WORK,
     .least = 1,
     .wanted = 6,
     .begin = 45},
    {.metric = {"operations", .relative_to = "those of five products below the diagonal",
                .shape = "causal 1 × 1 × 1152 × 64"},
     .function = "attention_flash3_backward",
     .run = run_counted,
     .shape = {1, 1, 3 * COUNTED, 64, 1},
     .count = operations,
     .ideal = 9 * WORK,
     .bound = AT_MOST,
     .wanted = 2.0},
    {.metric = {"share of loads by bulk copies", .shape = "1 × 1 × 256 × 128"},
     .function = "attention_flash3_backward",
     .run = run_at_16,
     .shape = {1, 1, 256, 128, 0},
     .count = loads_but_sums_in_bulk,
     .bound = AT_LEAST,
     .wanted = 0.7},
    {.metric = {"shared-memory loads", .per = PRODUCT, .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash3_backward",
     .run = run_counted,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = shared_loads,
     .ideal = WORK / (64 * 64 * 16),
     .bound = AT_MOST,
     .wanted = 10},
    {.metric = {"bytes touched by each launch", .relative_to = "bytes of all arrays",
                .shape = "causal 1 × 1 × 1024 × 64"},
     .function = "attention_flash3_backward",
     .run = run_counted,
     .shape = {1, 1, 1024, 64, 1},
     .count = footprint_bytes,
     .ideal = 1024.0 * (8 * 64 * 2 + 4),
     .bound = AT_MOST,
     .wanted = 2.5},
    {0},
};

EXERCISE(4j) = {
    .id = CHALLENGE(4, 'j'),
    .name = "flash_attention3_backward",
    .file = "phase4_optimization/4j_flash_attention3_backward/4j_flash_attention3_backward.cu",
    .functions = {"attention_flash3_backward"},
    .promises = {{"attention_flash3_backward", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM}},
    .prerequisites = {CHALLENGE(4, 'd')},
    .sm_90a = true,
    .softgpu_90 = true,
    .baseline_file = "grader/exercises/4a_matmul_mma/baseline.cu",
    .exponentials = true,
    .masks = true,
    .points = 35,
    .speed_points = 15,
    .see = "causal 1x2x65x64",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
