/* 308_conv2d_backward: the gradients of a convolution against references in double, by the
 * adjoint identity, by central differences, one by one and in the same bits; strides that leave
 * pixels out; speed against atomics. */
#include "exercises/shared/conv_cases.h"

#include <math.h>
#include <string.h>

#define SAMPLES 16 /* coordinates of x and of w that are moved */

typedef struct gradients {
    float *x, *w, *bias; /* NULL: not asked for */
} gradients;

static gradients all_of(const conv_shape *c)
{
    return (gradients){f32_array(c->x_size), f32_array(c->w_size),
                       f32_array((size_t)c->out_channels)};
}

static argument wanted(const char *name, float *gradient, size_t count)
{
    return gradient ? out_f32(name, gradient, count) : null_pointer();
}

static void call_backward(const char *function, const gradients *g, const float *grad_y,
                          const float *x, const float *w, const conv_shape *c)
{
    call_cuda(function, ARGS(wanted("grad_x", g->x, c->x_size), wanted("grad_w", g->w, c->w_size),
                             wanted("grad_bias", g->bias, (size_t)c->out_channels),
                             in_f32("grad_y", grad_y, c->y_size), in_f32("x", x, c->x_size),
                             in_f32("w", w, c->w_size), CONV_SHAPE(c), stream()));
}

/* ---- references ------------------------------------------------------------------------------ */

/* Gradients, and the sums of the absolute terms of each. */
typedef struct reference {
    double *x, *w, *bias, *x_scale, *w_scale, *bias_scale;
} reference;

static void add(double *sum, double *scale, double term)
{
    *sum += term;
    *scale += fabs(term);
}

/* One output hands its gradient to every pixel and weight that made it. */
static void spread(reference *r, double grad, const float *x, const float *w, size_t image,
                   size_t filter, long top, long left, const conv_shape *c)
{
    for (long channel = 0; channel < c->in_channels; channel++) {
        for (long tap = 0; tap < c->kernel_h * c->kernel_w; tap++) {
            const long row = top + tap / c->kernel_w, col = left + tap % c->kernel_w;
            if (row < 0 || row >= c->in_h || col < 0 || col >= c->in_w) continue;
            const size_t pixel =
                (size_t)(((long)image * c->in_channels + channel) * c->in_h + row) *
                    (size_t)c->in_w +
                (size_t)col;
            const size_t weight =
                (size_t)(((long)filter * c->in_channels + channel) * c->kernel_h * c->kernel_w +
                         tap);
            add(&r->x[pixel], &r->x_scale[pixel], grad * w[weight]);
            add(&r->w[weight], &r->w_scale[weight], grad * x[pixel]);
        }
    }
}

/* How far the windows move, and how far the padding moves them back: of rows, of columns. */
typedef struct moves {
    long stride[2], pad[2];
} moves;

static moves moves_of(const conv_shape *c)
{
    return (moves){{c->stride, c->stride}, {c->pad, c->pad}};
}

static reference reference_backward(const float *grad_y, const float *x, const float *w,
                                    const conv_shape *c, moves m)
{
    const size_t filters = (size_t)c->out_channels, outputs = (size_t)(c->out_h * c->out_w);
    reference r = {f64_array(c->x_size), f64_array(c->w_size), f64_array(filters),
                   f64_array(c->x_size), f64_array(c->w_size), f64_array(filters)};
    for (size_t i = 0; i < c->y_size; i++) {
        const size_t plane = i / outputs, filter = plane % filters;
        const long at = (long)(i % outputs);
        spread(&r, grad_y[i], x, w, plane / filters, filter, at / c->out_w * m.stride[0] - m.pad[0],
               at % c->out_w * m.stride[1] - m.pad[1], c);
        add(&r.bias[filter], &r.bias_scale[filter], grad_y[i]);
    }
    return r;
}

/* The batch is so many times the first image; or pad or stride is forgotten. */
static void suspect_backward(const float *grad_y, const float *x, const float *w,
                             const conv_shape *c, double *(*of)(const reference *), size_t count)
{
    if (c->batch == 0) return; /* all are 0 */
    conv_shape first = *c;
    first.batch = 1, first.y_size = c->y_size / (size_t)c->batch;
    const reference one = reference_backward(grad_y, x, w, &first, moves_of(c));
    double *repeated = f64_array(count);
    for (size_t i = 0; i < count; i++) repeated[i] = (double)c->batch * of(&one)[i];
    if (c->batch > 1)
        suspect("every image is read as the first: the image's index is not used", repeated);
    for (int sides = 1; sides < 4; sides++) {
        moves no_pad = moves_of(c), no_stride = no_pad;
        for (int s = 0; s < 2; s++) {
            if (sides >> s & 1) no_pad.pad[s] = 0, no_stride.stride[s] = 1;
        }
        const reference unmoved = reference_backward(grad_y, x, w, c, no_pad);
        const reference near = reference_backward(grad_y, x, w, c, no_stride);
        if (c->pad > 0) suspect("pad is left out for rows, columns or both", of(&unmoved));
        if (c->stride > 1) suspect("stride is left out for rows, columns or both", of(&near));
    }
}

static double *of_x(const reference *r)
{
    return r->x;
}

static double *of_w(const reference *r)
{
    return r->w;
}

static double *of_bias(const reference *r)
{
    return r->bias;
}

static void expect_gradients(const gradients *g, const float *grad_y, const float *x,
                             const float *w, const conv_shape *c)
{
    const reference r = reference_backward(grad_y, x, w, c, moves_of(c));
    const layout filters = {"grad_bias", 1, (size_t)c->out_channels};
    const layout pixels = {"grad_x", (size_t)(c->batch * c->in_channels * c->in_h),
                           (size_t)c->in_w};
    const layout weights = {"grad_w", (size_t)c->out_channels,
                            (size_t)(c->in_channels * c->kernel_h * c->kernel_w)};
    if (g->bias && !is_close(filters, g->bias, r.bias, r.bias_scale, FP32_SUM_TOLERANCE))
        suspect_backward(grad_y, x, w, c, of_bias, filters.rows * filters.cols);
    if (g->bias) expect_close(filters, g->bias, r.bias, r.bias_scale, FP32_SUM_TOLERANCE);
    if (g->w && !is_close(weights, g->w, r.w, r.w_scale, FP32_SUM_TOLERANCE))
        suspect_backward(grad_y, x, w, c, of_w, weights.rows * weights.cols);
    if (g->w) expect_close(weights, g->w, r.w, r.w_scale, FP32_SUM_TOLERANCE);
    if (g->x && !is_close(pixels, g->x, r.x, r.x_scale, FP32_SUM_TOLERANCE))
        suspect_backward(grad_y, x, w, c, of_x, pixels.rows * pixels.cols);
    if (g->x) expect_close(pixels, g->x, r.x, r.x_scale, FP32_SUM_TOLERANCE);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void backward(const gradients *g, const conv_shape *c)
{
    const float *grad_y = random_f32(c->y_size), *x = random_f32(c->x_size);
    const float *w = random_f32(c->w_size);
    call_backward("conv2d_backward", g, grad_y, x, w, c);
    expect_gradients(g, grad_y, x, w, c);
}

static void run_all(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const gradients g = all_of(&c);
    backward(&g, &c);
}

/* Without padding, so that it is clear what a NaN in grad_y and an infinity in x take part in. */
static void run_nan(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const gradients g = all_of(&c);
    float *grad_y = random_f32(c.y_size), *x = random_f32(c.x_size), *w = random_f32(c.w_size);
    sprinkle_f32(x, c.x_size, INFINITY, 1);
    sprinkle_f32(grad_y, c.y_size, NAN, 1);
    call_backward("conv2d_backward", &g, grad_y, x, w, &c);
    expect_gradients(&g, grad_y, x, w, &c);
}

/* The same of w. They are in the middle, where no pixel of the padding meets them. */
static void run_special_weights(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const gradients g = all_of(&c);
    const float *grad_y = random_f32(c.y_size), *x = random_f32(c.x_size);
    float *w = random_f32(c.w_size);
    const size_t taps = (size_t)(c.kernel_h * c.kernel_w);
    w[taps / 2] = -INFINITY;             /* of the first filter and channel */
    w[c.w_size - taps + taps / 2] = NAN; /* of the last ones */
    call_backward("conv2d_backward", &g, grad_y, x, w, &c);
    expect_gradients(&g, grad_y, x, w, &c);
}

static void run_any(const long *shape)
{
    conv_any(shape, run_all);
}

static void run_grad_x_alone(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const gradients g = {.x = f32_array(c.x_size)};
    backward(&g, &c);
}

static void run_grad_w_alone(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const gradients g = {.w = f32_array(c.w_size)};
    backward(&g, &c);
}

static double dot(const float *a, const double *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static double *as_double(const float *x, size_t count)
{
    double *copy = f64_array(count);
    for (size_t i = 0; i < count; i++) copy[i] = x[i];
    return copy;
}

/* y is linear in x and in w: <grad_x, x> = <grad_y, y> = <grad_w, w>. */
static void run_adjoint(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const gradients g = all_of(&c);
    const float *grad_y = random_f32(c.y_size), *x = random_f32(c.x_size);
    const float *w = random_f32(c.w_size);
    double *y = f64_array(c.y_size), *scale = f64_array(c.y_size);
    call_backward("conv2d_backward", &g, grad_y, x, w, &c);
    reference_conv2d(y, scale, x, w, NULL, &c);
    const double want = dot(grad_y, y, c.y_size);
    expect_near("<grad_x, x> against <grad_y, y>", dot(g.x, as_double(x, c.x_size), c.x_size), want,
                1e-4);
    expect_near("<grad_w, w> against <grad_y, y>", dot(g.w, as_double(w, c.w_size), c.w_size), want,
                1e-4);
}

/* <grad_y, y> with one element of x or of w moved by `step`: linear in it, so a long step is exact.
 */
static double loss(const float *grad_y, const float *x, const float *w, const conv_shape *c,
                   float *moved, float step)
{
    double *y = f64_array(c->y_size), *scale = f64_array(c->y_size);
    const float before = *moved;
    *moved += step;
    reference_conv2d(y, scale, x, w, NULL, c);
    *moved = before;
    return dot(grad_y, y, c->y_size);
}

static void run_central_differences(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const gradients g = all_of(&c);
    const float *grad_y = random_f32(c.y_size);
    float *x = random_f32(c.x_size), *w = random_f32(c.w_size);
    call_backward("conv2d_backward", &g, grad_y, x, w, &c);
    for (int s = 0; s < SAMPLES; s++) {
        const size_t i = random_below(case_random(), c.x_size);
        const size_t j = random_below(case_random(), c.w_size);
        const double of_x =
            loss(grad_y, x, w, &c, &x[i], 0.5f) - loss(grad_y, x, w, &c, &x[i], -0.5f);
        const double of_w =
            loss(grad_y, x, w, &c, &w[j], 0.5f) - loss(grad_y, x, w, &c, &w[j], -0.5f);
        expect(fabs(g.x[i] - of_x) <= 1e-4 * fmax(1.0, fabs(of_x)),
               "grad_x[%zu] is %.9g, central differences say %.9g", i, g.x[i], of_x);
        expect(fabs(g.w[j] - of_w) <= 1e-4 * fmax(1.0, fabs(of_w)),
               "grad_w[%zu] is %.9g, central differences say %.9g", j, g.w[j], of_w);
    }
}

/* Atomics on floats would add in another order each time. */
static void run_same_bits(const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const gradients once = all_of(&c), again = all_of(&c);
    const float *grad_y = random_f32(c.y_size), *x = random_f32(c.x_size);
    const float *w = random_f32(c.w_size);
    call_backward("conv2d_backward", &once, grad_y, x, w, &c);
    call_backward("conv2d_backward", &again, grad_y, x, w, &c);
    expect(memcmp(once.x, again.x, c.x_size * sizeof(float)) == 0,
           "grad_x has other bits each time");
    expect(memcmp(once.w, again.w, c.w_size * sizeof(float)) == 0,
           "grad_w has other bits each time");
}

static const grading_case cases[] = {
    {.name = "2x3x5x7 by 4 of 1x1", .run = run_all, .shape = {2, 3, 5, 7, 4, 1, 1, 1, 0}},
    {.name = "2x3x8x11 by 4 of 3x3, pad 1", .run = run_all, .shape = {2, 3, 8, 11, 4, 3, 3, 1, 1}},
    {.name = "1x5x9x12 by 3 of 3x3, stride 2, pad 1",
     .run = run_all,
     .shape = {1, 5, 9, 12, 3, 3, 3, 2, 1}},
    {.name = "1x4x9x8 by 5 of 1x1, stride 2", .run = run_all, .shape = {1, 4, 9, 8, 5, 1, 1, 2, 0}},
    {.name = "1x3x23x30 by 4 of 7x7, stride 2, pad 3",
     .run = run_all,
     .shape = {1, 3, 23, 30, 4, 7, 7, 2, 3}},
    {.name = "1x2x9x13 by 3 of 3x5, pad 2", .run = run_all, .shape = {1, 2, 9, 13, 3, 3, 5, 1, 2}},
    {.name = "1x2x17x9 by 2 of 5x2, stride 3, pad 1",
     .run = run_all,
     .shape = {1, 2, 17, 9, 2, 5, 2, 3, 1}},
    {.name = "3x17x10x9 by 33 of 3x3, pad 1",
     .run = run_all,
     .shape = {3, 17, 10, 9, 33, 3, 3, 1, 1}},
    {.name = "1x1x4x4 by 1 of 3x3", .run = run_all, .shape = {1, 1, 4, 4, 1, 3, 3, 1, 0}},
    {.name = "40x2x6x5 by 3 of 3x3, pad 1", .run = run_all, .shape = {40, 2, 6, 5, 3, 3, 3, 1, 1}},
    CONV_ANY(5, 4, 7),
    /* A block per weight or pixel takes its time: more of them only on a GPU. */
    LONG_ROW("70001x1x1x1 by 1 of 1x1", run_all, 70001, 1, 1, 1, 1, 1, 1, 1, 0),
    LONG_ROW("1x1100x1x1 by 2 of 1x1", run_all, 1, 1100, 1, 1, 2, 1, 1, 1, 0),
    LONG_ROW("1x1x70001x1 by 1 of 1x1", run_all, 1, 1, 70001, 1, 1, 1, 1, 1, 0),
    LONG_ROW("1x1x1x70001 by 1 of 1x1", run_all, 1, 1, 1, 70001, 1, 1, 1, 1, 0),
    LONG_ROW("1x2x1x1 by 1100 of 1x1", run_all, 1, 2, 1, 1, 1100, 1, 1, 1, 0),
    LONG_ROW("1x1x1100x2 by 1 of 1099x1", run_all, 1, 1, 1100, 2, 1, 1099, 1, 1, 0),
    LONG_ROW("1x1x2x1100 by 1 of 1x1099", run_all, 1, 1, 2, 1100, 1, 1, 1099, 1, 0),
    LONG_ROW("grad_x alone, 70001 channels", run_grad_x_alone, 1, 70001, 1, 1, 2, 1, 1, 1, 0),
    /* More planes than threads of a block, and more pixels. */
    LONG_ROW("grad_x alone, 260x1x17x16", run_grad_x_alone, 260, 1, 17, 16, 1, 1, 1, 1, 0),
    {.name = "1x1x1x1 by 70001 of 1x1",
     .run = run_all,
     .shape = {1, 1, 1, 1, 70001, 1, 1, 1, 0},
     .where = ON_GPU},
    {.name = "empty batch", .run = run_all, .shape = {0, 3, 5, 7, 4, 3, 3, 1, 1}},
    {.name = "no channels", .run = run_all, .shape = {2, 0, 5, 7, 4, 3, 3, 1, 1}},
    {.name = "no filters", .run = run_all, .shape = {2, 3, 5, 7, 0, 3, 3, 1, 1}},
    {.name = "nan", .run = run_nan, .shape = {3, 4, 9, 8, 5, 3, 3, 1, 0}},
    {.name = "nan in w", .run = run_special_weights, .shape = {2, 3, 8, 7, 4, 3, 3, 1, 1}},
    {.name = "grad_x alone", .run = run_grad_x_alone, .shape = {2, 3, 7, 6, 5, 3, 3, 2, 1}},
    {.name = "grad_w alone", .run = run_grad_w_alone, .shape = {2, 3, 7, 6, 5, 3, 3, 2, 1}},
    {.name = "adjoint, 3x3, pad 1", .run = run_adjoint, .shape = {2, 4, 9, 8, 5, 3, 3, 1, 1}},
    {.name = "adjoint, 5x3, stride 2, pad 2",
     .run = run_adjoint,
     .shape = {2, 3, 12, 10, 4, 5, 3, 2, 2}},
    {.name = "central differences",
     .run = run_central_differences,
     .shape = {2, 3, 7, 6, 4, 3, 3, 2, 1}},
    {.name = "the same bits every time",
     .run = run_same_bits,
     .shape = {4, 3, 20, 20, 4, 3, 3, 1, 1}},
    GPU_ROW("2x64x28x28 by 64 of 3x3, pad 1", run_all, 2, 64, 28, 28, 64, 3, 3, 1, 1),
    GPU_ROW("2x64x56x56 by 32 of 3x3, stride 2, pad 1", run_all, 2, 64, 56, 56, 32, 3, 3, 2, 1),
    {0},
};

/* grad_w alone. A baseline is called likewise, and believed. */
static void run_timed(const char *function, const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const gradients g = {.w = f32_array(c.w_size)};
    const float *grad_y = random_f32(c.y_size), *x = random_f32(c.x_size);
    const float *w = random_f32(c.w_size);
    call_backward(function, &g, grad_y, x, w, &c);
    if (strncmp(function, "baseline_", 9) != 0) expect_gradients(&g, grad_y, x, w, &c);
}

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "the kernel with atomics",
                .shape = "grad_w of 8 × 32 × 28 × 28, 32 filters of 3 × 3"},
     .function = "conv2d_backward",
     .baseline = "baseline_conv2d_backward_atomics",
     .run = run_timed,
     .shape = {8, 32, 28, 28, 32, 3, 3, 1, 1},
     .varied = 4,
     .where = ON_GPU,
     .threshold = 8.0,
     .flop = 2.0 * 8 * 32 * 32 * 9 * 28 * 28,
     .peer_share = 0.0009},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"atomics", .per = "block",
                .shape = "grad_w of 2 × 8 × 16 × 16, 8 filters of 3 × 3"},
     .function = "conv2d_backward",
     .run = run_timed,
     .shape = {2, 8, 16, 16, 8, 3, 3, 1, 1},
     .count = atomics_per_block,
     .bound = AT_MOST,
     .wanted = 0.0},
    {.metric = {"reduction in DRAM bytes", .over = "the kernel with atomics",
                .shape = "grad_w of 2 × 8 × 16 × 16, 8 filters of 3 × 3"},
     .function = "conv2d_backward",
     .baseline = "baseline_conv2d_backward_atomics",
     .run = run_timed,
     .shape = {2, 8, 16, 16, 8, 3, 3, 1, 1},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 2.0},
    {0},
};

EXERCISE(308) = {
    .id = 308,
    .name = "conv2d_backward",
    .file = "phase3_layers/308_conv2d_backward/308_conv2d_backward.cu",
    .functions = {"conv2d_backward"},
    .baseline_file = "grader/exercises/308_conv2d_backward/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .see = "2x3x8x11 by 4 of 3x3, pad 1",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
