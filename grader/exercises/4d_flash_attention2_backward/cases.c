/* 4d_flash_attention2_backward: the gradients of attention in bf16, given what the forward pass
 * left; its rate beside that of a product. shape: batch, heads, seq, dim, causal */
#include "exercises/shared/flash/flash_backward_cases.h"

FLASH_BACKWARD_RUNNERS("attention_flash2_backward")

static const grading_case cases[] = {FLASH_BACKWARD_ROWS, {0}};

/* ---- speed and counts ------------------------------------------------------------------------ */

static const speed_test speed[] = {
    ATTENTION_HALF_SPEED("attention_flash2_backward", 5, 1.1), /* 0.7 of FlashAttention-2 */
    {0},
};

#define COUNTED  256                                       /* queries, of one head of 64 */
#define PRODUCTS (5 * 2.0 * COUNTED * COUNTED * 64 / 4096) /* five, of instructions */

static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .relative_to = "those of five products",
                .shape = "1 × 1 × 256 × 64"},
     .function = "attention_flash2_backward",
     .run = run_counted,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = tensor_instructions,
     .ideal = PRODUCTS,
     .bound = AT_LEAST,
     .multiplications = PRODUCTS * 2048,
     .wanted = 1.0},
    {.metric = {"tensor instructions", .relative_to = "those of five products below the diagonal",
                .shape = "causal 1 × 1 × 256 × 64"},
     .function = "attention_flash2_backward",
     .run = run_counted,
     .shape = {1, 1, COUNTED, 64, 1},
     .count = tensor_instructions,
     .ideal = PRODUCTS / 2,
     .bound = AT_MOST,
     .wanted = 2.1},
    {.metric = {"bytes touched by each launch", .relative_to = "bytes of all arrays",
                .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash2_backward",
     .run = run_counted,
     .shape = {1, 1, 384, 64, 0},
     .count = footprint_bytes,
     .ideal = 384.0 * (8 * 64 * 2 + 4),
     .bound = AT_MOST,
     .wanted = 2.5},
    {.metric = {"shared-memory requests", .per = "16 × 8 × 16 product",
                .shape = "1 × 1 × 256 × 64"},
     .function = "attention_flash2_backward",
     .run = run_counted,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = shared_requests,
     .ideal = PRODUCTS,
     .bound = AT_MOST,
     .least = 0.05, /* of tiles from shared memory */
     .wanted = 1.3},
    {.metric = {"bank conflicts", .shape = "1 × 1 × 256 × 64"},
     .function = "attention_flash2_backward",
     .run = run_counted,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = bank_conflicts,
     .bound = EXACTLY,
     .wanted = 0},
    {0},
};

EXERCISE(4d) = {
    .id = CHALLENGE(4, 'd'),
    .name = "flash_attention2_backward",
    .file = "phase4_optimization/4d_flash_attention2_backward/4d_flash_attention2_backward.cu",
    .includes = {"phase4_optimization/4c_flash_attention2/4c_tile.cuh"},
    .functions = {"attention_flash2_backward"},
    .promises = {{"attention_flash2_backward", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM}},
    .prerequisites = {CHALLENGE(4, 'c')},
    .own_prerequisites = true,
    .exponentials = true,
    .masks = true,
    .baseline_file = "grader/exercises/4a_matmul_mma/baseline.cu",
    .points = 35,
    .speed_points = 15,
    .see = "causal 1x2x65x64",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
