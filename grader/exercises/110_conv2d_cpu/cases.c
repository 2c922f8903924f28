/* 110_conv2d_cpu: cases of convolution by its definition and by im2col, of im2col and its way
 * back by themselves, and the speed of the one against the other. */
#include "exercises/shared/conv_cases.h"

#include <math.h>
#include <string.h>

static size_t columns_size(const conv_shape *c)
{
    return (size_t)(c->in_channels * c->kernel_h * c->kernel_w * c->out_h * c->out_w);
}

static void call_direct(argument y, argument x, argument w, argument bias, const conv_shape *c)
{
    call_void("conv2d_cpu", ARGS(y, x, w, bias, CONV_SHAPE(c)));
}

static void call_im2col(argument y, argument x, argument w, argument bias, const conv_shape *c)
{
    const size_t size = columns_size(c);
    argument scratch = out_f32("columns", f32_array(size), size);
    call_void("conv2d_cpu_im2col", ARGS(y, scratch, x, w, bias, CONV_SHAPE(c)));
}

/* Every case is one of both. */
static void run_random(const long *shape)
{
    conv_random(call_direct, shape, true);
    conv_random(call_im2col, shape, true);
}

static void run_without_bias(const long *shape)
{
    conv_random(call_direct, shape, false);
    conv_random(call_im2col, shape, false);
}

static void run_ones(const long *shape)
{
    conv_ones(call_direct, shape);
    conv_ones(call_im2col, shape);
}

static void run_impulse(const long *shape)
{
    conv_impulse(call_direct, shape);
    conv_impulse(call_im2col, shape);
}

static void run_nan(const long *shape)
{
    conv_nan(call_direct, shape);
    conv_nan(call_im2col, shape);
}

static void run_direct_only(const long *shape)
{
    conv_random(call_direct, shape, true);
}

static void call_columns(const char *function, argument to, argument from, const conv_shape *c)
{
    call_void(function, ARGS(to, from, i32((int)c->in_channels), i32((int)c->in_h),
                             i32((int)c->in_w), i32((int)c->kernel_h), i32((int)c->kernel_w),
                             i32((int)c->stride), i32((int)c->pad)));
}

/* The element of x of which columns has a copy there; -1 in the padding. */
static long pixel_of(const conv_shape *c, size_t at)
{
    const long pixels = c->out_h * c->out_w, f = (long)at / pixels, p = (long)at % pixels;
    const long s = f % c->kernel_w, r = f / c->kernel_w % c->kernel_h;
    const long row = p / c->out_w * c->stride - c->pad + r;
    const long col = p % c->out_w * c->stride - c->pad + s;
    const long channel = f / c->kernel_w / c->kernel_h;
    const bool inside = row >= 0 && row < c->in_h && col >= 0 && col < c->in_w;
    return inside ? (channel * c->in_h + row) * c->in_w + col : -1;
}

/* columns [(c, r, s) x (i, j)], element by element. */
static void run_im2col(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const size_t size = columns_size(&c), pixels = (size_t)(c.out_h * c.out_w);
    float *columns = f32_array(size), *x = random_f32(c.x_size);
    double *want = f64_array(size);
    for (size_t at = 0; at < size; at++) {
        const long pixel = pixel_of(&c, at);
        if (pixel >= 0) want[at] = x[pixel];
    }
    call_columns("im2col_cpu", out_f32("columns", columns, size), in_f32("x", x, c.x_size), &c);
    expect_close((layout){"columns", size / pixels, pixels}, columns, want, NULL, 0.0);
}

/* x, the sums of its copies; exactly 0 where there is none. */
static void run_col2im(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const size_t size = columns_size(&c), rows = (size_t)(c.in_channels * c.in_h);
    float *x = f32_array(c.x_size), *columns = random_f32(size);
    double *want = f64_array(c.x_size), *scale = f64_array(c.x_size), *last = f64_array(c.x_size);
    for (size_t at = 0; at < size; at++) {
        const long pixel = pixel_of(&c, at);
        if (pixel < 0) continue;
        want[pixel] += columns[at];
        scale[pixel] += fabs(columns[at]);
        last[pixel] = columns[at];
    }
    call_columns("col2im_cpu", out_f32("x", x, c.x_size), in_f32("columns", columns, size), &c);
    suspect("col2im stores (=) where windows overlap: it must add (+=)", last);
    expect_close((layout){"x", rows, (size_t)c.in_w}, x, want, scale, FP32_SUM_TOLERANCE);
}

/* Of one image the columns, too. */
static void run_each(const long *shape)
{
    long one[SHAPE_MAX];
    memcpy(one, shape, sizeof one);
    one[0] = 1;
    run_random(shape);
    run_im2col(one);
    run_col2im(one);
}

static void run_any(const long *shape)
{
    conv_any(shape, run_each);
}

static const grading_case cases[] = {
    CONV_ROWS,
    CONV_ANY(6, 5, 9),
    CONV_LONG_ROWS,
    {.name = "im2col of 2x5x6, 3x2, pad 1",
     .run = run_im2col,
     .shape = {1, 2, 5, 6, 1, 3, 2, 1, 1},
     .part = "im2col_cpu"},
    {.name = "im2col of 3x9x10, 5x5, stride 2, pad 2",
     .run = run_im2col,
     .shape = {1, 3, 9, 10, 1, 5, 5, 2, 2}},
    {.name = "im2col of 2x3x2, 4x4, stride 2, pad 1",
     .run = run_im2col,
     .shape = {1, 2, 3, 2, 1, 4, 4, 2, 1}},
    {.name = "col2im of 3x8x7, 3x3, pad 1",
     .run = run_col2im,
     .shape = {1, 3, 8, 7, 1, 3, 3, 1, 1},
     .part = "col2im_cpu"},
    {.name = "col2im of 2x17x20, 7x7, stride 2, pad 3",
     .run = run_col2im,
     .shape = {1, 2, 17, 20, 1, 7, 7, 2, 3}},
    {.name = "im2col of 1100x2x3, 1x1",
     .run = run_im2col,
     .shape = {1, 1100, 2, 3, 1, 1, 1, 1, 0},
     .part = "im2col_cpu"},
    {.name = "im2col of 1x1100x1100, 1x1",
     .run = run_im2col,
     .shape = {1, 1, 1100, 1100, 1, 1, 1, 1, 0}},
    {.name = "col2im of 1100x2x3, 1x1, stride 2",
     .run = run_col2im,
     .shape = {1, 1100, 2, 3, 1, 1, 1, 2, 0},
     .part = "col2im_cpu"},
    {.name = "col2im of 1x1100x1100, 1x1",
     .run = run_col2im,
     .shape = {1, 1, 1100, 1100, 1, 1, 1, 1, 0}},
    {.name = "1x3x224x224 by 2 of 7x7, stride 2, pad 3",
     .run = run_direct_only,
     .shape = {1, 3, 224, 224, 2, 7, 7, 2, 3},
     .part = "conv2d_cpu"},
    {0},
};

/* One image. A baseline is called likewise, and believed. */
static void run_timed(const char *function, const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const size_t size = columns_size(&c), channels = (size_t)c.out_channels;
    const float *x = random_f32(c.x_size), *w = random_f32(c.w_size), *bias = random_f32(channels);
    float *y = f32_array(c.y_size);
    argument scratch = out_f32("columns", f32_array(size), size);
    call_void(function,
              ARGS(out_f32("y", y, c.y_size), scratch, in_f32("x", x, c.x_size),
                   in_f32("w", w, c.w_size), in_f32("bias", bias, channels), CONV_SHAPE(&c)));
    if (strncmp(function, "baseline_", 9) != 0) expect_conv2d(y, x, w, bias, &c);
}

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "the seven loops", .shape = "64 × 28 × 28, 64 filters of 3 × 3"},
     .function = "conv2d_cpu_im2col",
     .baseline = "baseline_conv2d_direct",
     .run = run_timed,
     .shape = {1, 64, 28, 28, 64, 3, 3, 1, 1},
     .where = ON_HOST,
     .threshold = 20.0,
     .varied = 4,
     .flop = 2.0 * 64 * 64 * 9 * 28 * 28,
     .peer_share = 1.0},
    {0},
};

EXERCISE(110) = {
    .id = 110,
    .name = "conv2d_cpu",
    .file = "phase1_cpu/110_conv2d_cpu/110_conv2d_cpu.c",
    .functions = {"conv2d_cpu", "im2col_cpu", "col2im_cpu", "conv2d_cpu_im2col"},
    .prerequisites = {106},
    .baseline_file = "grader/exercises/110_conv2d_cpu/baseline.c",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
};
