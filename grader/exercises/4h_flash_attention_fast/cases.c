/* 4h_flash_attention_fast: the cases of 409; its speed beside three kernels that store the
 * scores; no memory for scores, no work for masked ones, operands in registers. shape: batch,
 * heads, seq, dim, causal */
#include "exercises/shared/flash/flash_cases.h"

FLASH_RUNNERS("attention_flash_fast")

static const grading_case cases[] = {FLASH_ROWS, {0}};

static const speed_test speed[] = {FLASH_SPEED("attention_flash_fast", 1.5), {0}};

static const traffic_test traffic[] = {
    {.metric = {"bytes touched", .relative_to = "bytes of the arrays",
                .shape = "causal 1 × 1 × 1024 × 32"},
     .function = "attention_flash_fast",
     .run = flash_timed,
     .shape = {1, 1, 1024, 32, 1},
     .count = footprint_bytes,
     .ideal = FLASH_ARRAYS(1024, 32),
     .bound = AT_MOST,
     .wanted = 1.2},
    {.metric = {"operations", .relative_to = "those of two products", .shape = "1 × 1 × 256 × 64"},
     .function = "attention_flash_fast",
     .run = flash_timed,
     .shape = {1, 1, 256, 64, 0},
     .count = operations,
     .ideal = 4.0 * 256 * 256 * 64,
     .bound = AT_MOST,
     .wanted = 1.1},
    {.metric = {"operations", .relative_to = "those of two half products",
                .shape = "causal 1 × 1 × 1024 × 64"},
     .function = "attention_flash_fast",
     .run = flash_timed,
     .shape = {1, 1, 1024, 64, 1},
     .count = operations,
     .ideal = 2.0 * 1024 * 1024 * 64,
     .bound = AT_MOST,
     .wanted = 1.1},
    {.metric = {"DRAM bytes", .relative_to = "bytes of the arrays", .shape = "1 × 1 × 512 × 64"},
     .function = "attention_flash_fast",
     .run = flash_timed,
     .shape = {1, 1, 512, 64, 0},
     .count = moved_bytes,
     .ideal = FLASH_ARRAYS(512, 64),
     .bound = AT_MOST,
     .wanted = 6.0},
    {.metric = {"shared-memory requests", .per = "warp FMA", .shape = "1 × 1 × 256 × 64"},
     .function = "attention_flash_fast",
     .run = flash_timed,
     .shape = {1, 1, 256, 64, 0},
     .count = shared_requests,
     .ideal = 2.0 * 256 * 256 * 64 / 32,
     .bound = AT_MOST,
     .wanted = 0.2},
    {0},
};

EXERCISE(4h) = {
    .id = CHALLENGE(4, 'h'),
    .name = "flash_attention_fast",
    .file = "phase4_optimization/4h_flash_attention_fast/4h_flash_attention_fast.cu",
    .functions = {"attention_flash_fast"},
    .promises = {{"attention_flash_fast", WAITS_FOR_NOTHING | ALLOCATES_NOTHING}},
    .baseline_file = "grader/exercises/409_flash_attention/baseline.cu",
    .exponentials = true,
    .masks = true,
    .points = 15,
    .speed_points = 10,
    .see = "flash causal 1x1x65x64",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
