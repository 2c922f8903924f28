/* 209_transpose.c: shapes around and beyond a tile and a grid, and the transpose of a transpose;
 * its speed against a copy on the device, byte for byte. */
#include "correctness/case.h"

#include <string.h>

/* want[cols x rows] */
static double *transposed(const float *in, size_t rows, size_t cols)
{
    double *want = f64_array(rows * cols);
    for (size_t i = 0; i < rows * cols; i++) want[i % cols * rows + i / cols] = in[i];
    return want;
}

static void expect_transposed(const float *out, const float *in, size_t rows, size_t cols)
{
    const double *want = transposed(in, rows, cols);
    const layout l = {"out", cols, rows};
    expect(is_close(l, out, want, NULL, 0.0) || memcmp(out, in, rows * cols * sizeof(float)) != 0,
           "out is in as it lies: nothing was transposed");
    expect_close(l, out, want, NULL, 0.0);
}

static void call_transpose(const char *function, float *out, const float *in, const long *shape)
{
    const size_t n = (size_t)shape[0] * shape[1];
    call_cuda(function, ARGS(out_f32("out", out, n), in_f32("in", in, n), i32(shape[0]),
                             i32(shape[1]), stream()));
}

static void run_random(const long *shape)
{
    const size_t n = (size_t)shape[0] * shape[1];
    float *in = random_f32(n), *out = f32_array(n);
    if (n > 64) sprinkle_special_f32(in, n, 3);
    call_transpose("transpose", out, in, shape);
    const device_counts *c = call_counts();
    expect(n > 0 || !c || c->launches == 0,
           "out is empty, and a kernel is launched: nothing should be");
    expect_transposed(out, in, shape[0], shape[1]);
}

/* Two calls, the second with the output of the first. */
static void run_there_and_back(const long *shape)
{
    const size_t n = (size_t)shape[0] * shape[1];
    const float *in = random_f32(n);
    float *turned = f32_array(n), *back = f32_array(n);
    call_transpose("transpose", turned, in, shape);
    call_transpose("transpose", back, turned, (long[]){shape[1], shape[0]});
    expect(memcmp(back, in, n * sizeof(float)) == 0,
           "the transpose of the transpose is not the matrix");
}

static void run_timed(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0] * shape[1];
    const float *in = random_f32(n);
    float *out = f32_array(n);
    call_transpose(function, out, in, shape);
    if (strcmp(function, "transpose") == 0) expect_transposed(out, in, shape[0], shape[1]);
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
     .run = run_timed,
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
     .run = run_timed,
     .shape = {256, 192},
     .count = moved_bytes,
     .ideal = 8.0 * 256 * 192,
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 4.5},
    {.metric = {"bank conflicts", .shape = "256 × 192"},
     .function = "transpose",
     .run = run_timed,
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
