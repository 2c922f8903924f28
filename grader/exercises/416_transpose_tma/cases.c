/* 416_transpose_tma: cases of the transpose by the TMA: shapes beside its tiles, rows of whole 16
 * bytes and others; more tiles than blocks. Its speed against a copy on the device, byte for byte;
 * on softgpu, which units bring the bytes, and what the tile costs in the banks. */
#include "exercises/shared/transpose/transpose_cases.h"

static void run_random(const long *shape)
{
    transpose_random("transpose_tma", shape);
}

static void run_aligned(const long *shape)
{
    transpose_aligned("transpose_tma", shape);
}

/* Of a shape that counts columns in fours: all rows begin at multiples of 16 bytes. */
static void run_fours(const long *shape)
{
    run_aligned((long[]){shape[0], 4 * shape[1]});
}

static void run_there_and_back(const long *shape)
{
    transpose_there_and_back("transpose_tma", shape);
}

static const grading_case cases[] = {
    {.name = "0x8", .run = run_random, .shape = {0, 8}},
    {.name = "8x0", .run = run_random, .shape = {8, 0}},
    {.name = "1x1", .run = run_random, .shape = {1, 1}},
    {.name = "1x4", .run = run_random, .shape = {1, 4}},
    {.name = "64x32", .run = run_random, .shape = {64, 32}},
    {.name = "63x28", .run = run_random, .shape = {63, 28}},
    {.name = "65x36", .run = run_random, .shape = {65, 36}},
    {.name = "33x65", .run = run_random, .shape = {33, 65}},
    {.name = "96x96", .run = run_aligned, .shape = {96, 96}},
    {.name = "any_shape", .run = run_random, .shape = {2, 2}, .most = {300, 300}},
    {.name = "any_rows_of_16_bytes", .run = run_fours, .shape = {2, 1}, .most = {300, 75}},
    {.name = "512x260: there and back", .run = run_there_and_back, .shape = {512, 260}},
    {.name = "more tiles than blocks, 1030x520", .run = run_random, .shape = {1030, 520}},
    LONG_ROW("65540x4", run_random, 65540, 4),
    LONG_ROW("4x65540", run_random, 4, 65540),
    {.name = "4096x4100", .run = run_random, .shape = {4096, 4100}, .where = ON_GPU, .once = true},
    {0},
};

/* An H200 reaches 0.94 of a copy (0.91 to 0.96); of that 0.85 is asked. 209 reaches 0.81 without the
 * TMA: who uses it the counts tell. */
static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "4096 × 4096"},
     .function = "transpose_tma",
     .baseline = "baseline_device_copy",
     .run = transpose_timed,
     .shape = {4096, 4096},
     .where = ON_GPU,
     .threshold = 0.9,
     .capability = 90,
     .bytes = 8.0 * 4096 * 4096,
     .peer_share = 0.88,
     .peer_bytes = 8.0 * 4096 * 4096},
    {0},
};

#define COUNTED .function = "transpose_tma", .run = transpose_timed, .shape = {256, 192}

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "256 × 192"},
     COUNTED,
     .count = moved_bytes,
     .ideal = 8.0 * 256 * 192,
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 4.5},
    {.metric = {"share of loads by bulk copies", .shape = "256 × 192"},
     .function = "transpose_tma",
     .run = transpose_to_any_address, /* the TMA may bring what it could not store */
     .shape = {256, 192},
     .count = loads_in_bulk,
     .bound = AT_LEAST,
     .wanted = 0.99},
    {.metric = {"bank conflicts", .shape = "256 × 192"},
     COUNTED,
     .count = bank_conflicts,
     .bound = AT_MOST,
     .wanted = 0},
    {0},
};

EXERCISE(416) = {
    .id = 416,
    .name = "transpose_tma",
    .file = "phase4_optimization/416_transpose_tma/416_transpose_tma.cu",
    .functions = {"transpose_tma"},
    .prerequisites = {209},
    .sm_90a = true,
    .softgpu_90 = true,
    .baseline_file = "grader/exercises/416_transpose_tma/baseline.cu",
    .points = 15,
    .speed_points = 10,
    .see = "65x36",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
