/* 404_fusion: linear, bias and ReLU in one kernel, with and without the saved input of the ReLU;
 * convolution, normalization and ReLU in one, with and without a residual; residual and layer
 * normalization in one (shape: rows, cols, values); speed against three
 * kernels where the sum is short. shape: batch, in, out; of a convolution as in conv_cases.h */
#include "exercises/shared/conv_cases.h"
#include "exercises/shared/layer_cases.h"
#include "exercises/shared/norm_cases.h"

#include <math.h>
#include <string.h>

#define SAMPLED_ROWS 100 /* of a timed call */
#define EPS          1e-5f

/* ---- linear, bias, ReLU ---------------------------------------------------------------------- */

typedef struct layer {
    long batch, in, out;
    float *x, *w, *bias, *y, *pre; /* [batch x in] [out x in] [out] [batch x out] twice */
} layer;

static layer random_layer(const long *shape)
{
    layer l = {.batch = shape[0], .in = shape[1], .out = shape[2]};
    const size_t size = (size_t)(l.batch * l.out);
    l.x = random_f32((size_t)(l.batch * l.in));
    l.w = random_f32((size_t)(l.out * l.in));
    l.bias = random_f32_between((size_t)l.out, -2.0f, 2.0f);
    l.y = f32_array(size);
    l.pre = f32_array(size);
    return l;
}

/* Where pre is NULL, so is the pointer that the function gets. */
static void forward(const char *function, const layer *l, unsigned shift)
{
    const size_t size = (size_t)(l->batch * l->out);
    argument pre = l->pre ? shifted(out_f32("pre", l->pre, size), 2 * shift) : null_pointer();
    call_cuda(function, ARGS(shifted(out_f32("y", l->y, size), shift), pre,
                             shifted(in_f32("x", l->x, (size_t)(l->batch * l->in)), shift),
                             shifted(in_f32("w", l->w, (size_t)(l->out * l->in)), 3 * shift),
                             in_f32("bias", l->bias, (size_t)l->out), i32((int)l->batch),
                             i32((int)l->in), i32((int)l->out), stream()));
}

static void suspect_relu_first(const layer *l)
{
    double *wrong = f64_array((size_t)(l->batch * l->out));
    reference_matmul(wrong, NULL, l->x, transposed(l->w, l->out, l->in), l->batch, l->out, l->in);
    for (long i = 0; i < l->batch * l->out; i++) {
        wrong[i] = fmax(wrong[i], 0.0) + l->bias[i % l->out];
    }
    suspect("the bias is added after the ReLU", wrong);
}

/* The ReLU brings no error of its own: y may be as wrong as pre, the sum that it comes from. */
static void expect_relu(const layer *l)
{
    const size_t size = (size_t)(l->batch * l->out);
    double *want = f64_array(size), *scale = f64_array(size);
    reference_matmul(want, scale, l->x, transposed(l->w, l->out, l->in), l->batch, l->out, l->in);
    for (size_t i = 0; i < size; i++) {
        const double bias = l->bias[i % (size_t)l->out];
        want[i] = fmax(want[i] + bias, 0.0);
        scale[i] += fabs(bias);
    }
    const layout y = {"y", (size_t)l->batch, (size_t)l->out};
    if (!is_close(y, l->y, want, scale, FP32_SUM_TOLERANCE)) suspect_relu_first(l);
    expect_close(y, l->y, want, scale, FP32_SUM_TOLERANCE);
}

/* All of a small layer, some rows of a large one. */
static void expect_layer(const layer *l)
{
    if (l->pre) expect_linear("pre", l->pre, l->x, l->w, l->bias, l->batch, l->in, l->out);
    if (l->batch * l->in * l->out <= 10000000L) {
        expect_relu(l);
        return;
    }
    const int *some = sampled_rows(SAMPLED_ROWS, l->batch);
    layer sample = *l;
    sample.batch = SAMPLED_ROWS;
    sample.x = rows_of(l->x, l->in, some, SAMPLED_ROWS);
    sample.y = rows_of(l->y, l->out, some, SAMPLED_ROWS);
    expect_relu(&sample);
}

static void run_fused(const long *shape)
{
    const layer l = random_layer(shape);
    forward("linear_forward_fused", &l, 0);
    expect_layer(&l);
}

static void run_without_pre(const long *shape)
{
    layer l = random_layer(shape);
    l.pre = NULL;
    forward("linear_forward_fused", &l, 0);
    expect_layer(&l);
}

static void run_misaligned(const long *shape)
{
    const layer l = random_layer(shape);
    forward("linear_forward_fused", &l, 4);
    expect_layer(&l);
}

/* A NaN in x reaches its row of pre, an infinity in w its column, and neither gets any further. */
static void run_nan(const long *shape)
{
    const layer l = random_layer(shape);
    const long row = (long)random_below(case_random(), (uint64_t)l.batch);
    const long col = (long)random_below(case_random(), (uint64_t)l.out);
    l.x[row * l.in + l.in - 1] = NAN;
    l.w[col * l.in + 2] = INFINITY;
    forward("linear_forward_fused", &l, 0);
    for (long i = 0; i < l.batch * l.out; i++) {
        const long r = i / l.out, c = i % l.out;
        if (r == row)
            expect(isnan(l.pre[i]) && isnan(l.y[i]),
                   "a NaN in x[%ld]: pre[%ld][%ld] is %g and y %g, should be NaN: fmaxf of a "
                   "number and a NaN is the number",
                   row, r, c, l.pre[i], l.y[i]);
        else if (c == col)
            expect(isinf(l.pre[i]), "an infinity is lost in pre[%ld][%ld]", r, c);
        else
            expect(isfinite(l.pre[i]) && isfinite(l.y[i]),
                   "y[%ld][%ld] is %g, its row and weights "
                   "are finite",
                   r, c, l.y[i]);
    }
    layer bare = l;
    bare.pre = NULL;
    forward("linear_forward_fused", &bare, 0);
    for (long c = 0; c < l.out; c++)
        expect(isnan(l.y[row * l.out + c]), "without pre, the NaN in x[%ld] is lost in y[%ld][%ld]",
               row, row, c);
}

static void run_timed(const char *function, const long *shape)
{
    layer l = random_layer(shape);
    l.pre = NULL;
    forward(function, &l, 0);
    expect_layer(&l);
}

/* ---- convolution, normalization, residual, ReLU ---------------------------------------------- */

typedef struct block {
    conv_shape c;
    statistics s;
    float *x, *w, *residual, *y; /* residual may be NULL */
    float eps;
} block;

/* One channel is that of a filter which never answered: its variance is 0. */
static block random_block(const long *shape)
{
    block b = {.c = conv_shape_of(shape), .eps = EPS};
    const size_t channels = (size_t)b.c.out_channels;
    b.x = random_f32(b.c.x_size);
    b.w = random_f32(b.c.w_size);
    b.residual = random_f32_between(b.c.y_size, -4.0f, 4.0f);
    b.y = f32_array(b.c.y_size);
    b.s = random_statistics(channels);
    b.s.var[random_below(case_random(), channels)] = 0.0f;
    return b;
}

static void call_block(const char *function, argument y, argument residual, const block *b)
{
    const conv_shape *c = &b->c;
    call_cuda(function, ARGS(y, in_f32("x", b->x, c->x_size), in_f32("w", b->w, c->w_size),
                             STATISTICS(b->s, (size_t)c->out_channels), residual, CONV_SHAPE(c),
                             f32(b->eps), stream()));
}

static void fused_block(const char *function, const block *b)
{
    const size_t n = b->c.y_size;
    call_block(function, out_f32("y", b->y, n),
               b->residual ? in_f32("residual", b->residual, n) : null_pointer(), b);
}

typedef enum mistake {
    NONE,
    NO_RESIDUAL,
    RELU_FIRST,
    EPS_OUTSIDE,
    NO_EPS,
    NO_ROOT,
    NO_BETA,
    OF_BATCH
} mistake;

static double finished(double sum, const block *b, size_t at, mistake m)
{
    const size_t c = at / (size_t)(b->c.out_h * b->c.out_w) % (size_t)b->c.out_channels;
    const double var = b->s.var[c], residual = b->residual ? b->residual[at] : 0.0;
    const double deviation = m == EPS_OUTSIDE ? sqrt(var) + EPS
                             : m == NO_EPS    ? sqrt(var)
                             : m == NO_ROOT   ? var + EPS
                                              : sqrt(var + EPS);
    double z = (sum - b->s.mean[c]) / deviation * b->s.gamma[c];
    if (m != NO_BETA) z += b->s.beta[c];
    if (m == RELU_FIRST) return fmax(z, 0.0) + residual;
    if (m != NO_RESIDUAL) z += residual;
    return z < 0.0 ? 0.0 : z; /* NaN stays */
}

/* Another block, with the mean and variance of the batch's own sums. */
static block with_own_statistics(const block *b, const double *sum)
{
    const size_t channels = (size_t)b->c.out_channels, pixels = (size_t)(b->c.out_h * b->c.out_w);
    const double n = (double)b->c.batch * (double)pixels;
    block own = *b;
    own.s.mean = f32_array(channels);
    own.s.var = f32_array(channels);
    double *total = f64_array(channels), *squares = f64_array(channels);
    for (size_t i = 0; i < b->c.y_size; i++) total[i / pixels % channels] += sum[i];
    for (size_t i = 0; i < b->c.y_size; i++) {
        const double distance = sum[i] - total[i / pixels % channels] / n;
        squares[i / pixels % channels] += distance * distance;
    }
    for (size_t c = 0; c < channels; c++) {
        own.s.mean[c] = (float)(total[c] / n);
        own.s.var[c] = (float)(squares[c] / n);
    }
    return own;
}

static double *wrong_block(const block *b, const double *sum, mistake m)
{
    const block own = m == OF_BATCH ? with_own_statistics(b, sum) : *b;
    double *wrong = f64_array(b->c.y_size);
    for (size_t i = 0; i < b->c.y_size; i++) wrong[i] = finished(sum[i], &own, i, m);
    return wrong;
}

static void suspect_epilogue(const block *b, const double *sum)
{
    if (b->residual) {
        suspect("the residual is not added", wrong_block(b, sum, NO_RESIDUAL));
        suspect("the residual is added after the ReLU", wrong_block(b, sum, RELU_FIRST));
    }
    suspect("eps is added to the deviation, not to the variance", wrong_block(b, sum, EPS_OUTSIDE));
    suspect("eps is left out", wrong_block(b, sum, NO_EPS));
    suspect("x - mean is divided by the variance, not by its root", wrong_block(b, sum, NO_ROOT));
    suspect("beta is not added", wrong_block(b, sum, NO_BETA));
    suspect("mean and variance are those of this batch", wrong_block(b, sum, OF_BATCH));
}

typedef struct wanted {
    const block *b;
    const double *sum;
    double *scale, *want;
} wanted;

/* @param context what the convolution alone gives; scale is that of its sums before */
static void finish_part(size_t begin, size_t end, void *context)
{
    const wanted *w = context;
    const block *b = w->b;
    const size_t pixels = (size_t)(b->c.out_h * b->c.out_w);
    for (size_t i = begin; i < end; i++) {
        const size_t at = i / pixels % (size_t)b->c.out_channels;
        w->want[i] = finished(w->sum[i], b, i, NONE);
        w->scale[i] = (w->scale[i] + fabs(b->s.mean[at])) * fabs(b->s.gamma[at]) /
                          sqrt((double)b->s.var[at] + EPS) +
                      fabs(b->s.beta[at]) + (b->residual ? fabs(b->residual[i]) : 0.0);
    }
}

static void expect_block(const block *b)
{
    const conv_shape *c = &b->c;
    double *sum = f64_array(c->y_size), *scale = f64_array(c->y_size), *want = f64_array(c->y_size);
    reference_conv2d(sum, scale, b->x, b->w, NULL, c);
    parallel(c->y_size, 30, finish_part, &(wanted){b, sum, scale, want});
    const layout y = {"y", (size_t)(c->batch * c->out_channels * c->out_h), (size_t)c->out_w};
    if (!is_close(y, b->y, want, scale, FP32_SUM_TOLERANCE)) suspect_epilogue(b, sum);
    expect_close(y, b->y, want, scale, FP32_SUM_TOLERANCE);
}

static void run_random(const long *shape)
{
    const block b = random_block(shape);
    fused_block("conv_bn_relu", &b);
    expect_block(&b);
}

static void run_any(const long *shape)
{
    conv_any(shape, run_random);
}

static void run_without_residual(const long *shape)
{
    block b = random_block(shape);
    b.residual = NULL;
    fused_block("conv_bn_relu", &b);
    expect_block(&b);
}

/* @return x / divisor, [count] */
static float *divided(const float *x, size_t count, float divisor)
{
    float *y = f32_array(count);
    for (size_t i = 0; i < count; i++) y[i] = x[i] / divisor;
    return y;
}

/* An eighth of every sum, and a 64th of variance and eps: y is as ever. */
static void run_other_eps(const long *shape)
{
    const block b = random_block(shape);
    const size_t channels = (size_t)b.c.out_channels;
    block small = b;
    small.w = divided(b.w, b.c.w_size, 8);
    small.s.mean = divided(b.s.mean, channels, 8), small.s.var = divided(b.s.var, channels, 64);
    small.eps = b.eps / 64;
    fused_block("conv_bn_relu", &small);
    expect_block(&b);
}

/* y is the residual, and overwritten. */
static void run_in_place(const long *shape)
{
    const block b = random_block(shape);
    memcpy(b.y, b.residual, b.c.y_size * sizeof *b.y);
    call_block("conv_bn_relu", inout_f32("y", b.y, b.c.y_size), same_as(0), &b);
    expect_block(&b);
}

/* One in x, one in the residual, in a gamma and a variance: all that they reach is NaN, and nothing
 * else. An infinity in the residual is one in y, or 0. */
static void run_block_nan(const long *shape)
{
    const block b = random_block(shape);
    b.x[random_below(case_random(), b.c.x_size)] = NAN;
    sprinkle_special_f32(b.residual, b.c.y_size, 1);
    const long channel = (long)random_below(case_random(), (uint64_t)b.c.out_channels);
    b.s.gamma[channel] = b.s.var[(channel + 1) % b.c.out_channels] = NAN;
    fused_block("conv_bn_relu", &b);
    expect_block(&b);
}

static void run_timed_block(const char *function, const long *shape)
{
    const block b = random_block(shape);
    fused_block(function, &b);
    if (strncmp(function, "baseline_", 9) != 0) expect_block(&b); /* that is ours, and believed */
}

/* ---- residual, layer normalization ----------------------------------------------------------- */

typedef struct residual_rows {
    long rows, cols;
    float *x, *residual, *gamma, *beta, *y, *mean, *rstd;
    float *sum; /* may be NULL: it is not asked for */
    float eps;
} residual_rows;

static residual_rows random_residual_rows(const long *shape)
{
    const size_t size = (size_t)(shape[0] * shape[1]);
    const size_t rows = (size_t)shape[0], cols = (size_t)shape[1];
    return (residual_rows){.rows = shape[0],
                           .cols = shape[1],
                           .x = random_rows((row_values)shape[2], shape[0], shape[1]),
                           .residual = random_f32_between(size, -2.0f, 2.0f),
                           .gamma = random_f32_between(cols, -2.0f, 2.0f),
                           .beta = random_f32(cols),
                           .y = f32_array(size),
                           .mean = f32_array(rows),
                           .rstd = f32_array(rows),
                           .sum = f32_array(size),
                           .eps = norm_eps};
}

static void call_residual_rows(const char *function, const residual_rows *n, unsigned shift)
{
    const size_t size = (size_t)(n->rows * n->cols), r = (size_t)n->rows, c = (size_t)n->cols;
    argument sum = n->sum ? shifted(out_f32("sum", n->sum, size), 2 * shift) : null_pointer();
    call_cuda(function, ARGS(shifted(out_f32("y", n->y, size), shift), sum,
                             shifted(out_f32("mean", n->mean, r), shift),
                             shifted(out_f32("rstd", n->rstd, r), shift),
                             shifted(in_f32("x", n->x, size), shift),
                             shifted(in_f32("residual", n->residual, size), 3 * shift),
                             shifted(in_f32("gamma", n->gamma, c), shift),
                             shifted(in_f32("beta", n->beta, c), shift), i32((int)n->rows),
                             i32((int)n->cols), f32(n->eps), stream()));
}

static void expect_residual_rows(const residual_rows *n)
{
    const size_t size = (size_t)(n->rows * n->cols);
    float *sum = f32_array(size);
    double *want = f64_array(size);
    for (size_t i = 0; i < size; i++) want[i] = sum[i] = n->x[i] + n->residual[i];
    if (n->sum)
        expect_close((layout){"sum", (size_t)n->rows, (size_t)n->cols}, n->sum, want, NULL, 1e-6);
    expect_row_statistics(n->mean, n->rstd, sum, n->rows, n->cols);
    expect_layernorm("y", n->y, sum, n->gamma, n->beta, n->rows, n->cols);
}

static void run_residual_rows(const long *shape)
{
    const residual_rows n = random_residual_rows(shape);
    call_residual_rows("residual_layernorm_forward", &n, 0);
    expect_residual_rows(&n);
}

/* As run_other_eps. */
static void run_rows_other_eps(const long *shape)
{
    const residual_rows n = random_residual_rows(shape);
    const size_t rows = (size_t)n.rows, size = rows * (size_t)n.cols;
    residual_rows small = n;
    small.x = divided(n.x, size, 8), small.residual = divided(n.residual, size, 8);
    small.eps = n.eps / 64;
    call_residual_rows("residual_layernorm_forward", &small, 0);
    for (size_t i = 0; i < size; i++) n.sum[i] *= 8;
    for (size_t i = 0; i < rows; i++) n.mean[i] *= 8, n.rstd[i] /= 8;
    expect_residual_rows(&n);
}

static void run_without_sum(const long *shape)
{
    residual_rows n = random_residual_rows(shape);
    n.sum = NULL;
    call_residual_rows("residual_layernorm_forward", &n, 0);
    expect_residual_rows(&n);
}

static void run_rows_misaligned(const long *shape)
{
    const residual_rows n = random_residual_rows(shape);
    call_residual_rows("residual_layernorm_forward", &n, 4);
    expect_residual_rows(&n);
}

static void run_counted_rows(const char *function, const long *shape)
{
    const residual_rows n = random_residual_rows(shape);
    call_residual_rows(function, &n, 0);
    if (strncmp(function, "baseline_", 9) != 0) expect_residual_rows(&n);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const grading_case cases[] = {
    {.name = "fused_1x1x1", .run = run_fused, .shape = {1, 1, 1}},
    {.name = "fused_1x7x1", .run = run_fused, .shape = {1, 7, 1}},
    {.name = "fused_16x16x16", .run = run_fused, .shape = {16, 16, 16}},
    {.name = "fused_17x33x65", .run = run_fused, .shape = {17, 33, 65}},
    {.name = "fused_33x1x129", .run = run_fused, .shape = {33, 1, 129}},
    {.name = "fused_1x1000x100", .run = run_fused, .shape = {1, 1000, 100}},
    {.name = "fused_40x500x70", .run = run_fused, .shape = {40, 500, 70}},
    {.name = "fused_257x64x100", .run = run_fused, .shape = {257, 64, 100}},
    {.name = "fused_any", .run = run_fused, .shape = {1, 1, 1}, .most = {90, 300, 90}},
    LONG_ROW("fused_70001x2x3", run_fused, 70001, 2, 3),
    LONG_ROW("fused_2x5003x3", run_fused, 2, 5003, 3),
    LONG_ROW("fused_2x3x70001", run_fused, 2, 3, 70001),
    {.name = "fused_empty_batch", .run = run_fused, .shape = {0, 5, 3}},
    {.name = "fused_no_inputs", .run = run_fused, .shape = {5, 0, 3}},
    {.name = "fused_no_outputs", .run = run_fused, .shape = {5, 3, 0}},
    {.name = "fused_misaligned", .run = run_misaligned, .shape = {35, 45, 55}},
    {.name = "fused_nan", .run = run_nan, .shape = {37, 29, 41}},
    {.name = "without_pre_17x33x65", .run = run_without_pre, .shape = {17, 33, 65}},
    {.name = "without_pre_129x10x65", .run = run_without_pre, .shape = {129, 10, 65}},
    {.name = "fused_1030x260x1050", .run = run_fused, .shape = {1030, 260, 1050}, .once = true},
    GPU_ROW("fused_1000x1001x1002", run_fused, 1000, 1001, 1002),
    GPU_ROW("fused_1030x1001x1050", run_fused, 1030, 1001, 1050),
    GPU_ROW("fused_70000x3x5", run_fused, 70000, 3, 5),
    {.name = "fused_1048577x1x1", .run = run_fused, .shape = {1048577, 1, 1}, .where = ON_GPU},
    {.name = "2x7x13x11 by 65 of 3x3, pad 1",
     .run = run_random,
     .shape = {2, 7, 13, 11, 65, 3, 3, 1, 1},
     .part = "conv_bn_relu"},
    CONV_RANDOM_ROWS,
    CONV_ANY(3, 9, 70),
    CONV_LONG_ROWS,
    {.name = "3x129x5x4 by 10 of 1x1", .run = run_random, .shape = {3, 129, 5, 4, 10, 1, 1, 1, 0}},
    {.name = "without residual, 2x3x8x11 by 4 of 3x3, pad 1",
     .run = run_without_residual,
     .shape = {2, 3, 8, 11, 4, 3, 3, 1, 1}},
    {.name = "without residual, 1x3x23x30 by 17 of 7x7, stride 2, pad 3",
     .run = run_without_residual,
     .shape = {1, 3, 23, 30, 17, 7, 7, 2, 3}},
    {.name = "another eps, 2x3x8x11 by 4 of 3x3, pad 1",
     .run = run_other_eps,
     .shape = {2, 3, 8, 11, 4, 3, 3, 1, 1}},
    {.name = "residual in place, 2x5x9x12 by 19 of 3x3, pad 1",
     .run = run_in_place,
     .shape = {2, 5, 9, 12, 19, 3, 3, 1, 1}},
    {.name = "nan, 2x2x9x11 by 3 of 3x3, stride 2, pad 1",
     .run = run_block_nan,
     .shape = {2, 2, 9, 11, 3, 3, 3, 2, 1}},
    CONV_GPU_ROWS,
    {.name = "residual, rows 3x1",
     .run = run_residual_rows,
     .shape = {3, 1},
     .part = "residual_layernorm_forward"},
    {.name = "residual, rows 17x32", .run = run_residual_rows, .shape = {17, 32}},
    {.name = "residual, rows 9x257", .run = run_residual_rows, .shape = {9, 257}},
    {.name = "residual, rows, any", .run = run_residual_rows, .shape = {1, 1}, .most = {30, 2000}},
    {.name = "residual, rows 4x768", .run = run_residual_rows, .shape = {4, 768}},
    {.name = "residual, rows 2x9001", .run = run_residual_rows, .shape = {2, 9001}},
    {.name = "residual, rows 1x70001", .run = run_residual_rows, .shape = {1, 70001}, .once = true},
    {.name = "residual, rows 70001x1", .run = run_residual_rows, .shape = {70001, 1}, .once = true},
    {.name = "residual, rows 0x7", .run = run_residual_rows, .shape = {0, 7}},
    {.name = "residual, rows 7x0", .run = run_residual_rows, .shape = {7, 0}},
    {.name = "residual, rows around 10000, 6x768",
     .run = run_residual_rows,
     .shape = {6, 768, AROUND_10000}},
    {.name = "residual, rows with a nan, 6x263",
     .run = run_residual_rows,
     .shape = {6, 263, WITH_NAN}},
    {.name = "residual, rows with infinity, 5x260",
     .run = run_residual_rows,
     .shape = {5, 260, WITH_INFINITY}},
    {.name = "residual, rows misaligned, 5x256", .run = run_rows_misaligned, .shape = {5, 256}},
    {.name = "residual, rows, another eps, 5x300", .run = run_rows_other_eps, .shape = {5, 300}},
    {.name = "residual, rows without sum, 2x9001", .run = run_without_sum, .shape = {2, 9001}},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "three kernels", .shape = "batch 8192, 64 → 2048"},
     .function = "linear_forward_fused",
     .baseline = "baseline_linear_forward_fused",
     .run = run_timed,
     .shape = {8192, 64, 2048},
     .where = ON_GPU,
     .threshold = 1.08,
     .flop = 2.0 * 8192 * 64 * 2048,
     .peer_share = 0.067},
    {.metric = {"speedup", .over = "three kernels",
                .shape = "16 × 64 × 56 × 56, 256 filters of 1 × 1"},
     .function = "conv_bn_relu",
     .baseline = "baseline_conv_bn_relu",
     .run = run_timed_block,
     .shape = {16, 64, 56, 56, 256, 1, 1, 1, 0},
     .varied = 4,
     .where = ON_GPU,
     .threshold = 1.05,
     .flop = 2.0 * 16 * 64 * 256 * 56 * 56,
     .peer_share = 0.03},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"bytes stored", .relative_to = MINIMUM, .shape = "batch 256, 64 → 256"},
     .function = "linear_forward_fused",
     .run = run_timed,
     .shape = {256, 64, 256},
     .count = stored_bytes,
     .ideal = 4.0 * 256 * 256,
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 3},
    {.metric = {"bank conflicts", .per = "warp FMA", .shape = "batch 256, 64 → 256"},
     .function = "linear_forward_fused",
     .run = run_timed,
     .shape = {256, 64, 256},
     .count = bank_conflicts,
     .ideal = 256.0 * 64 * 256 / 32,
     .bound = AT_MOST,
     .wanted = 0.2,
     .begin = 7},
    {.metric = {"bytes stored", .relative_to = MINIMUM,
                .shape = "2 × 32 × 16 × 16, 64 filters of 1 × 1"},
     .function = "conv_bn_relu",
     .run = run_timed_block,
     .shape = {2, 32, 16, 16, 64, 1, 1, 1, 0},
     .count = stored_bytes,
     .ideal = 4.0 * 2 * 64 * 16 * 16,
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 2},
    {.metric = {"reduction in DRAM bytes", .over = "three kernels",
                .shape = "2 × 32 × 16 × 16, 64 filters of 1 × 1"},
     .function = "conv_bn_relu",
     .baseline = "baseline_conv_bn_relu",
     .run = run_timed_block,
     .shape = {2, 32, 16, 16, 64, 1, 1, 1, 0},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 1.2},
    {.metric = {"kernel launches", .shape = "2 × 32 × 16 × 16, 64 filters of 1 × 1"},
     .function = "conv_bn_relu",
     .run = run_timed_block,
     .shape = {2, 32, 16, 16, 64, 1, 1, 1, 0},
     .count = kernel_launches,
     .bound = EXACTLY,
     .wanted = 1},
    {.metric = {"reduction in DRAM bytes", .over = "two kernels", .shape = "64 × 512"},
     .function = "residual_layernorm_forward",
     .baseline = "baseline_residual_layernorm_forward",
     .run = run_counted_rows,
     .shape = {64, 512},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 1.1},
    {.metric = {"instructions", .per = "warp", .shape = "batch 1024, 64 → 1024"},
     .function = "linear_forward_fused",
     .run = run_timed,
     .shape = {1024, 64, 1024},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 20000},
    {0},
};

EXERCISE(404) = {
    .id = 404,
    .core = true,
    .name = "fusion",
    .file = "phase4_optimization/404_fusion/404_fusion.cu",
    .parts = {"phase4_optimization/404_fusion/404_tile.cuh"},
    .includes = {"phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"},
    .functions = {"linear_forward_fused", "conv_bn_relu", "residual_layernorm_forward"},
    .prerequisites = {212},
    .promises = {{"residual_layernorm_forward", WAITS_FOR_NOTHING, .launches = 1}},
    .own_prerequisites = true,
    .baseline_file = "grader/exercises/404_fusion/baseline.cu",
    .points = 15,
    .speed_points = 10,
    .see = "fused_17x33x65",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
