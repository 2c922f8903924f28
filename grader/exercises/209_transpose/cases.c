/* 209_transpose: shapes around and beyond a tile and a grid, and the transpose of a transpose;
 * its speed against a copy on the device, byte for byte. */
#include "exercises/shared/transpose/transpose_cases.h"

static void run_random(const long *shape)
{
    transpose_random("transpose", shape);
}

static void run_there_and_back(const long *shape)
{
    transpose_there_and_back("transpose", shape);
}

static const grading_case cases[] = {
    {.name = "0x5", .run = run_random, .shape = {0, 5}},
    {.name = "5x0", .run = run_random, .shape = {5, 0}},
    {.name = "1x1", .run = run_random, .shape = {1, 1}},
    {.name = "2x3", .run = run_random, .shape = {2, 3}},
    {.name = "32x32", .run = run_random, .shape = {32, 32}},
    {.name = "31x33", .run = run_random, .shape = {31, 33}},
    {.name = "33x65", .run = run_random, .shape = {33, 65}},
    {.name = "96x96", .run = run_random, .shape = {96, 96}},
    {.name = "1x1000", .run = run_random, .shape = {1, 1000}},
    {.name = "1000x1", .run = run_random, .shape = {1000, 1}},
    {.name = "any_shape", .run = run_random, .shape = {2, 2}, .most = {700, 300}},
    {.name = "513x260: there and back", .run = run_there_and_back, .shape = {513, 260}},
    LONG_ROW("2100000x1: more than 65,535 tiles of 32", run_random, 2100000, 1),
    LONG_ROW("1x2100000: more than 65,535 tiles of 32", run_random, 1, 2100000),
    GPU_ROW("4096x4097", run_random, 4096, 4097),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "4096 × 4096"},
     .function = "transpose",
     .baseline = "baseline_straight_copy",
     .run = transpose_timed,
     .shape = {4096, 4096},
     .where = ON_GPU,
     .threshold = 0.6,
     .bytes = 8.0 * 4096 * 4096,
     .peer_share = 0.88,
     .peer_bytes = 8.0 * 4096 * 4096},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "256 × 192"},
     .function = "transpose",
     .run = transpose_timed,
     .shape = {256, 192},
     .count = moved_bytes,
     .ideal = 8.0 * 256 * 192,
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 4.5},
    {.metric = {"bank conflicts", .shape = "256 × 192"},
     .function = "transpose",
     .run = transpose_timed,
     .shape = {256, 192},
     .count = bank_conflicts,
     .bound = AT_MOST,
     .wanted = 0.0},
    {0},
};

EXERCISE(209) = {
    .id = 209,
    .core = true,
    .name = "transpose",
    .file = "phase2_cuda_basics/209_transpose/209_transpose.cu",
    .functions = {"transpose"},
    .baseline_file = "grader/exercises/209_transpose/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
    .see = "33x65",
};
