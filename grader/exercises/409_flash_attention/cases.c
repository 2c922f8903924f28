/* 409_flash_attention: the cases of attention without memory for its scores; what storing them
 * costs in memory and in bytes moved, of which a mask saves half. shape: batch, heads, seq, dim,
 * causal */
#include "exercises/shared/flash/flash_cases.h"

FLASH_RUNNERS("attention_flash")

static const grading_case cases[] = {FLASH_ROWS, {0}};

static const speed_test speed[] = {FLASH_SPEED("attention_flash", 1.25), {0}};

static const traffic_test traffic[] = {
    {.metric = {"bytes touched", .relative_to = "bytes of the arrays",
                .shape = "causal 1 × 1 × 1024 × 8"},
     .function = "attention_flash",
     .run = flash_timed,
     .shape = {1, 1, 1024, 8, 1},
     .count = footprint_bytes,
     .ideal = FLASH_ARRAYS(1024, 8),
     .bound = AT_MOST,
     .wanted = 1.2,
     .begin = 17},
    {.metric = {"DRAM bytes", .relative_to = "bytes of the arrays",
                .shape = "causal 1 × 1 × 1024 × 8"},
     .function = "attention_flash",
     .run = flash_timed,
     .shape = {1, 1, 1024, 8, 1},
     .count = moved_bytes,
     .ideal = FLASH_ARRAYS(1024, 8),
     .bound = AT_MOST,
     .wanted = 10,
     .begin = 998.667},
    {0},
};

EXERCISE(409) = {
    .id = 409,
    .core = true,
    .name = "flash_attention",
    .file = "phase4_optimization/409_flash_attention/409_flash_attention.cu",
    .functions = {"attention_flash"},
    .promises = {{"attention_flash", WAITS_FOR_NOTHING | ALLOCATES_NOTHING}},
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
