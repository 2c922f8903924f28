/* 303_linear: the linear layer against a plain product of matrices, its gradients against two
 * more and against each other; the speed of both against kernels without tiles. shape: batch, in,
 * out */
#include "exercises/shared/layer_cases.h"

#include <math.h>
#include <string.h>

typedef struct layer {
    long batch, in, out;
    float *x, *w, *bias, *y;                     /* [batch x in] [out x in] [out] [batch x out] */
    float *grad_y, *grad_x, *grad_w, *grad_bias; /* of the same shapes */
} layer;

static layer random_layer(const long *shape)
{
    layer l = {.batch = shape[0], .in = shape[1], .out = shape[2]};
    const size_t xs = (size_t)(l.batch * l.in), ws = (size_t)(l.out * l.in);
    const size_t ys = (size_t)(l.batch * l.out), out = (size_t)l.out;
    l.x = random_f32(xs), l.w = random_f32(ws), l.bias = random_f32(out), l.y = f32_array(ys);
    l.grad_y = random_f32(ys), l.grad_x = f32_array(xs), l.grad_w = f32_array(ws);
    l.grad_bias = f32_array(out);
    return l;
}

/* Where bias is NULL, so is the pointer that the function gets. */
static void forward(const char *function, const layer *l, unsigned shift)
{
    argument bias =
        l->bias ? shifted(in_f32("bias", l->bias, (size_t)l->out), 2 * shift) : null_pointer();
    call_cuda(function, ARGS(shifted(out_f32("y", l->y, (size_t)(l->batch * l->out)), shift),
                             shifted(in_f32("x", l->x, (size_t)(l->batch * l->in)), shift),
                             shifted(in_f32("w", l->w, (size_t)(l->out * l->in)), 3 * shift), bias,
                             i32((int)l->batch), i32((int)l->in), i32((int)l->out), stream()));
}

static argument wanted(const char *name, float *data, long count)
{
    return data ? out_f32(name, data, (size_t)count) : null_pointer();
}

static void backward(const char *function, const layer *l)
{
    call_cuda(function, ARGS(wanted("grad_x", l->grad_x, l->batch * l->in),
                             wanted("grad_w", l->grad_w, l->out * l->in),
                             wanted("grad_bias", l->grad_bias, l->out),
                             in_f32("grad_y", l->grad_y, (size_t)(l->batch * l->out)),
                             in_f32("x", l->x, (size_t)(l->batch * l->in)),
                             in_f32("w", l->w, (size_t)(l->out * l->in)), i32((int)l->batch),
                             i32((int)l->in), i32((int)l->out), stream()));
}

static void expect_y(const layer *l)
{
    expect_linear("y", l->y, l->x, l->w, l->bias, l->batch, l->in, l->out);
}

static void expect_gradients(const layer *l)
{
    const float *grad_y_t = transposed(l->grad_y, l->batch, l->out);
    float *ones = f32_array((size_t)l->batch);
    for (long r = 0; r < l->batch; r++) ones[r] = 1.0f;
    if (l->grad_x) expect_product("grad_x", l->grad_x, l->grad_y, l->w, l->batch, l->in, l->out);
    if (l->grad_w) expect_product("grad_w", l->grad_w, grad_y_t, l->x, l->out, l->in, l->batch);
    if (l->grad_bias) {
        expect_product("grad_bias", l->grad_bias, ones, l->grad_y, 1, l->out, l->batch);
    }
}

static void run_forward(const long *shape)
{
    const layer l = random_layer(shape);
    forward("linear_forward", &l, 0);
    expect_y(&l);
}

static void run_forward_no_bias(const long *shape)
{
    layer l = random_layer(shape);
    l.bias = NULL;
    forward("linear_forward", &l, 0);
    expect_y(&l);
}

static void run_forward_misaligned(const long *shape)
{
    const layer l = random_layer(shape);
    forward("linear_forward", &l, 4);
    expect_y(&l);
}

/* A NaN in x reaches its row, an infinity in w its column, and neither gets any further. */
static void run_forward_nan(const long *shape)
{
    const layer l = random_layer(shape);
    const long row = (long)random_below(case_random(), (uint64_t)l.batch);
    const long col = (long)random_below(case_random(), (uint64_t)l.out);
    l.x[row * l.in + l.in - 1] = NAN;
    l.w[col * l.in + 2] = INFINITY;
    forward("linear_forward", &l, 0);
    for (long r = 0; r < l.batch; r++) {
        for (long c = 0; c < l.out; c++) {
            const float got = l.y[r * l.out + c];
            if (r == row)
                expect(isnan(got), "a NaN in x[%ld] is lost in y[%ld][%ld]", row, r, c);
            else if (c == col)
                expect(isinf(got), "an infinity in w is lost in y[%ld][%ld]", r, c);
            else
                expect(isfinite(got), "y[%ld][%ld] is %g, its row and weights are finite", r, c,
                       got);
        }
    }
}

static void run_backward(const long *shape)
{
    const layer l = random_layer(shape);
    backward("linear_backward", &l);
    expect_gradients(&l);
}

static void run_same_bits(const long *shape)
{
    random_state *random = case_random();
    const random_state before = *random;
    layer first = {0};
    for (int n = 0; n < 3; n++) {
        *random = before; /* the same layer once more */
        const layer l = random_layer(shape);
        backward("linear_backward", &l);
        if (n == 0) first = l;
        const struct {
            const char *name;
            const float *first, *again;
            long count;
        } all[] = {{"grad_x", first.grad_x, l.grad_x, l.batch * l.in},
                   {"grad_w", first.grad_w, l.grad_w, l.out * l.in},
                   {"grad_bias", first.grad_bias, l.grad_bias, l.out}};
        for (int i = 0; i < 3; i++)
            expect(memcmp(all[i].first, all[i].again, (size_t)all[i].count * sizeof(float)) == 0,
                   "%s has other bits for the same input: the order of additions changes",
                   all[i].name);
    }
    expect_gradients(&first);
}

/* Each NaN and each infinity shows in all that it is a factor of. */
static void run_backward_nan(const long *shape)
{
    const layer l = random_layer(shape);
    sprinkle_special_f32(l.x, (size_t)(l.batch * l.in), 1);
    sprinkle_special_f32(l.w, (size_t)(l.out * l.in), 1);
    sprinkle_special_f32(l.grad_y, (size_t)(l.batch * l.out), 1);
    backward("linear_backward", &l);
    expect_gradients(&l);
}

static void run_without_grad_x(const long *shape)
{
    layer l = random_layer(shape);
    l.grad_x = NULL;
    backward("linear_backward", &l);
    expect_gradients(&l);
}

static void run_grad_x_alone(const long *shape)
{
    layer l = random_layer(shape);
    l.grad_w = l.grad_bias = NULL;
    backward("linear_backward", &l);
    expect_gradients(&l);
}

static void run_without_grad_w(const long *shape)
{
    layer l = random_layer(shape);
    l.grad_w = NULL;
    backward("linear_backward", &l);
    expect_gradients(&l);
}

static void run_without_grad_bias(const long *shape)
{
    layer l = random_layer(shape);
    l.grad_bias = NULL;
    backward("linear_backward", &l);
    expect_gradients(&l);
}

static double dot(const float *a, const float *b, long count, double *scale)
{
    double sum = 0.0;
    for (long i = 0; i < count; i++) sum += (double)a[i] * b[i];
    for (long i = 0; i < count; i++) *scale += fabs((double)a[i] * b[i]);
    return sum;
}

/* Whatever the formulas are: y is linear in x and in w, so grad_y . y, without bias, must equal
 * both grad_x . x and grad_w . w. No reference of the grader takes part. */
static void run_adjoint(const long *shape)
{
    layer l = random_layer(shape);
    l.bias = NULL;
    forward("linear_forward", &l, 0);
    backward("linear_backward", &l);
    double scale = 1.0;
    const double from_y = dot(l.grad_y, l.y, l.batch * l.out, &scale);
    const double from_x = dot(l.grad_x, l.x, l.batch * l.in, &scale);
    const double from_w = dot(l.grad_w, l.w, l.out * l.in, &scale);
    expect(fabs(from_y - from_x) <= FP32_NORM_TOLERANCE * scale,
           "grad_y . y is %.7g, but grad_x . x is %.7g", from_y, from_x);
    expect(fabs(from_y - from_w) <= FP32_NORM_TOLERANCE * scale,
           "grad_y . y is %.7g, but grad_w . w is %.7g", from_y, from_w);
}

static void run_forward_timed(const char *function, const long *shape)
{
    const layer l = random_layer(shape);
    forward(function, &l, 0);
    expect_y(&l);
}

static void run_backward_timed(const char *function, const long *shape)
{
    const layer l = random_layer(shape);
    backward(function, &l);
    expect_gradients(&l);
}

static const grading_case cases[] = {
    {.name = "forward_1x1x1", .run = run_forward, .shape = {1, 1, 1}},
    {.name = "forward_1x7x1", .run = run_forward, .shape = {1, 7, 1}},
    {.name = "forward_16x16x16", .run = run_forward, .shape = {16, 16, 16}},
    {.name = "forward_17x33x65", .run = run_forward, .shape = {17, 33, 65}},
    {.name = "forward_33x1x129", .run = run_forward, .shape = {33, 1, 129}},
    {.name = "forward_1x1000x512", .run = run_forward, .shape = {1, 1000, 512}},
    {.name = "forward_64x784x128", .run = run_forward, .shape = {64, 784, 128}},
    {.name = "forward_64x128x10", .run = run_forward, .shape = {64, 128, 10}},
    LONG_ROW("forward_70001x2x3", run_forward, 70001, 2, 3),
    LONG_ROW("forward_2x5003x3", run_forward, 2, 5003, 3),
    LONG_ROW("forward_2x3x70001", run_forward, 2, 3, 70001),
    {.name = "forward_any_shape", .run = run_forward, .shape = {1, 1, 1}, .most = {60, 700, 60}},
    {.name = "forward_empty_batch", .run = run_forward, .shape = {0, 5, 3}},
    {.name = "forward_no_inputs", .run = run_forward, .shape = {5, 0, 3}},
    {.name = "forward_no_outputs", .run = run_forward, .shape = {5, 3, 0}},
    {.name = "forward_no_bias", .run = run_forward_no_bias, .shape = {31, 47, 21}},
    {.name = "forward_misaligned", .run = run_forward_misaligned, .shape = {35, 45, 55}},
    {.name = "forward_nan", .run = run_forward_nan, .shape = {37, 29, 41}},
    {.name = "backward_1x1x1", .run = run_backward, .shape = {1, 1, 1}, .part = "linear_backward"},
    {.name = "backward_16x16x16", .run = run_backward, .shape = {16, 16, 16}},
    {.name = "backward_17x33x65", .run = run_backward, .shape = {17, 33, 65}},
    {.name = "backward_33x1x129", .run = run_backward, .shape = {33, 1, 129}},
    {.name = "backward_1x300x257", .run = run_backward, .shape = {1, 300, 257}},
    {.name = "backward_129x65x10", .run = run_backward, .shape = {129, 65, 10}},
    LONG_ROW("backward_5003x2x3", run_backward, 5003, 2, 3),
    LONG_ROW("backward_70001x2x3, grad_x alone", run_grad_x_alone, 70001, 2, 3),
    LONG_ROW("backward_2x70001x3", run_backward, 2, 70001, 3),
    LONG_ROW("backward_2x3x5003", run_backward, 2, 3, 5003),
    LONG_ROW("backward_2x3x70001, without grad_x", run_without_grad_x, 2, 3, 70001),
    {.name = "backward_empty_batch", .run = run_backward, .shape = {0, 5, 3}},
    {.name = "backward_no_inputs", .run = run_backward, .shape = {5, 0, 3}},
    {.name = "backward_no_outputs", .run = run_backward, .shape = {5, 3, 0}},
    {.name = "backward, the same bits every time", .run = run_same_bits, .shape = {300, 40, 33}},
    {.name = "backward_nan", .run = run_backward_nan, .shape = {37, 29, 41}},
    {.name = "backward_without_grad_x", .run = run_without_grad_x, .shape = {19, 23, 37}},
    {.name = "backward_without_grad_w", .run = run_without_grad_w, .shape = {19, 23, 37}},
    {.name = "backward_without_grad_bias", .run = run_without_grad_bias, .shape = {19, 23, 37}},
    {.name = "adjoint", .run = run_adjoint, .shape = {41, 67, 53}},
    {.name = "forward_1000x1001x1002",
     .run = run_forward,
     .shape = {1000, 1001, 1002},
     .where = ON_GPU,
     .part = "linear_forward"},
    {.name = "forward_70000x3x5", .run = run_forward, .shape = {70000, 3, 5}, .where = ON_GPU},
    {.name = "backward_1024x1024x1024",
     .run = run_backward,
     .shape = {1024, 1024, 1024},
     .where = ON_GPU,
     .part = "linear_backward"},
    GPU_ROW("backward_70000x33x17", run_backward, 70000, 33, 17),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "the untiled kernel", .shape = "batch 2048, 1024 → 1024"},
     .function = "linear_forward",
     .baseline = "baseline_linear_forward",
     .run = run_forward_timed,
     .shape = {2048, 1024, 1024},
     .where = ON_GPU,
     .threshold = 3.0,
     .flop = 2.0 * 2048 * 1024 * 1024,
     .peer_share = 0.0073},
    {.metric = {"speedup", .over = "the untiled kernels",
                .shape = "batch 2048, 1024 → 1024 (a million weights)"},
     .function = "linear_backward",
     .baseline = "baseline_linear_backward",
     .run = run_backward_timed,
     .shape = {2048, 1024, 1024},
     .where = ON_GPU,
     .threshold = 0.95,
     .flop = 4.0 * 2048 * 1024 * 1024,
     .peer_share = 0.097}, /* that of 211's, whose kernels these are */
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"reduction in DRAM bytes", .over = "the untiled kernel",
                .shape = "batch 128, 128 → 128"},
     .function = "linear_forward",
     .baseline = "baseline_linear_forward",
     .run = run_forward_timed,
     .shape = {128, 128, 128},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 20.0},
    {.metric = {"reduction in DRAM bytes", .over = "the untiled kernels",
                .shape = "batch 128, 128 → 128"},
     .function = "linear_backward",
     .baseline = "baseline_linear_backward",
     .run = run_backward_timed,
     .shape = {128, 128, 128},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 6.0},
    {.metric = {"bank conflicts", .per = "warp FMA", .shape = "batch 128, 128 → 128"},
     .function = "linear_forward",
     .run = run_forward_timed,
     .shape = {128, 128, 128},
     .count = bank_conflicts,
     .ideal = 128.0 * 128 * 128 / 32,
     .bound = AT_MOST,
     .wanted = 0.2,
     .begin = 0.969},
    {.metric = {"kernel launches", .shape = "batch 64, 48 → 40"},
     .function = "linear_backward",
     .run = run_backward_timed,
     .shape = {64, 48, 40},
     .count = kernel_launches,
     .bound = AT_MOST,
     .wanted = 3},
    {0},
};

EXERCISE(303) = {
    .id = 303,
    .core = true,
    .name = "linear",
    .file = "phase3_layers/303_linear/303_linear.cu",
    .functions = {"linear_forward", "linear_backward"},
    .prerequisites = {212, 302},
    .own_prerequisites = true,
    .baseline_file = "grader/exercises/303_linear/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "forward_17x33x65",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
