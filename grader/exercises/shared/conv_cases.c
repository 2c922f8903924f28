#include "conv_cases.h"

#include "correctness/case.h"
#include <math.h>
#include <string.h>

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
    long row, plane;        /* of x: how far apart they are taken to lie */
    long across, down, pad; /* how far the window moves either way, and is moved by the padding */
    bool turned;            /* the filter, by 180 degrees */
} conv_work;

/* plane += factor * the channel of x that the window's element (r, s) sees. */
static void add_moved(double *plane, double *scale, const float *channel, double factor, long r,
                      long s, const conv_work *work)
{
    const conv_shape *c = work->shape;
    for (long i = 0; i < c->out_h; i++) {
        const long row = i * work->down - work->pad + r;
        if (row < 0 || row >= c->in_h) continue;
        for (long j = 0; j < c->out_w; j++) {
            const long col = j * work->across - work->pad + s;
            if (col < 0 || col >= c->in_w) continue;
            const double term = factor * channel[row * work->row + col];
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
        const size_t at = image * (size_t)(c->in_channels * c->in_h * c->in_w);
        const float *x = work->x + at + channel * work->plane;
        for (long r = 0; r < c->kernel_h; r++) {
            for (long s = 0; s < c->kernel_w; s++) {
                const long at_r = work->turned ? c->kernel_h - 1 - r : r;
                const long at_s = work->turned ? c->kernel_w - 1 - s : s;
                add_moved(y, scale, x, *w++, at_r, at_s, work);
            }
        }
    }
}

static void fill_planes(size_t begin, size_t end, void *context)
{
    for (size_t plane = begin; plane < end; plane++) fill_plane(context, plane);
}

static void fill_all(conv_work *work)
{
    const conv_shape *c = work->shape;
    const long taps = c->in_channels * c->kernel_h * c->kernel_w;
    const size_t cost = (size_t)(4 * taps * c->out_h * c->out_w);
    parallel((size_t)(c->batch * c->out_channels), cost, fill_planes, work);
}

static conv_work right_work(const float *x, const float *w, const float *bias, const conv_shape *c)
{
    return (conv_work){.shape = c,
                       .x = x,
                       .w = w,
                       .bias = bias,
                       .row = c->in_w,
                       .plane = c->in_h * c->in_w,
                       .across = c->stride,
                       .down = c->stride,
                       .pad = c->pad};
}

void reference_conv2d(double *y, double *scale, const float *x, const float *w, const float *bias,
                      const conv_shape *c)
{
    conv_work work = right_work(x, w, bias, c);
    work.y = y, work.scale = scale;
    fill_all(&work);
}

static const double *wrong_by(conv_work work)
{
    work.y = f64_array(work.shape->y_size), work.scale = f64_array(work.shape->y_size);
    fill_all(&work);
    return work.y;
}

/* The first two are right for square images; where they would read beyond x, softgpu has the word.
 */
static void suspect_formulas(const conv_work *right)
{
    const conv_shape *c = right->shape;
    conv_work rows = *right, planes = *right, across = *right, down = *right, corner = *right,
              turned = *right, plain = *right;
    rows.row = c->in_h, planes.plane = c->in_h * c->in_h;
    across.across = down.down = 1, corner.pad = 0, turned.turned = true, plain.bias = NULL;
    if (c->in_h < c->in_w) {
        suspect("rows of x are read in_h pixels apart: a row has in_w pixels", wrong_by(rows));
        suspect("planes of x are read in_h * in_h pixels apart: a plane has in_h * in_w",
                wrong_by(planes));
    }
    suspect("the window moves by 1 along a row, not by stride", wrong_by(across));
    suspect("the window moves by 1 from row to row, not by stride", wrong_by(down));
    suspect("the window's corner is not moved by pad", wrong_by(corner));
    suspect("the filter is turned by 180 degrees", wrong_by(turned));
    if (right->bias) suspect("the bias is not added", wrong_by(plain));
}

void expect_conv2d(const float *y, const float *x, const float *w, const float *bias,
                   const conv_shape *c)
{
    double *want = f64_array(c->y_size), *scale = f64_array(c->y_size);
    const layout l = {"y", (size_t)(c->batch * c->out_channels * c->out_h), (size_t)c->out_w};
    const long terms = c->in_channels * c->kernel_h * c->kernel_w + (bias != NULL);
    reference_conv2d(want, scale, x, w, bias, c);
    const conv_work right = right_work(x, w, bias, c);
    if (!is_close(l, y, want, scale, FP32_SUM_TOLERANCE)) suspect_formulas(&right);
    expect_close(l, y, want, scale, FP32_SUM_TOLERANCE);
    expect_norm_close(l, y, want, scale, terms, FP32_NORM_TOLERANCE);
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

void conv_any(const long *drawn, void (*run)(const long *shape))
{
    for (long turn = 0; turn < 4; turn++) {
        const long kernel_h = 2 + (drawn[5] - 2 + turn) % 4, kernel_w = drawn[6];
        const long pad = drawn[8] % (kernel_h < kernel_w ? kernel_h : kernel_w);
        const long shape[SHAPE_MAX] = {drawn[0], drawn[1], drawn[2], drawn[3],
                                       drawn[4], kernel_h, kernel_w, 1 + (drawn[7] - 1 + turn) % 4,
                                       pad};
        run(shape);
    }
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
    const size_t filters = (size_t)c.out_channels, filter = c.w_size / filters;
    float *x = random_f32(c.x_size), *w = random_f32(c.w_size), *bias = random_f32(filters);
    sprinkle_special_f32(x, c.x_size, 1);
    x[0] = INFINITY;
    memset(w + filter, 0, filter * sizeof *w);
    w[(c.kernel_h / 2) * c.kernel_w + c.kernel_w / 2] = -INFINITY; /* of the first filter */
    bias[filters - 1] = NAN;
    call_and_check(call, x, w, bias, &c);
}

/* ---- the forward pass alone ------------------------------------------------------------------ */

void conv_forward(const char *function, argument y, argument x, argument w, argument bias,
                  const conv_shape *c)
{
    call_cuda(function, ARGS(y, x, w, bias, CONV_SHAPE(c), stream()));
}

void conv_forward_timed(const char *function, const long *shape)
{
    const conv_shape c = conv_shape_of(shape);
    const size_t channels = (size_t)c.out_channels;
    const float *x = random_f32(c.x_size), *w = random_f32(c.w_size), *bias = random_f32(channels);
    float *y = f32_array(c.y_size);
    conv_forward(function, out_f32("y", y, c.y_size), in_f32("x", x, c.x_size),
                 in_f32("w", w, c.w_size), in_f32("bias", bias, channels), &c);
    if (strncmp(function, "baseline_", 9) != 0) expect_conv2d(y, x, w, bias, &c);
}
