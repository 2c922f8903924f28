/* 310_pooling: windows that overlap, hang over the edge and hold nothing but negative numbers,
 * NaN or equal ones; gradients summed where windows overlap, by central differences and the adjoint
 * identity; speed against copies, and what is moved against a thread a plane. shape: batch,
 * channels, in_h, in_w, kernel_size, stride, pad */
#include "correctness/case.h"

#include <math.h>
#include <string.h>

typedef struct pooling {
    long planes, in_h, in_w, size, stride, pad, out_h, out_w;
    long down, across; /* how far the window moves: stride, but for suspicions */
    size_t inputs, outputs;
} pooling;

static pooling pooling_of(const long *s)
{
    pooling p = {s[0] * s[1], s[2], s[3], s[4], s[5], s[6], 0, 0, s[5], s[5], 0, 0};
    p.out_h = (p.in_h + 2 * p.pad - p.size) / p.stride + 1;
    p.out_w = (p.in_w + 2 * p.pad - p.size) / p.stride + 1;
    p.inputs = (size_t)(p.planes * p.in_h * p.in_w);
    p.outputs = (size_t)(p.planes * p.out_h * p.out_w);
    return p;
}

#define SIZES(shape)                                                                               \
    i32((int)(shape)[0]), i32((int)(shape)[1]), i32((int)(shape)[2]), i32((int)(shape)[3])
#define WINDOW(shape) i32((int)(shape)[4]), i32((int)(shape)[5]), i32((int)(shape)[6])

/* ---- references ------------------------------------------------------------------------------ */

/* Where in its plane the largest element of window i lies. Of several NaN it may be the named one.
 */
static int winner(const float *plane, const pooling *p, size_t i, int named)
{
    const long top = (long)i / p->out_w % p->out_h * p->down - p->pad;
    const long left = (long)i % p->out_w * p->across - p->pad;
    int best = -1;
    for (long k = 0; k < p->size * p->size; k++) {
        const long row = top + k / p->size, col = left + k % p->size;
        if (row < 0 || row >= p->in_h || col < 0 || col >= p->in_w) continue;
        const int at = (int)(row * p->in_w + col);
        if (at == named && isnan(plane[at])) return named;
        const bool larger = best >= 0 && (plane[at] > plane[best] || isnan(plane[at]));
        if (best < 0 || (larger && !isnan(plane[best]))) best = at;
    }
    return best;
}

typedef struct pooled {
    const pooling *p;
    const float *x;
    double *y;
    int *argmax;
} pooled;

static void pool_part(size_t begin, size_t end, void *context)
{
    const pooled *to = context;
    const pooling *p = to->p;
    const size_t of_plane = (size_t)(p->out_h * p->out_w);
    for (size_t i = begin; i < end; i++) {
        const float *plane = to->x + i / of_plane * (size_t)(p->in_h * p->in_w);
        to->argmax[i] = winner(plane, p, i, to->argmax[i]);
        to->y[i] = plane[to->argmax[i]];
    }
}

/** @param argmax holds what it might be of several NaN, and receives what it is */
static void reference_forward(double *y, int *argmax, const float *x, const pooling *p)
{
    const size_t cost = 5 * (size_t)(p->size * p->size);
    parallel(p->outputs, cost, pool_part, &(pooled){p, x, y, argmax});
}

static void reference_backward(double *grad_x, const float *grad_y, const int *argmax,
                               const pooling *p)
{
    const size_t of_plane = (size_t)(p->out_h * p->out_w);
    for (size_t i = 0; i < p->outputs; i++) {
        grad_x[i / of_plane * (size_t)(p->in_h * p->in_w) + (size_t)argmax[i]] += grad_y[i];
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void forward(const char *function, float *y, int *argmax, const float *x, const long *shape)
{
    const pooling p = pooling_of(shape);
    call_cuda(function, ARGS(out_f32("y", y, p.outputs), out_i32("argmax", argmax, p.outputs),
                             in_f32("x", x, p.inputs), SIZES(shape), WINDOW(shape), stream()));
}

/* What y, or argmax, would be with windows that move so. */
static void suspect_windows(const char *words, const float *x, const pooling *p, bool of_argmax)
{
    double *y = f64_array(p->outputs), *places = f64_array(p->outputs);
    int *argmax = i32_array(p->outputs);
    reference_forward(y, argmax, x, p);
    for (size_t i = 0; i < p->outputs; i++) places[i] = argmax[i];
    suspect(words, of_argmax ? places : y);
}

static void suspect_strides(const float *x, const pooling *p, bool of_argmax)
{
    pooling across = *p, down = *p;
    across.across = down.down = 1;
    suspect_windows("the window moves by 1 along a row, not by stride", x, &across, of_argmax);
    suspect_windows("the window moves by 1 from row to row, not by stride", x, &down, of_argmax);
}

static void forward_and_check(const char *function, const float *x, const long *shape)
{
    const pooling p = pooling_of(shape);
    const layout l = {"y", (size_t)(p.planes * p.out_h), (size_t)p.out_w};
    float *y = f32_array(p.outputs);
    int *argmax = i32_array(p.outputs), *want_argmax = i32_array(p.outputs);
    double *want = f64_array(p.outputs);
    forward(function, y, argmax, x, shape);
    if (strncmp(function, "baseline_", 9) == 0) return; /* ours, and believed */
    memcpy(want_argmax, argmax, p.outputs * sizeof *argmax);
    reference_forward(want, want_argmax, x, &p);
    if (!is_close(l, y, want, NULL, 0.0)) suspect_strides(x, &p, false);
    expect_close(l, y, want, NULL, 0.0);
    if (memcmp(argmax, want_argmax, p.outputs * sizeof *argmax)) suspect_strides(x, &p, true);
    expect_equal_i32((layout){"argmax", l.rows, l.cols}, argmax, want_argmax);
}

static void run_random(const long *shape)
{
    forward_and_check("maxpool2d_forward", random_f32(pooling_of(shape).inputs), shape);
}

/* The numbers that were drawn, with a padding that fits. */
static void with_any(void (*run)(const long *shape), const long *drawn)
{
    long shape[SHAPE_MAX];
    memcpy(shape, drawn, sizeof shape);
    shape[6] = drawn[6] % (drawn[4] / 2 + 1);
    run(shape);
}

static void run_any(const long *shape)
{
    with_any(run_random, shape);
}

/* A padding of zeros would win every window at the edge. */
static void run_negative(const long *shape)
{
    const float *x = random_f32_between(pooling_of(shape).inputs, -9.0f, -8.0f);
    forward_and_check("maxpool2d_forward", x, shape);
}

static void run_infinite(const long *shape)
{
    const size_t n = pooling_of(shape).inputs;
    float *x = f32_array(n);
    for (size_t i = 0; i < n; i++) x[i] = -INFINITY;
    forward_and_check("maxpool2d_forward", x, shape);
}

/* Few different values: the first of the equal ones counts. */
static void run_equal(const long *shape)
{
    const size_t n = pooling_of(shape).inputs;
    float *x = f32_array(n);
    for (size_t i = 0; i < n; i++) x[i] = (float)random_below(case_random(), 3);
    forward_and_check("maxpool2d_forward", x, shape);
}

static void run_nan(const long *shape)
{
    const size_t n = pooling_of(shape).inputs;
    float *x = random_f32(n);
    sprinkle_special_f32(x, n, 12); /* so many that some windows have several */
    forward_and_check("maxpool2d_forward", x, shape);
}

static void call_backward(const char *function, float *grad_x, const float *grad_y,
                          const int *argmax, const long *shape)
{
    const pooling p = pooling_of(shape);
    call_cuda(function,
              ARGS(out_f32("grad_x", grad_x, p.inputs), in_f32("grad_y", grad_y, p.outputs),
                   in_i32("argmax", argmax, p.outputs), SIZES(shape), WINDOW(shape), stream()));
}

/* A baseline gets the same arguments, and may write what it likes. */
static void backward(const char *function, const long *shape)
{
    const pooling p = pooling_of(shape);
    float *x = random_f32(p.inputs), *grad_y = random_f32(p.outputs);
    float *grad_x = f32_array(p.inputs);
    sprinkle_special_f32(grad_y, p.outputs, (int)shape[7]);
    int *argmax = i32_array(p.outputs);
    double *y = f64_array(p.outputs), *want = f64_array(p.inputs);
    reference_forward(y, argmax, x, &p);
    call_backward(function, grad_x, grad_y, argmax, shape);
    if (strncmp(function, "baseline_", 9) == 0) return;
    reference_backward(want, grad_y, argmax, &p);
    expect_close((layout){"grad_x", (size_t)(p.planes * p.in_h), (size_t)p.in_w}, grad_x, want,
                 NULL, FP32_SUM_TOLERANCE);
}

static void run_backward(const long *shape)
{
    backward("maxpool2d_backward", shape);
}

static void run_backward_any(const long *shape)
{
    with_any(run_backward, shape);
}

/* [count] of 0, 0.01, 0.02, ... in any order: a step of less than half of that makes no other one
 * the largest of a window. */
static float *well_apart(size_t count)
{
    float *x = f32_array(count);
    for (size_t i = 0; i < count; i++) {
        const size_t other = random_below(case_random(), i + 1);
        x[i] = x[other];
        x[other] = 0.01f * (float)i;
    }
    return x;
}

/* <grad_y, y> of the pooled x. */
static double loss(const float *grad_y, const float *x, const pooling *p)
{
    double *y = f64_array(p->outputs), sum = 0.0;
    reference_forward(y, i32_array(p->outputs), x, p);
    for (size_t i = 0; i < p->outputs; i++) sum += grad_y[i] * y[i];
    return sum;
}

static void run_central_differences(const long *shape)
{
    const pooling p = pooling_of(shape);
    float *x = well_apart(p.inputs), *grad_y = random_f32(p.outputs);
    float *grad_x = f32_array(p.inputs);
    int *argmax = i32_array(p.outputs);
    reference_forward(f64_array(p.outputs), argmax, x, &p);
    call_backward("maxpool2d_backward", grad_x, grad_y, argmax, shape);
    for (size_t i = 0; i < p.inputs; i++) {
        const float before = x[i], above = before + 1e-3f, below = before - 1e-3f;
        x[i] = above;
        const double more = loss(grad_y, x, &p);
        x[i] = below;
        const double slope = (more - loss(grad_y, x, &p)) / ((double)above - below);
        x[i] = before;
        expect(fabs(grad_x[i] - slope) <= 1e-4 * fmax(1.0, fabs(slope)),
               "grad_x[%zu] is %.9g, central differences say %.9g", i, grad_x[i], slope);
    }
}

/* A maximum is linear while its winner stays: <grad_x, v> = <grad_y, v at the winners>. */
static void run_adjoint(const long *shape)
{
    const pooling p = pooling_of(shape);
    const float *x = random_f32(p.inputs), *grad_y = random_f32(p.outputs);
    const float *v = random_f32(p.inputs);
    const size_t inputs = (size_t)(p.in_h * p.in_w), outputs = (size_t)(p.out_h * p.out_w);
    float *grad_x = f32_array(p.inputs);
    int *argmax = i32_array(p.outputs);
    double got = 0.0, want = 0.0;
    reference_forward(f64_array(p.outputs), argmax, x, &p);
    call_backward("maxpool2d_backward", grad_x, grad_y, argmax, shape);
    for (size_t i = 0; i < p.inputs; i++) got += (double)grad_x[i] * v[i];
    for (size_t i = 0; i < p.outputs; i++)
        want += (double)grad_y[i] * v[i / outputs * inputs + (size_t)argmax[i]];
    expect_near("<grad_x, v> against <grad_y, J v>", got, want, 1e-4);
}

static void run_average(const long *shape)
{
    const size_t planes = (size_t)(shape[0] * shape[1]), pixels = (size_t)(shape[2] * shape[3]);
    float *x = random_f32(planes * pixels), *y = f32_array(planes);
    sprinkle_special_f32(x, planes * pixels, (int)shape[4]);
    double *want = f64_array(planes), *scale = f64_array(planes);
    call_cuda(
        "global_avgpool_forward",
        ARGS(out_f32("y", y, planes), in_f32("x", x, planes * pixels), SIZES(shape), stream()));
    for (size_t i = 0; i < planes * pixels; i++) {
        want[i / pixels] += (double)x[i] / (double)pixels;
        scale[i / pixels] += fabs((double)x[i]) / (double)pixels;
    }
    expect_close((layout){"y", (size_t)shape[0], (size_t)shape[1]}, y, want, scale,
                 FP32_SUM_TOLERANCE);
}

static void run_average_backward(const long *shape)
{
    const size_t planes = (size_t)(shape[0] * shape[1]), pixels = (size_t)(shape[2] * shape[3]);
    float *grad_y = random_f32(planes), *grad_x = f32_array(planes * pixels);
    double *want = f64_array(planes * pixels);
    sprinkle_special_f32(grad_y, planes, (int)shape[4]);
    call_cuda("global_avgpool_backward",
              ARGS(out_f32("grad_x", grad_x, planes * pixels), in_f32("grad_y", grad_y, planes),
                   SIZES(shape), stream()));
    for (size_t i = 0; i < planes * pixels; i++)
        want[i] = (double)grad_y[i / pixels] / (double)pixels;
    expect_close((layout){"grad_x", planes, pixels}, grad_x, want, NULL, FP32_SUM_TOLERANCE);
}

/* <grad_y, y> of the averaged x. */
static double average_loss(const float *grad_y, const float *x, size_t count, size_t pixels)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += (double)grad_y[i / pixels] * x[i] / (double)pixels;
    return sum;
}

/* The mean is linear: <grad_x, v> = <grad_y, mean of v>, and a long step of one pixel is exact. */
static void run_average_derivative(const long *shape)
{
    const size_t planes = (size_t)(shape[0] * shape[1]), pixels = (size_t)(shape[2] * shape[3]);
    const size_t count = planes * pixels;
    const float *grad_y = random_f32(planes), *v = random_f32(count);
    float *grad_x = f32_array(count), *x = random_f32(count);
    double along = 0.0;
    call_cuda("global_avgpool_backward",
              ARGS(out_f32("grad_x", grad_x, count), in_f32("grad_y", grad_y, planes), SIZES(shape),
                   stream()));
    for (size_t i = 0; i < count; i++) {
        const float before = x[i];
        along += (double)grad_x[i] * v[i];
        x[i] = before + 1.0f;
        const double above = average_loss(grad_y, x, count, pixels);
        x[i] = before - 1.0f;
        const double slope = (above - average_loss(grad_y, x, count, pixels)) / 2;
        x[i] = before;
        expect(fabs(grad_x[i] - slope) <= 1e-6, "grad_x[%zu] is %.9g, central differences say %.9g",
               i, grad_x[i], slope);
    }
    expect_near("<grad_x, v> against <grad_y, mean of v>", along,
                average_loss(grad_y, v, count, pixels), 1e-4);
}

#define SIZE_OF_RESNET                                                                             \
    {                                                                                              \
        2, 64, 112, 112, 3, 2, 1                                                                   \
    }

#define ANY_POOLING .shape = {1, 1, 6, 6, 1, 1, 0}, .most = {4, 9, 20, 40, 6, 4, 5}

static const grading_case cases[] = {
    {.name = "2x3x8x10 by 2, stride 2", .run = run_random, .shape = {2, 3, 8, 10, 2, 2, 0}},
    {.name = "1x2x9x13 by 3, stride 2, pad 1", .run = run_random, .shape = {1, 2, 9, 13, 3, 2, 1}},
    {.name = "3x12x11x40 by 3, stride 1, pad 1",
     .run = run_random,
     .shape = {3, 12, 11, 40, 3, 1, 1}},
    {.name = "1x1x17x6 by 5, stride 3, pad 2", .run = run_random, .shape = {1, 1, 17, 6, 5, 3, 2}},
    {.name = "1x3x7x7 by 2, stride 3", .run = run_random, .shape = {1, 3, 7, 7, 2, 3, 0}},
    {.name = "1x2x1x1 by 1", .run = run_random, .shape = {1, 2, 1, 1, 1, 1, 0}},
    LONG_ROW("70000x1x2x2 by 2", run_random, 70000, 1, 2, 2, 2, 2, 0),
    LONG_ROW("1x70001x2x2 by 2", run_random, 1, 70001, 2, 2, 2, 2, 0),
    LONG_ROW("1x1x70001x1 by 1", run_random, 1, 1, 70001, 1, 1, 1, 0),
    LONG_ROW("1x1x1x70001 by 1", run_random, 1, 1, 1, 70001, 1, 1, 0),
    {.name = "1x1x45x46 by 41", .run = run_random, .shape = {1, 1, 45, 46, 41, 1, 0}},
    {.name = "any", .run = run_any, ANY_POOLING},
    {.name = "empty batch", .run = run_random, .shape = {0, 3, 8, 8, 2, 2, 0}},
    {.name = "negative, pad 1", .run = run_negative, .shape = {2, 2, 6, 7, 3, 2, 1}},
    {.name = "all -infinity", .run = run_infinite, .shape = {1, 2, 5, 6, 3, 2, 1}},
    {.name = "equal ones", .run = run_equal, .shape = {2, 3, 12, 11, 3, 2, 1}},
    {.name = "nan", .run = run_nan, .shape = {1, 2, 10, 12, 3, 2, 1}},
    {.name = "backward 2x3x8x10 by 2, stride 2",
     .run = run_backward,
     .shape = {2, 3, 8, 10, 2, 2, 0},
     .part = "maxpool2d_backward"},
    {.name = "backward 1x2x9x13 by 3, stride 2, pad 1",
     .run = run_backward,
     .shape = {1, 2, 9, 13, 3, 2, 1}},
    {.name = "backward 2x4x10x9 by 3, stride 1, pad 1",
     .run = run_backward,
     .shape = {2, 4, 10, 9, 3, 1, 1}},
    {.name = "backward 3x12x8x40 by 2, stride 3",
     .run = run_backward,
     .shape = {3, 12, 8, 40, 2, 3, 0}},
    LONG_ROW("backward 70001x1x1x1 by 1", run_backward, 70001, 1, 1, 1, 1, 1, 0),
    LONG_ROW("backward 1x70001x1x1 by 1", run_backward, 1, 70001, 1, 1, 1, 1, 0),
    LONG_ROW("backward 1x1x70001x1 by 1", run_backward, 1, 1, 70001, 1, 1, 1, 0),
    LONG_ROW("backward 1x1x1x70001 by 1", run_backward, 1, 1, 1, 70001, 1, 1, 0),
    {.name = "backward 1x1x45x46 by 41", .run = run_backward, .shape = {1, 1, 45, 46, 41, 1, 0}},
    {.name = "backward any", .run = run_backward_any, ANY_POOLING},
    {.name = "backward, nan", .run = run_backward, .shape = {1, 2, 10, 12, 3, 2, 1, 1}},
    {.name = "backward, empty batch", .run = run_backward, .shape = {0, 3, 8, 8, 2, 2, 0}},
    {.name = "backward, central differences",
     .run = run_central_differences,
     .shape = {1, 2, 7, 8, 3, 2, 1}},
    {.name = "backward, adjoint", .run = run_adjoint, .shape = {2, 3, 11, 9, 3, 2, 1}},
    {.name = "average 2x5x7x7",
     .run = run_average,
     .shape = {2, 5, 7, 7},
     .part = "global_avgpool_forward"},
    {.name = "average 1x1x1x1", .run = run_average, .shape = {1, 1, 1, 1}},
    {.name = "average 3x17x13x40", .run = run_average, .shape = {3, 17, 13, 40}},
    LONG_ROW("average 70001x1x1x1", run_average, 70001, 1, 1, 1),
    LONG_ROW("average 1x70001x1x1", run_average, 1, 70001, 1, 1),
    LONG_ROW("average 1x1x70001x1", run_average, 1, 1, 70001, 1),
    LONG_ROW("average 1x1x1x70001", run_average, 1, 1, 1, 70001),
    {.name = "average any", .run = run_average, .shape = {1, 1, 1, 1}, .most = {5, 20, 13, 40}},
    {.name = "average, nan", .run = run_average, .shape = {5, 7, 6, 6, 1}},
    {.name = "average, empty batch", .run = run_average, .shape = {0, 5, 7, 7}},
    {.name = "average backward 2x5x7x6",
     .run = run_average_backward,
     .shape = {2, 5, 7, 6},
     .part = "global_avgpool_backward"},
    {.name = "average backward 33x4x1x3", .run = run_average_backward, .shape = {33, 4, 1, 3}},
    LONG_ROW("average backward 70001x1x1x1", run_average_backward, 70001, 1, 1, 1),
    LONG_ROW("average backward 1x70001x1x1", run_average_backward, 1, 70001, 1, 1),
    LONG_ROW("average backward 1x1x70001x1", run_average_backward, 1, 1, 70001, 1),
    LONG_ROW("average backward 1x1x1x69633", run_average_backward, 1, 1, 1, 69633),
    {.name = "average backward 2x4x8x8", .run = run_average_backward, .shape = {2, 4, 8, 8}},
    {.name = "average backward any",
     .run = run_average_backward,
     .shape = {1, 1, 1, 1},
     .most = {5, 20, 13, 40}},
    {.name = "average backward, nan", .run = run_average_backward, .shape = {5, 7, 3, 6, 1}},
    {.name = "average backward, derivative", .run = run_average_derivative, .shape = {2, 3, 5, 4}},
    {.name = "2x64x112x112 by 3, stride 2, pad 1",
     .run = run_random,
     .shape = SIZE_OF_RESNET,
     .where = ON_GPU,
     .part = "maxpool2d_forward"},
    {.name = "backward 2x64x112x112 by 3, stride 2, pad 1",
     .run = run_backward,
     .shape = SIZE_OF_RESNET,
     .where = ON_GPU,
     .part = "maxpool2d_backward"},
    {0},
};

static void timed_forward(const char *function, const long *shape)
{
    forward_and_check(function, random_f32(pooling_of(shape).inputs), shape);
}

#define IN  (16.0 * 64 * 112 * 112)
#define OUT (16.0 * 64 * 56 * 56)

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "16 × 64 × 112 × 112"},
     .function = "maxpool2d_forward",
     .baseline = "baseline_copy_forward",
     .run = timed_forward,
     .shape = {16, 64, 112, 112, 3, 2, 1},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 0.6,
     .work = 4 * IN + 8 * OUT,
     .baseline_work = 16 * OUT,
     .bytes = 4 * IN + 8 * OUT,
     .peer_share = 0.54,
     .peer_bytes = 16 * OUT},
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "16 × 64 × 112 × 112"},
     .function = "maxpool2d_backward",
     .baseline = "baseline_copy_backward",
     .run = backward,
     .shape = {16, 64, 112, 112, 3, 2, 1},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 0.17,
     .work = 4 * IN + 8 * OUT,
     .baseline_work = 4 * IN,
     .bytes = 4 * IN + 8 * OUT,
     .peer_share = 0.55,
     .peer_bytes = 4 * IN},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"reduction in DRAM bytes", .over = "one thread per plane",
                .shape = "2 × 32 × 32 × 32"},
     .function = "maxpool2d_forward",
     .baseline = "baseline_maxpool2d_by_plane",
     .run = timed_forward,
     .shape = {2, 32, 32, 32, 3, 2, 1},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 3.0},
    {.metric = {"atomics", .per = "block", .shape = "2 × 32 × 32 × 32"},
     .function = "maxpool2d_backward",
     .run = backward,
     .shape = {2, 32, 32, 32, 3, 2, 1},
     .count = atomics_per_block,
     .bound = AT_MOST,
     .wanted = 0.0},
    {0},
};

EXERCISE(310) = {
    .id = 310,
    .name = "pooling",
    .file = "phase3_layers/310_pooling/310_pooling.cu",
    .functions = {"maxpool2d_forward", "maxpool2d_backward", "global_avgpool_forward",
                  "global_avgpool_backward"},
    .baseline_file = "grader/exercises/310_pooling/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "2x3x8x10 by 2, stride 2",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
