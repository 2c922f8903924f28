/* 306_conv2d: cases of convolution with a thread per output, and its speed against the same
 * kernel with filters and columns of threads exchanged. */
#include "exercises/shared/conv_cases.h"

static void call_forward(argument y, argument x, argument w, argument bias, const conv_shape *c)
{
    conv_forward("conv2d_forward", y, x, w, bias, c);
}

CONV_RUNNERS(call_forward)

static const grading_case cases[] = {
    CONV_ROWS, CONV_ANY(6, 5, 9), CONV_LONG_ROWS, CONV_GPU_ROWS, {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "the kernel with filters fastest",
                .shape = "8 × 64 × 56 × 56, 64 filters of 3 × 3"},
     .function = "conv2d_forward",
     .baseline = "baseline_conv2d_filters_fastest",
     .run = conv_forward_timed,
     .shape = {8, 64, 56, 56, 64, 3, 3, 1, 1},
     .varied = 4,
     .where = ON_GPU,
     .threshold = 3.5,
     .flop = 2.0 * 8 * 64 * 64 * 9 * 56 * 56,
     .peer_share = 0.0074},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"sectors", .per = "request", .shape = "1 × 8 × 16 × 32, 32 filters of 3 × 3"},
     .function = "conv2d_forward",
     .run = conv_forward_timed,
     .shape = {1, 8, 16, 32, 32, 3, 3, 1, 1},
     .count = sectors_per_request,
     .bound = AT_MOST,
     .wanted = 4.5},
    {.metric = {"reduction in DRAM bytes", .over = "the kernel with filters fastest",
                .shape = "1 × 8 × 16 × 32, 32 filters of 3 × 3"},
     .function = "conv2d_forward",
     .baseline = "baseline_conv2d_filters_fastest",
     .run = conv_forward_timed,
     .shape = {1, 8, 16, 32, 32, 3, 3, 1, 1},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 4.0},
    {0},
};

EXERCISE(306) = {
    .id = 306,
    .core = true,
    .name = "conv2d",
    .file = "phase3_layers/306_conv2d/306_conv2d.cu",
    .functions = {"conv2d_forward"},
    .baseline_file = "grader/exercises/306_conv2d/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
