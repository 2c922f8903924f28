/* 4c_flash_attention2: attention in bf16; its rate compared with a product's; what it costs on
 * tensor cores and in memory. shape: batch, heads, seq, dim, causal */
#include "exercises/shared/flash/flash_half_cases.h"

FLASH_HALF_RUNNERS("attention_flash2")

static const grading_case cases[] = {FLASH_HALF_ROWS, {0}};

static void run_timed(const char *function, const long *shape)
{
    if (!attention_half_baseline(function, shape)) run(shape);
}

static const speed_test speed[] = {
    ATTENTION_HALF_SPEED("attention_flash2", 2, 1.76), /* FlashAttention-2 */
    {0},
};

#define COUNTED 384 /* queries, of one head of 64 */

static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = "16 × 8 × 16 product", .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = tensor_instructions,
     .ideal = 4.0 * COUNTED * COUNTED * 64 / 4096,
     .bound = AT_LEAST,
     .multiplications = 2.0 * COUNTED * COUNTED * 64,
     .wanted = 1.0},
    {.metric = {"tensor instructions", .relative_to = "those of products below the diagonal",
                .shape = "causal 1 × 1 × 384 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 1},
     .count = tensor_instructions,
     .ideal = 2.0 * COUNTED * COUNTED * 64 / 4096,
     .bound = AT_MOST,
     .wanted = 1.2},
    {.metric = {"bytes touched", .relative_to = "bytes of all arrays",
                .shape = "1 × 1 × 1024 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, 1024, 64, 1},
     .count = footprint_bytes,
     .ideal = 1024.0 * (4 * 64 * 2 + 4),
     .bound = AT_MOST,
     .wanted = 1.2},
    {.metric = {"shared-memory requests", .per = "16 × 8 × 16 product",
                .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = shared_requests,
     .ideal = 4.0 * COUNTED * COUNTED * 64 / 4096,
     .bound = AT_MOST,
     .least = 0.05, /* of tiles from shared memory */
     .wanted = 0.7},
    {.metric = {"bank conflicts", .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = bank_conflicts,
     .bound = EXACTLY,
     .wanted = 0},
    {0},
};

EXERCISE(4c) = {
    .id = CHALLENGE(4, 'c'),
    .name = "flash_attention2",
    .file = "phase4_optimization/4c_flash_attention2/4c_flash_attention2.cu",
    .parts = {"phase4_optimization/4c_flash_attention2/4c_tile.cuh"},
    .functions = {"attention_flash2"},
    .promises = {{"attention_flash2", WAITS_FOR_NOTHING | ALLOCATES_NOTHING}},
    .exponentials = true,
    .masks = true,
    .baseline_file = "grader/exercises/4a_matmul_mma/baseline.cu",
    .points = 30,
    .speed_points = 15,
    .see = "causal 1x2x65x64",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
