/* 3c_llama_block: RMSNorm, rotary embedding and SwiGLU against double: any sizes, in place, large
 * and tiny values, late positions; what the usual mistakes give. */
#include "exercises/shared/layer_cases.h"
#include "exercises/shared/norm_cases.h"

#include <math.h>
#include <string.h>

#define SAMPLED_ROWS 200 /* of a timed call */
#define SAMPLES      16  /* coordinates that are moved */

enum { INVALID_VALUE = 1 };

static bool is_baseline(const char *function)
{
    return strncmp(function, "baseline_", 9) == 0; /* ours, and believed */
}

/* ---- RMSNorm: shape: rows, cols, values, in place, without eps ------------------------------- */

enum values { AROUND_ZERO, LARGE_VALUES, TINY_VALUES, NAN_SOMEWHERE, INFINITY_SOMEWHERE };

typedef struct rms_rows {
    const float *x, *gamma, *grad_y;
    float *y, *inv_rms, *grad_x, *grad_gamma;
    long rows, cols;
} rms_rows;

static float *values_of(enum values values, size_t size)
{
    const float reach = values == LARGE_VALUES ? 1e16f : values == TINY_VALUES ? 0.003f : 2.0f;
    float *x = random_f32_between(size, -reach, 2.0f * reach);
    if (values == NAN_SOMEWHERE) sprinkle_f32(x, size, NAN, 1);
    if (values == INFINITY_SOMEWHERE) sprinkle_f32(x, size, INFINITY, 1);
    return x;
}

static double mean_square(const rms_rows *n, long row)
{
    double sum = 0.0;
    for (long i = row * n->cols; i < (row + 1) * n->cols; i++) sum += (double)n->x[i] * n->x[i];
    return sum / (double)n->cols;
}

static rms_rows draw_rows(const long *shape)
{
    const size_t r = (size_t)shape[0], c = (size_t)shape[1];
    norm_eps = shape[4] ? 0.0f : shape[0] % 2 ? 1e-5f : 1e-3f; /* not always the usual one */
    const rms_rows n = {.x = values_of((enum values)shape[2], r * c),
                        .gamma = random_f32_between(c, -2.0f, 2.0f),
                        .grad_y = random_f32(r * c),
                        .y = f32_array(r * c),
                        .inv_rms = f32_array(r),
                        .grad_x = f32_array(r * c),
                        .grad_gamma = f32_array(c),
                        .rows = shape[0],
                        .cols = shape[1]};
    return n;
}

/* What x is multiplied by, as it should be and as mistakes have it. */
typedef double inverse(const rms_rows *, long row);

static double right_inverse(const rms_rows *n, long row)
{
    return 1.0 / sqrt(mean_square(n, row) + norm_eps);
}

static double without_eps(const rms_rows *n, long row)
{
    return 1.0 / sqrt(mean_square(n, row));
}

static double eps_outside(const rms_rows *n, long row)
{
    return 1.0 / (sqrt(mean_square(n, row)) + norm_eps);
}

static double of_the_sum(const rms_rows *n, long row)
{
    return 1.0 / sqrt(mean_square(n, row) * (double)n->cols + norm_eps);
}

static double over_rows(const rms_rows *n, long row)
{
    return 1.0 / sqrt(mean_square(n, row) * (double)n->cols / (double)n->rows + norm_eps);
}

static double of_deviation(const rms_rows *n, long row)
{
    double mean, var;
    row_moments(n->x + row * n->cols, n->cols, &mean, &var);
    return 1.0 / sqrt(var + norm_eps);
}

static double *inverses(const rms_rows *n, inverse *of)
{
    double *all = f64_array((size_t)n->rows);
    for (long r = 0; r < n->rows && n->cols > 0; r++) all[r] = of(n, r);
    return all;
}

static void expect_inv_rms(const rms_rows *n)
{
    double *want = inverses(n, right_inverse), *scale = f64_array((size_t)n->rows);
    for (long r = 0; r < n->rows; r++) scale[r] = want[r] * drift_of(n->cols);
    const layout l = {"inv_rms", 1, (size_t)n->rows};
    if (!is_close(l, n->inv_rms, want, scale, FP32_NORM_TOLERANCE)) {
        suspect("eps is left out", inverses(n, without_eps));
        suspect("eps is added to the root, not under it", inverses(n, eps_outside));
        suspect("the squares are summed, but not divided by cols", inverses(n, of_the_sum));
        suspect("the sum of the squares is divided by rows, not by cols", inverses(n, over_rows));
        suspect("the mean is subtracted: that is layernorm", inverses(n, of_deviation));
    }
    expect_close(l, n->inv_rms, want, scale, FP32_NORM_TOLERANCE);
}

static void expect_scaled(const rms_rows *n)
{
    const size_t size = (size_t)(n->rows * n->cols);
    double *want = f64_array(size), *scale = f64_array(size), *no_gamma = f64_array(size);
    const double *inv_rms = inverses(n, right_inverse);
    for (size_t i = 0; i < size; i++) {
        no_gamma[i] = n->x[i] * inv_rms[i / (size_t)n->cols];
        want[i] = no_gamma[i] * n->gamma[i % (size_t)n->cols];
        scale[i] = fabs(want[i]) * drift_of(n->cols);
    }
    const layout l = {"y", (size_t)n->rows, (size_t)n->cols};
    if (!is_close(l, n->y, want, scale, FP32_NORM_TOLERANCE))
        suspect("gamma is left out", no_gamma);
    expect_close(l, n->y, want, scale, FP32_NORM_TOLERANCE);
}

static void call_forward(const char *function, rms_rows *n, bool in_place)
{
    const size_t size = (size_t)(n->rows * n->cols), r = (size_t)n->rows, c = (size_t)n->cols;
    if (in_place) memcpy(n->y, n->x, size * sizeof *n->y);
    call_cuda(function,
              ARGS(in_place ? inout_f32("y", n->y, size) : out_f32("y", n->y, size),
                   out_f32("inv_rms", n->inv_rms, r),
                   in_place ? same_as(0) : in_f32("x", n->x, size), in_f32("gamma", n->gamma, c),
                   i32((int)n->rows), i32((int)n->cols), f32(norm_eps), stream()));
}

static void rms_forward(const char *function, const long *shape)
{
    rms_rows n = draw_rows(shape);
    call_forward(function, &n, shape[3]);
    if (is_baseline(function)) return;
    expect_inv_rms(&n);
    expect_scaled(&n);
}

static void run_rms_forward(const long *shape)
{
    rms_forward("rmsnorm_forward", shape);
}

/* Nothing is written, not even the root of nothing. */
static void run_no_columns(const long *shape)
{
    const size_t rows = (size_t)shape[0];
    float *inv_rms = f32_array(rows), none[1];
    call_cuda("rmsnorm_forward",
              ARGS(out_f32("y", none, 0), inout_f32("inv_rms", inv_rms, rows), in_f32("x", none, 0),
                   in_f32("gamma", none, 0), i32((int)rows), i32(0), f32(norm_eps), stream()));
    for (size_t r = 0; r < rows; r++)
        expect(inv_rms[r] == 0.0f, "row %zu has no columns, and inv_rms is written", r);
}

static void call_backward(const char *function, rms_rows *n, bool in_place)
{
    const size_t size = (size_t)(n->rows * n->cols), r = (size_t)n->rows, c = (size_t)n->cols;
    if (in_place) memcpy(n->grad_x, n->grad_y, size * sizeof *n->grad_x);
    call_cuda(
        function,
        ARGS(in_place ? inout_f32("grad_x", n->grad_x, size) : out_f32("grad_x", n->grad_x, size),
             out_f32("grad_gamma", n->grad_gamma, c),
             in_place ? same_as(0) : in_f32("grad_y", n->grad_y, size), in_f32("x", n->x, size),
             in_f32("gamma", n->gamma, c), in_f32("inv_rms", n->inv_rms, r), i32((int)n->rows),
             i32((int)n->cols), stream()));
}

static void expect_grad_gamma(const rms_rows *n)
{
    const size_t cols = (size_t)n->cols;
    double *want = f64_array(cols), *scale = f64_array(cols), *of_x = f64_array(cols);
    for (long i = 0; i < n->rows * n->cols; i++) {
        const long r = i / n->cols, c = i % n->cols;
        const double term = (double)n->grad_y[i] * n->x[i] * n->inv_rms[r];
        want[c] += term, scale[c] += fabs(term);
        of_x[c] += (double)n->grad_y[i] * n->x[i];
    }
    const layout l = {"grad_gamma", 1, cols};
    if (!is_close(l, n->grad_gamma, want, scale, FP32_SUM_TOLERANCE))
        suspect("inv_rms is left out of the sum", of_x);
    expect_close(l, n->grad_gamma, want, scale, FP32_SUM_TOLERANCE);
}

typedef struct row_gradients {
    double *want, *scale, *constant, *no_gamma, *summed;
} row_gradients;

static void add_row(const row_gradients *g, const rms_rows *n, long row)
{
    const double count = (double)n->cols, r = n->inv_rms[row];
    double mean = 0.0, size = 0.0, plain = 0.0;
    for (long i = row * n->cols; i < (row + 1) * n->cols; i++) {
        const double xhat = n->x[i] * r, term = n->grad_y[i] * (double)n->gamma[i % n->cols];
        mean += term * xhat / count, size += fabs(term * xhat) / count;
        plain += n->grad_y[i] * xhat / count;
    }
    for (long i = row * n->cols; i < (row + 1) * n->cols; i++) {
        const double xhat = n->x[i] * r, term = n->grad_y[i] * (double)n->gamma[i % n->cols];
        g->want[i] = r * (term - xhat * mean);
        g->scale[i] = r * (fabs(term) + fabs(xhat) * size);
        g->constant[i] = r * term;
        g->no_gamma[i] = r * (n->grad_y[i] - xhat * plain);
        g->summed[i] = r * (term - xhat * mean * count);
    }
}

static void expect_grad_x(const rms_rows *n)
{
    const size_t size = (size_t)(n->rows * n->cols);
    const row_gradients g = {f64_array(size), f64_array(size), f64_array(size), f64_array(size),
                             f64_array(size)};
    for (long r = 0; r < n->rows; r++) add_row(&g, n, r);
    const layout l = {"grad_x", (size_t)n->rows, (size_t)n->cols};
    if (!is_close(l, n->grad_x, g.want, g.scale, FP32_SUM_TOLERANCE)) {
        suspect(
            "the term of inv_rms is missing: inv_rms depends on x, and its cube may be 0 in fp32",
            g.constant);
        suspect("gamma is left out", g.no_gamma);
        suspect("xhat is multiplied by the sum of g xhat, not by its mean", g.summed);
    }
    expect_close(l, n->grad_x, g.want, g.scale, FP32_SUM_TOLERANCE);
}

static rms_rows draw_gradients(const long *shape)
{
    rms_rows n = draw_rows(shape);
    for (long r = 0; r < n.rows && n.cols > 0; r++) n.inv_rms[r] = (float)right_inverse(&n, r);
    return n;
}

static void run_rms_backward(const long *shape)
{
    rms_rows n = draw_gradients(shape);
    call_backward("rmsnorm_backward", &n, shape[3]);
    expect_grad_gamma(&n);
    expect_grad_x(&n);
}

/* A NaN in grad_y is in all of its row of grad_x, and in its column's sum; nowhere else. */
static void run_rms_backward_nan(const long *shape)
{
    rms_rows n = draw_gradients(shape);
    float *grad_y = random_f32((size_t)(n.rows * n.cols));
    sprinkle_f32(grad_y, (size_t)(n.rows * n.cols), NAN, 1);
    n.grad_y = grad_y;
    call_backward("rmsnorm_backward", &n, false);
    expect_grad_gamma(&n);
    expect_grad_x(&n);
}

static void run_same_bits(const long *shape)
{
    rms_rows n = draw_gradients(shape);
    float *before = f32_array((size_t)n.cols);
    for (int i = 0; i < 4; i++) {
        call_backward("rmsnorm_backward", &n, false);
        if (i == 0) expect_grad_gamma(&n);
        for (long c = 0; c < n.cols && i > 0; c++)
            expect(before[c] == n.grad_gamma[c],
                   "grad_gamma[%ld] was %.9g and is %.9g for the same input: the order of "
                   "additions changes",
                   c, before[c], n.grad_gamma[c]);
        memcpy(before, n.grad_gamma, (size_t)n.cols * sizeof *before);
    }
}

/* Sum of grad_y * y over one row, when its element `at` is moved by `step`. */
static double loss(const rms_rows *n, long row, long at, double step)
{
    double squares = 0.0, total = 0.0;
    for (long i = row * n->cols; i < (row + 1) * n->cols; i++) {
        const double x = n->x[i] + (i == at ? step : 0.0);
        squares += x * x;
        total += (double)n->grad_y[i] * n->gamma[i % n->cols] * x;
    }
    return total / sqrt(squares / (double)n->cols + norm_eps);
}

static void run_central_differences(const long *shape)
{
    rms_rows n = draw_gradients(shape);
    call_backward("rmsnorm_backward", &n, false);
    for (int s = 0; s < SAMPLES; s++) {
        const long at = (long)random_below(case_random(), (uint64_t)(n.rows * n.cols));
        const long row = at / n.cols;
        const double slope = (loss(&n, row, at, 1e-4) - loss(&n, row, at, -1e-4)) / 2e-4;
        expect(fabs(n.grad_x[at] - slope) <= 1e-4 * fmax(1.0, fabs(slope)),
               "grad_x[%ld] is %.9g, central differences say %.9g", at, n.grad_x[at], slope);
    }
}

static void run_timed_backward(const char *function, const long *shape)
{
    rms_rows n = draw_gradients(shape);
    call_backward(function, &n, false);
    if (is_baseline(function)) return;
    expect_grad_gamma(&n);
    const int *some = sampled_rows(SAMPLED_ROWS, n.rows);
    rms_rows few = n;
    few.rows = SAMPLED_ROWS;
    few.x = rows_of(n.x, n.cols, some, SAMPLED_ROWS);
    few.grad_y = rows_of(n.grad_y, n.cols, some, SAMPLED_ROWS);
    few.grad_x = rows_of(n.grad_x, n.cols, some, SAMPLED_ROWS);
    few.inv_rms = rows_of(n.inv_rms, 1, some, SAMPLED_ROWS);
    expect_grad_x(&few);
}

/* ---- rotary embedding: shape: count, seq, dim, offset, base, in place, NaN ------------------- */

#define ROPE_TOLERANCE 1e-6 /* of |a| + |b|: what the contract promises */

typedef struct rotation {
    long count, seq, dim, offset;
    float base;
    int direction; /* 1, or -1 to turn back */
} rotation;

/* The angle of pair i at place t of sequence n, as it should be and as mistakes have it. */
typedef double angle(const rotation *, long n, long t, long i);

static double at_position(const rotation *r, double position, double exponent)
{
    return position * pow(r->base, -exponent);
}

static double right_angle(const rotation *r, long n, long t, long i)
{
    (void)n;
    return at_position(r, (double)(r->offset + t), 2.0 * (double)i / (double)r->dim);
}

static double without_offset(const rotation *r, long n, long t, long i)
{
    (void)n;
    return at_position(r, (double)t, 2.0 * (double)i / (double)r->dim);
}

static double other_direction(const rotation *r, long n, long t, long i)
{
    return -right_angle(r, n, t, i);
}

static double of_i_alone(const rotation *r, long n, long t, long i)
{
    (void)n;
    return at_position(r, (double)(r->offset + t), (double)i / (double)r->dim);
}

static double counted_on(const rotation *r, long n, long t, long i)
{
    return at_position(r, (double)(r->offset + n * r->seq + t), 2.0 * (double)i / (double)r->dim);
}

static double base_of_llama(const rotation *r, long n, long t, long i)
{
    rotation usual = *r;
    usual.base = 10000.0f;
    return right_angle(&usual, n, t, i);
}

/* x with its pairs turned: of neighbours, or of elements half a vector apart. */
static double *turned(const rotation *r, const float *x, angle *of, bool neighbours, double *scale)
{
    double *y = f64_array((size_t)(r->count * r->seq * r->dim));
    const long half = r->dim / 2, to_b = neighbours ? 1 : half, to_next = neighbours ? 2 : 1;
    for (long p = 0; p < r->count * r->seq * half; p++) {
        const long i = p % half, row = p / half, a = row * r->dim + i * to_next, b = a + to_b;
        const double by = r->direction * of(r, row / r->seq, row % r->seq, i);
        y[a] = x[a] * cos(by) - x[b] * sin(by);
        y[b] = x[b] * cos(by) + x[a] * sin(by);
        if (scale) scale[a] = scale[b] = fabs(x[a]) + fabs(x[b]);
    }
    return y;
}

/* As it is, where an angle in fp32 explains that: one that is off by some roundings of its size. */
static double *with_rough_angles(const rotation *r, const float *y, const double *want,
                                 const double *scale)
{
    const size_t size = (size_t)(r->count * r->seq * r->dim);
    const double off = 4e-7 * (double)(r->offset + r->seq);
    double *rough = f64_array(size);
    for (size_t i = 0; i < size; i++)
        rough[i] = fabs(y[i] - want[i]) <= off * scale[i] ? y[i] : want[i];
    return rough;
}

static void expect_turned(const char *name, const rotation *r, const float *y, const float *x)
{
    const size_t rows = (size_t)(r->count * r->seq), size = rows * (size_t)r->dim;
    double *scale = f64_array(size), *want = turned(r, x, right_angle, false, scale);
    const layout l = {name, rows, (size_t)r->dim};
    if (!is_close(l, y, want, scale, ROPE_TOLERANCE)) {
        suspect("neighbours are paired: element i belongs with element i + dim/2",
                turned(r, x, right_angle, true, NULL));
        suspect("the rotation is in the wrong direction",
                turned(r, x, other_direction, false, NULL));
        suspect("offset is left out", turned(r, x, without_offset, false, NULL));
        suspect("the exponent lacks its factor of 2", turned(r, x, of_i_alone, false, NULL));
        suspect("positions continue from one sequence to the next: each begins at offset",
                turned(r, x, counted_on, false, NULL));
        suspect("base is taken to be 10000", turned(r, x, base_of_llama, false, NULL));
        suspect("the angle is rounded to fp32, which is too coarse at late positions",
                with_rough_angles(r, y, want, scale));
    }
    expect_close(l, y, want, scale, ROPE_TOLERANCE);
}

static void rope(const char *function, const long *shape, int direction)
{
    const rotation r = {shape[0], shape[1], shape[2], shape[3], (float)shape[4], direction};
    const size_t size = (size_t)(r.count * r.seq * r.dim);
    float *x = random_f32(size), *y = f32_array(size);
    const char *to = direction > 0 ? "y" : "grad_x", *from = direction > 0 ? "x" : "grad_y";
    if (shape[6]) sprinkle_f32(x, size, NAN, 3);
    if (shape[5]) memcpy(y, x, size * sizeof *y);
    call_cuda(function,
              ARGS(shape[5] ? inout_f32(to, y, size) : out_f32(to, y, size),
                   shape[5] ? same_as(0) : in_f32(from, x, size), i32((int)r.count),
                   i32((int)r.seq), i32((int)r.dim), i32((int)r.offset), f32(r.base), stream()));
    expect_turned(to, &r, y, x);
}

static void counted_rope(const char *function, const long *shape)
{
    rope(function, shape, 1);
}

static void run_rope(const long *shape)
{
    rope("rope_forward", shape, 1);
}

static void run_rope_backward(const long *shape)
{
    rope("rope_backward", shape, -1);
}

static void refuse_odd(const char *function)
{
    float *x = random_f32(35), y[35];
    for (int dim = 5; dim <= 7; dim += 2) /* of no vectors, too */
        call_refused(INVALID_VALUE, function,
                     ARGS(out_f32("y", y, 35), in_f32("x", x, 35), i32(dim == 5), i32(35 / dim),
                          i32(dim), i32(0), f32(10000.0f), stream()));
}

static void run_rope_refused(const long *shape)
{
    refuse_odd("rope_forward");
    run_rope(shape);
}

static void run_rope_backward_refused(const long *shape)
{
    refuse_odd("rope_backward");
    run_rope_backward(shape);
}

/* ---- SwiGLU: shape: n, values, in place ------------------------------------------------------ */

#define SWIGLU_TOLERANCE 1e-5 /* expf and a few roundings */

enum gates { USUAL, FAR, WITH_NANS };

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double silu(double x)
{
    if (isinf(x) && x < 0) return NAN;
    return x < -700 ? 0 : x * sigmoid(x); /* where exp overflows in double, too */
}

/* Central differences: no formula that could be wrong in the same way as the student's. */
static double silu_slope(double x)
{
    const double h = 1e-5;
    return (silu(x + h) - silu(x - h)) / (2 * h);
}

static float *gates_of(enum gates gates, size_t n)
{
    /* where exp overflows, and beyond */
    static const float far[] = {-1e4f, -100.0f, -89.0f, -50.0f, -20.0f, -1.278f, -0.0f,
                                0.0f,  1e-4f,   20.0f,  50.0f,  89.0f,  100.0f,  1e4f};
    float *gate = random_f32_between(n, -6.0f, 6.0f);
    for (size_t i = 0; gates == FAR && i < n; i++) gate[i] = far[i % (sizeof far / sizeof *far)];
    if (gates == WITH_NANS) sprinkle_f32(gate, n, NAN, 5);
    return gate;
}

static void run_swiglu(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *gate = gates_of((enum gates)shape[1], n), *y = f32_array(n);
    const float *up = random_f32(n);
    if (shape[1] == FAR) gate[n / 2] = -INFINITY;
    double *want = f64_array(n), *exchanged = f64_array(n), *glu = f64_array(n);
    for (size_t i = 0; i < n; i++) {
        want[i] = silu(gate[i]) * up[i];
        exchanged[i] = silu(up[i]) * gate[i];
        glu[i] = sigmoid(gate[i]) * up[i];
    }
    if (shape[2]) memcpy(y, gate, n * sizeof *y);
    call_cuda("swiglu_forward", ARGS(shape[2] ? inout_f32("y", y, n) : out_f32("y", y, n),
                                     shape[2] ? same_as(0) : in_f32("gate", gate, n),
                                     in_f32("up", up, n), u64(n), stream()));
    const layout l = {"y", 1, n};
    if (!is_close(l, y, want, NULL, SWIGLU_TOLERANCE)) {
        suspect("gate and up are exchanged: silu applies to the gate", exchanged);
        suspect("sigmoid is used instead of silu: silu(x) is x sigmoid(x)", glu);
    }
    expect_close(l, y, want, NULL, SWIGLU_TOLERANCE);
}

typedef struct gates_and_gradients {
    const float *grad_y, *gate, *up;
    float *grad_gate, *grad_up;
    size_t n;
} gates_and_gradients;

static void expect_grad_gate(const gates_and_gradients *g)
{
    double *want = f64_array(g->n), *scale = f64_array(g->n);
    double *no_slope = f64_array(g->n), *of_sigmoid = f64_array(g->n), *no_up = f64_array(g->n);
    for (size_t i = 0; i < g->n; i++) {
        const double to_silu = (double)g->grad_y[i] * g->up[i], s = sigmoid(g->gate[i]);
        want[i] = to_silu * silu_slope(g->gate[i]);
        scale[i] = fmax(1, fabs(want[i]));
        no_slope[i] = to_silu * s;
        of_sigmoid[i] = to_silu * s * (1 - s);
        no_up[i] = g->grad_y[i] * silu_slope(g->gate[i]);
    }
    const layout l = {"grad_gate", 1, g->n};
    if (!is_close(l, g->grad_gate, want, scale, SWIGLU_TOLERANCE)) {
        suspect("x times the slope of sigmoid is missing", no_slope);
        suspect("the slope is that of sigmoid, not of silu", of_sigmoid);
        suspect("up is left out", no_up);
    }
    expect_close(l, g->grad_gate, want, scale, SWIGLU_TOLERANCE);
}

static void expect_grad_up(const gates_and_gradients *g)
{
    double *want = f64_array(g->n), *of_up = f64_array(g->n);
    for (size_t i = 0; i < g->n; i++) {
        want[i] = g->grad_y[i] * silu(g->gate[i]);
        of_up[i] = g->grad_y[i] * silu(g->up[i]);
    }
    const layout l = {"grad_up", 1, g->n};
    if (!is_close(l, g->grad_up, want, NULL, SWIGLU_TOLERANCE))
        suspect("silu is applied to up: it should be applied to gate", of_up);
    expect_close(l, g->grad_up, want, NULL, SWIGLU_TOLERANCE);
}

static void swiglu_backward(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const gates_and_gradients g = {random_f32(n), gates_of((enum gates)shape[1], n),
                                   random_f32(n), f32_array(n),
                                   f32_array(n),  n};
    if (shape[2]) {
        memcpy(g.grad_gate, g.gate, n * sizeof *g.gate);
        memcpy(g.grad_up, g.up, n * sizeof *g.up);
        call_cuda(function,
                  ARGS(inout_f32("grad_gate", g.grad_gate, n), inout_f32("grad_up", g.grad_up, n),
                       in_f32("grad_y", g.grad_y, n), same_as(0), same_as(1), u64(n), stream()));
    } else {
        call_cuda(function,
                  ARGS(out_f32("grad_gate", g.grad_gate, n), out_f32("grad_up", g.grad_up, n),
                       in_f32("grad_y", g.grad_y, n), in_f32("gate", g.gate, n),
                       in_f32("up", g.up, n), u64(n), stream()));
    }
    expect_grad_up(&g);
    expect_grad_gate(&g);
}

static void run_swiglu_backward(const long *shape)
{
    swiglu_backward("swiglu_backward", shape);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define ROW(title, function, ...)                                                                  \
    {                                                                                              \
        .name = title, .run = function, .shape = { __VA_ARGS__ }                                   \
    }
static const grading_case cases[] = {
    ROW("rmsnorm forward 3x1", run_rms_forward, 3, 1),
    ROW("rmsnorm forward 9x33", run_rms_forward, 9, 33),
    ROW("rmsnorm forward 1x320", run_rms_forward, 1, 320),
    ROW("rmsnorm forward 4x1027", run_rms_forward, 4, 1027),
    ROW("rmsnorm forward in place, 5x300", run_rms_forward, 5, 300, AROUND_ZERO, true),
    ROW("rmsnorm forward of large values, 6x301", run_rms_forward, 6, 301, LARGE_VALUES),
    ROW("rmsnorm forward of tiny values, 8x70", run_rms_forward, 8, 70, TINY_VALUES),
    ROW("rmsnorm forward without eps, 7x70", run_rms_forward, 7, 70, TINY_VALUES, false, true),
    ROW("rmsnorm forward with a nan, 6x263", run_rms_forward, 6, 263, NAN_SOMEWHERE),
    ROW("rmsnorm forward with infinity, 5x260", run_rms_forward, 5, 260, INFINITY_SOMEWHERE),
    ROW("rmsnorm forward 0x7", run_rms_forward, 0, 7),
    ROW("rmsnorm forward 7x0", run_no_columns, 7),
    {.name = "rmsnorm forward any", .run = run_rms_forward, .shape = {1, 1}, .most = {40, 2000}},
    LONG_ROW("rmsnorm forward 1x65537", run_rms_forward, 1, 65537),
    LONG_ROW("rmsnorm forward 70001x3", run_rms_forward, 70001, 3),
    GPU_ROW("rmsnorm forward 5003x4096", run_rms_forward, 5003, 4096),
    ROW("rmsnorm backward 3x1", run_rms_backward, 3, 1),
    ROW("rmsnorm backward 9x33", run_rms_backward, 9, 33),
    ROW("rmsnorm backward 1x320", run_rms_backward, 1, 320),
    ROW("rmsnorm backward 4x1027", run_rms_backward, 4, 1027),
    ROW("rmsnorm backward 1201x40", run_rms_backward, 1201, 40),
    ROW("rmsnorm backward in place, 5x300", run_rms_backward, 5, 300, AROUND_ZERO, true),
    ROW("rmsnorm backward of large values, 6x301", run_rms_backward, 6, 301, LARGE_VALUES),
    ROW("rmsnorm backward of tiny values, 8x70", run_rms_backward, 8, 70, TINY_VALUES),
    ROW("rmsnorm backward with a nan, 6x63", run_rms_backward_nan, 6, 63),
    ROW("rmsnorm backward 0x7", run_rms_backward, 0, 7),
    ROW("rmsnorm backward 7x0", run_rms_backward, 7, 0),
    {.name = "rmsnorm backward any", .run = run_rms_backward, .shape = {1, 1}, .most = {90, 1500}},
    ROW("central differences", run_central_differences, 5, 37),
    LONG_ROW("the same bits every time", run_same_bits, 1500, 40),
    LONG_ROW("rmsnorm backward 1x65537", run_rms_backward, 1, 65537),
    LONG_ROW("rmsnorm backward 70001x3", run_rms_backward, 70001, 3),
    GPU_ROW("rmsnorm backward 5003x4096", run_rms_backward, 5003, 4096),
    ROW("rope forward 1x1x2", run_rope, 1, 1, 2, 3, 10000),
    ROW("rope forward 3x5x6", run_rope, 3, 5, 6, 0, 10000),
    ROW("rope forward 19x9x64", run_rope, 19, 9, 64, 7, 500000),
    ROW("rope forward at 100000, 2x40x128", run_rope, 2, 40, 128, 100000, 10000),
    ROW("rope forward at 2^24, 2x5x34", run_rope, 2, 5, 34, (1 << 24) - 5, 500000),
    ROW("rope forward in place, 9x7x10", run_rope, 9, 7, 10, 40, 10000, true),
    ROW("rope forward with nans, 9x7x10", run_rope, 9, 7, 10, 0, 10000, false, true),
    ROW("rope forward of an odd dim is refused", run_rope_refused, 2, 3, 4, 5, 100),
    ROW("rope forward 0x7x8", run_rope, 0, 7, 8, 0, 10000),
    ROW("rope forward 7x0x8", run_rope, 7, 0, 8, 0, 10000),
    ROW("rope forward 7x8x0", run_rope, 7, 8, 0, 0, 10000),
    LONG_ROW("rope forward 600001x1x2", run_rope, 600001, 1, 2, 9, 10000),
    LONG_ROW("rope forward 1x70001x2", run_rope, 1, 70001, 2, 9, 10000),
    LONG_ROW("rope forward 1x1x140002", run_rope, 1, 1, 140002, 9, 10000),
    GPU_ROW("rope forward 600001x2x10", run_rope, 600001, 2, 10, 0, 500000),
    ROW("rope backward 1x1x2", run_rope_backward, 1, 1, 2, 3, 10000),
    ROW("rope backward 3x5x6", run_rope_backward, 3, 5, 6, 0, 10000),
    ROW("rope backward at 100000, 19x9x64", run_rope_backward, 19, 9, 64, 100000, 500000),
    ROW("rope backward in place, 9x7x10", run_rope_backward, 9, 7, 10, 40, 10000, true),
    ROW("rope backward of an odd dim is refused", run_rope_backward_refused, 2, 3, 4, 5, 100),
    ROW("rope backward 0x7x8", run_rope_backward, 0, 7, 8, 0, 10000),
    LONG_ROW("rope backward 70001x1x2", run_rope_backward, 70001, 1, 2, 9, 10000),
    LONG_ROW("rope backward 1x70001x2", run_rope_backward, 1, 70001, 2, 9, 10000),
    LONG_ROW("rope backward 1x1x140002", run_rope_backward, 1, 1, 140002, 9, 10000),
    ROW("swiglu forward n=0", run_swiglu, 0),
    ROW("swiglu forward n=1", run_swiglu, 1),
    ROW("swiglu forward n=1003", run_swiglu, 1003),
    ROW("swiglu forward in place", run_swiglu, 1000, USUAL, true),
    ROW("swiglu forward of far gates", run_swiglu, 300, FAR),
    ROW("swiglu forward with nans", run_swiglu, 300, WITH_NANS),
    LONG_ROW("swiglu forward n=100003", run_swiglu, 100003),
    GPU_ROW("swiglu forward n=2^24+3", run_swiglu, (1L << 24) + 3),
    ROW("swiglu backward n=0", run_swiglu_backward, 0),
    ROW("swiglu backward n=1", run_swiglu_backward, 1),
    ROW("swiglu backward n=1003", run_swiglu_backward, 1003),
    ROW("swiglu backward in place", run_swiglu_backward, 1000, USUAL, true),
    ROW("swiglu backward of far gates", run_swiglu_backward, 300, FAR),
    ROW("swiglu backward with nans", run_swiglu_backward, 300, WITH_NANS),
    LONG_ROW("swiglu backward n=100003", run_swiglu_backward, 100003),
    GPU_ROW("swiglu backward n=2^24+3", run_swiglu_backward, (1L << 24) + 3),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one thread per row and per column", .shape = "16384 × 512"},
     .function = "rmsnorm_backward",
     .baseline = "baseline_rmsnorm_backward",
     .run = run_timed_backward,
     .shape = {16384, 512},
     .where = ON_GPU,
     .threshold = 5.0,
     .bytes = 12.0 * 16384 * 512},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "64 × 512"},
     .function = "rmsnorm_forward",
     .run = rms_forward,
     .shape = {64, 512},
     .count = moved_bytes,
     .ideal = 8.0 * 64 * 512,
     .bound = AT_MOST,
     .wanted = 3.0},
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "1056 × 512"},
     .function = "rmsnorm_backward",
     .run = run_timed_backward,
     .shape = {1056, 512},
     .count = moved_bytes,
     .ideal = 12.0 * 1056 * 512,
     .bound = AT_MOST,
     .wanted = 4.0},
    {.metric = {"reduction in instructions", .per = "warp",
                .over = "one thread per row and per column", .shape = "4096 × 64"},
     .function = "rmsnorm_backward",
     .baseline = "baseline_rmsnorm_backward",
     .run = run_timed_backward,
     .shape = {4096, 64},
     .count = instructions_per_warp,
     .bound = AT_LEAST,
     .wanted = 5.0},
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "16 × 64 × 64"},
     .function = "rope_forward",
     .run = counted_rope,
     .shape = {16, 64, 64, 100, 10000},
     .count = moved_bytes,
     .ideal = 8.0 * 16 * 64 * 64,
     .bound = AT_MOST,
     .wanted = 1.1},
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^16 elements"},
     .function = "swiglu_backward",
     .run = swiglu_backward,
     .shape = {1L << 16},
     .count = moved_bytes,
     .ideal = 20.0 * (1L << 16),
     .bound = AT_MOST,
     .wanted = 1.1},
    {0},
};

EXERCISE(3c) = {
    .id = CHALLENGE(3, 'c'),
    .name = "llama_block",
    .file = "phase3_layers/3c_llama_block/3c_llama_block.cu",
    .functions = {"rmsnorm_forward", "rmsnorm_backward", "rope_forward", "rope_backward",
                  "swiglu_forward", "swiglu_backward"},
    .prerequisites = {302},
    .own_prerequisites = true,
    .promises = {{"rmsnorm_forward", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"rmsnorm_backward", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM},
                 {"rope_forward", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"rope_backward", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"swiglu_forward", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"swiglu_backward", WAITS_FOR_NOTHING | ALLOCATES_NOTHING}},
    .baseline_file = "grader/exercises/3c_llama_block/baseline.cu",
    .exponentials = true,
    .points = 15,
    .speed_points = 5,
    .see = "rope forward 3x5x6",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
