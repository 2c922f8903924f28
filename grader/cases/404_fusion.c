/* 404_fusion.c: linear, bias and ReLU in one kernel, with and without the saved input of the ReLU;
 * speed against three kernels where the sum is short. shape: batch, in, out */
#include "layer_cases.h"

#include <math.h>

#define SAMPLED_ROWS 100 /* of a timed call */

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
    const int *some = random_i32(SAMPLED_ROWS, 0, (int)l->batch);
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
            expect(isnan(l.pre[i]), "a NaN in x[%ld] is lost in pre[%ld][%ld]", row, r, c);
        else if (c == col)
            expect(isinf(l.pre[i]), "an infinity is lost in pre[%ld][%ld]", r, c);
        else
            expect(isfinite(l.pre[i]) && isfinite(l.y[i]),
                   "y[%ld][%ld] is %g, its row and weights "
                   "are finite",
                   r, c, l.y[i]);
    }
}

static void run_timed(const char *function, const long *shape)
{
    layer l = random_layer(shape);
    l.pre = NULL;
    forward(function, &l, 0);
    expect_layer(&l);
}

static const grading_case cases[] = {
    {.name = "fused_1x1x1", .run = run_fused, .shape = {1, 1, 1}},
    {.name = "fused_1x7x1", .run = run_fused, .shape = {1, 7, 1}},
    {.name = "fused_16x16x16", .run = run_fused, .shape = {16, 16, 16}},
    {.name = "fused_17x33x65", .run = run_fused, .shape = {17, 33, 65}},
    {.name = "fused_33x1x129", .run = run_fused, .shape = {33, 1, 129}},
    {.name = "fused_1x1000x100", .run = run_fused, .shape = {1, 1000, 100}},
    {.name = "fused_40x500x70", .run = run_fused, .shape = {40, 500, 70}},
    {.name = "fused_257x64x100", .run = run_fused, .shape = {257, 64, 100}},
    {.name = "fused_empty_batch", .run = run_fused, .shape = {0, 5, 3}},
    {.name = "fused_no_inputs", .run = run_fused, .shape = {5, 0, 3}},
    {.name = "fused_misaligned", .run = run_misaligned, .shape = {35, 45, 55}},
    {.name = "fused_nan", .run = run_nan, .shape = {37, 29, 41}},
    {.name = "without_pre_17x33x65", .run = run_without_pre, .shape = {17, 33, 65}},
    {.name = "without_pre_129x10x65", .run = run_without_pre, .shape = {129, 10, 65}},
    {.name = "fused_1000x1001x1002",
     .run = run_fused,
     .shape = {1000, 1001, 1002},
     .where = ON_GPU},
    {.name = "fused_70000x3x5", .run = run_fused, .shape = {70000, 3, 5}, .where = ON_GPU},
    {0},
};

static const speed_test speed[] = {
    {.metric = "times three kernels, batch 8192, 64 to 2048",
     .function = "linear_forward_fused",
     .baseline = "baseline_linear_forward_fused",
     .run = run_timed,
     .shape = {8192, 64, 2048},
     .where = ON_GPU,
     .threshold = 1.08,
     .flop = 2.0 * 8192 * 64 * 2048,
     .peer_share = 0.067},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = "bytes stored, of those that must be, batch 256, 64 to 256",
     .function = "linear_forward_fused",
     .run = run_timed,
     .shape = {256, 64, 256},
     .count = stored_bytes,
     .ideal = 4.0 * 256 * 256,
     .bound = AT_MOST,
     .wanted = 1.1},
    {.metric = "bank conflicts a request, batch 256, 64 to 256",
     .function = "linear_forward_fused",
     .run = run_timed,
     .shape = {256, 64, 256},
     .count = conflicts_per_request,
     .bound = AT_MOST,
     .wanted = 0.1},
    {0},
};

EXERCISE(404) = {
    .id = 404,
    .name = "fusion",
    .file = "phase4_optimization/404_fusion.cu",
    .functions = {"linear_forward_fused"},
    .baseline_file = "grader/baselines/404_fusion.cu",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
