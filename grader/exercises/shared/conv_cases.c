#include "conv_cases.h"

#include "correctness/case.h"
#include <math.h>

static long out_size(long in, long kernel, long stride, long pad)
{
    return (in + 2 * pad - kernel) / stride + 1;
}

conv_shape conv_shape_of(const long *s)
{
    conv_shape c = {.batch = s[0],
                    .in_channels = s[1],
                    .in_h = s[2],
                    .in_w = s[3],
                    .out_channels = s[4],
                    .kernel_h = s[5],
                    .kernel_w = s[6],
                    .stride = s[7],
                    .pad = s[8]};
    c.out_h = out_size(c.in_h, c.kernel_h, c.stride, c.pad);
    c.out_w = out_size(c.in_w, c.kernel_w, c.stride, c.pad);
    c.x_size = (size_t)(c.batch * c.in_channels * c.in_h * c.in_w);
    c.w_size = (size_t)(c.out_channels * c.in_channels * c.kernel_h * c.kernel_w);
    c.y_size = (size_t)(c.batch * c.out_channels * c.out_h * c.out_w);
    return c;
}

/* ---- the reference --------------------------------------------------------------------------- */

typedef struct conv_work {
    const conv_shape *shape;
    const float *x, *w, *bias;
    double *y, *scale;
} conv_work;

/* plane += factor * the channel of x that the window's element (r, s) sees. */
static void add_moved(double *plane, double *scale, const float *channel, double factor, long r,
                      long s, const conv_shape *c)
{
    for (long i = 0; i < c->out_h; i++) {
        const long row = i * c->stride - c->pad + r;
        if (row < 0 || row >= c->in_h) continue;
        for (long j = 0; j < c->out_w; j++) {
            const long col = j * c->stride - c->pad + s;
            if (col < 0 || col >= c->in_w) continue;
            const double term = factor * channel[row * c->in_w + col];
            plane[i * c->out_w + j] += term;
            scale[i * c->out_w + j] += fabs(term);
        }
    }
}

/* One plane: one filter over one image. */
static void fill_plane(const conv_work *work, size_t plane)
{
    const conv_shape *c = work->shape;
    const size_t pixels = (size_t)(c->out_h * c->out_w), image = plane / (size_t)c->out_channels;
    const size_t filter = plane % (size_t)c->out_channels;
    double *y = work->y + plane * pixels, *scale = work->scale + plane * pixels;
    for (size_t p = 0; p < pixels; p++) {
        y[p] = work->bias ? work->bias[filter] : 0.0;
        scale[p] = fabs(y[p]);
    }
    const float *w = work->w + filter * (size_t)(c->in_channels * c->kernel_h * c->kernel_w);
    for (long channel = 0; channel < c->in_channels; channel++) {
        const size_t at = (image * (size_t)c->in_channels + (size_t)channel) * (size_t)c->in_h;
        for (long r = 0; r < c->kernel_h; r++) {
            for (long s = 0; s < c->kernel_w; s++) {
                add_moved(y, scale, work->x + at * (size_t)c->in_w, *w++, r, s, c);
            }
        }
    }
}

static void fill_planes(size_t begin, size_t end, void *context)
{
    for (size_t plane = begin; plane < end; plane++) fill_plane(context, plane);
}

void reference_conv2d(double *y, double *scale, const float *x, const float *w, const float *bias,
                      const conv_shape *c)
{
    conv_work work = {c, x, w, bias, y, scale};
    const long taps = c->in_channels * c->kernel_h * c->kernel_w;
    const size_t cost = (size_t)(4 * taps * c->out_h * c->out_w);
    parallel((size_t)(c->batch * c->out_channels), cost, fill_planes, &work);
}

/* Every element; the norm too, unless there is a NaN in it. */
static void expect_outputs(const float *y, const float *x, const float *w, const float *bias,
                           const conv_shape *c, bool norm)
{
    double *want = f64_array(c->y_size), *scale = f64_array(c->y_size);
    const layout l = {"y", (size_t)(c->batch * c->out_channels * c->out_h), (size_t)c->out_w};
    const long terms = c->in_channels * c->kernel_h * c->kernel_w + (bias != NULL);
    reference_conv2d(want, scale, x, w, bias, c);
    expect_close(l, y, want, scale, FP32_SUM_TOLERANCE);
    if (norm) expect_norm_close(l, y, want, scale, terms, FP32_NORM_TOLERANCE);
}

void expect_conv2d(const float *y, const float *x, const float *w, const float *bias,
                   const conv_shape *c)
{
    expect_outputs(y, x, w, bias, c, true);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static float *outputs_of(conv_caller *call, const float *x, const float *w, const float *bias,
                         const conv_shape *c)
{
    float *y = f32_array(c->y_size);
    call(out_f32("y", y, c->y_size), in_f32("x", x, c->x_size), in_f32("w", w, c->w_size),
         bias ? in_f32("bias", bias, (size_t)c->out_channels) : null_pointer(), c);
    return y;
}

static void call_and_check(conv_caller *call, const float *x, const float *w, const float *bias,
                           const conv_shape *c)
{
    expect_conv2d(outputs_of(call, x, w, bias, c), x, w, bias, c);
}

void conv_random(conv_caller *call, const long *shape, bool with_bias)
{
    const conv_shape c = conv_shape_of(shape);
    const float *x = random_f32(c.x_size), *w = random_f32(c.w_size);
    call_and_check(call, x, w, with_bias ? random_f32((size_t)c.out_channels) : NULL, &c);
}

static float *constant(size_t count, float value)
{
    float *x = f32_array(count);
    for (size_t i = 0; i < count; i++) x[i] = value;
    return x;
}

void conv_ones(conv_caller *call, const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    call_and_check(call, constant(c.x_size, 1.0f), constant(c.w_size, 1.0f), NULL, &c);
}

void conv_impulse(conv_caller *call, const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    float *x = f32_array(c.x_size);
    x[(c.in_h / 2) * c.in_w + c.in_w / 2] = 1.0f; /* in the first channel */
    call_and_check(call, x, random_f32(c.w_size), NULL, &c);
}

void conv_nan(conv_caller *call, const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    float *x = random_f32(c.x_size), *w = random_f32(c.w_size);
    x[random_below(case_random(), c.x_size)] = NAN;
    expect_outputs(outputs_of(call, x, w, NULL, &c), x, w, NULL, &c, false);
}
