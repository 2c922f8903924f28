/* 307_conv2d_implicit_gemm: cases of convolution as a product of matrices, and its speed against
 * a thread per output. */
#include "exercises/shared/conv_cases.h"

static void call_gemm(argument y, argument x, argument w, argument bias, const conv_shape *c)
{
    conv_forward("conv2d_implicit_gemm", y, x, w, bias, c);
}

CONV_RUNNERS(call_gemm)

static const grading_case cases[] = {
    CONV_ROWS,
    CONV_ANY(3, 9, 140),
    CONV_LONG_ROWS,
    {.name = "2x7x13x11 by 65 of 3x3, pad 1",
     .run = run_random,
     .shape = {2, 7, 13, 11, 65, 3, 3, 1, 1}},
    {.name = "5x33x7x7 by 31 of 3x3, stride 2, pad 1",
     .run = run_random,
     .shape = {5, 33, 7, 7, 31, 3, 3, 2, 1}},
    {.name = "3x129x5x4 by 10 of 1x1", .run = run_random, .shape = {3, 129, 5, 4, 10, 1, 1, 1, 0}},
    CONV_GPU_ROWS,
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one thread per output",
                .shape = "16 × 128 × 28 × 28, 128 filters of 3 × 3"},
     .function = "conv2d_implicit_gemm",
     .baseline = "baseline_conv2d_direct",
     .run = conv_forward_timed,
     .shape = {16, 128, 28, 28, 128, 3, 3, 1, 1},
     .varied = 4,
     .where = ON_GPU,
     .threshold = 4.5,
     .flop = 2.0 * 16 * 128 * 128 * 9 * 28 * 28,
     .peer_share = 0.033},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"reduction in DRAM bytes", .over = "one thread per output",
                .shape = "2 × 16 × 16 × 16, 64 filters of 3 × 3"},
     .function = "conv2d_implicit_gemm",
     .baseline = "baseline_conv2d_direct",
     .run = conv_forward_timed,
     .shape = {2, 16, 16, 16, 64, 3, 3, 1, 1},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 10.0},
    {.metric = {"bank conflicts", .per = "warp FMA",
                .shape = "2 × 16 × 16 × 16, 64 filters of 3 × 3"},
     .function = "conv2d_implicit_gemm",
     .run = conv_forward_timed,
     .shape = {2, 16, 16, 16, 64, 3, 3, 1, 1},
     .count = bank_conflicts,
     .ideal = 2.0 * 64 * 16 * 16 * (16 * 3 * 3) / 32,
     .bound = AT_MOST,
     .wanted = 0.2,
     .begin = 7.5},
    {0},
};

EXERCISE(307) = {
    .id = 307,
    .name = "conv2d_implicit_gemm",
    .file = "phase3_layers/307_conv2d_implicit_gemm/307_conv2d_implicit_gemm.cu",
    .functions = {"conv2d_implicit_gemm"},
    .promises = {{"conv2d_implicit_gemm", WAITS_FOR_NOTHING | ALLOCATES_NOTHING, 0}},
    .baseline_file = "grader/exercises/306_conv2d/baseline.cu",
    .points = 10,
    .speed_points = 10,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
