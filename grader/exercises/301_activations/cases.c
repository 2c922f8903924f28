/* 301_activations: four activations, forward and backward: tails, in place, NaN, zeros and large
 * numbers. */
#include "correctness/case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE 1e-5 /* expf, tanhf and a few roundings; the erf form of gelu is 5e-4 off */

/* ---- references in double -------------------------------------------------------------------- */

static double relu(double x)
{
    return x < 0 ? 0 : x;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

enum { RELU, SIGMOID, TANH, GELU };
static const struct {
    const char *name;
    double (*f)(double);
} activations[] = {{"relu", relu}, {"sigmoid", sigmoid}, {"tanh", tanh}, {"gelu", gelu}};

/* Central differences: no formula that could be wrong in the same way as the student's. */
static double slope(int which, double x)
{
    const double h = 1e-5;
    if (which == RELU) return x > 0;
    return (activations[which].f(x + h) - activations[which].f(x - h)) / (2 * h);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const char *function_name(int which, const char *pass)
{
    static char name[64];
    snprintf(name, sizeof name, "%s_%s", activations[which].name, pass);
    return name;
}

/* ---- likely mistakes ------------------------------------------------------------------------- */

static void suspect_erf(const float *x, size_t n)
{
    double *wrong = f64_array(n);
    for (size_t i = 0; i < n; i++) wrong[i] = 0.5 * x[i] * (1 + erf(x[i] / sqrt(2)));
    suspect("this is the gelu with erf, not the one with tanh", wrong);
}

static void suspect_backward(int which, const float *grad_y, const float *x, size_t n)
{
    double *alone = f64_array(n), *of_y = f64_array(n), *at_0 = f64_array(n);
    for (size_t i = 0; i < n; i++) {
        const double y = x[i]; /* what a formula in terms of y makes of x */
        alone[i] = slope(which, x[i]);
        of_y[i] = grad_y[i] * (which == TANH ? 1 - y * y : y * (1 - y));
        at_0[i] = grad_y[i] * (x[i] >= 0);
    }
    suspect("the slope alone: grad_y is left out", alone);
    if (which == TANH || which == SIGMOID) suspect("x is used instead of y", of_y);
    if (which == RELU) suspect("the slope of ReLU at 0 is 1: it should be 0", at_0);
}

static void check_forward(int which, const float *x, size_t n, unsigned shift, bool in_place)
{
    float *y = f32_array(n);
    double *want = f64_array(n);
    const char *function = function_name(which, "forward");
    for (size_t i = 0; i < n; i++) want[i] = activations[which].f(x[i]);
    if (in_place) {
        memcpy(y, x, n * sizeof *y);
        call_cuda(function, ARGS(inout_f32("y", y, n), same_as(0), u64(n), stream()));
    } else {
        call_cuda(function,
                  ARGS(out_f32("y", y, n), shifted(in_f32("x", x, n), shift), u64(n), stream()));
    }
    const layout l = {"y", 1, n};
    if (which == GELU && !is_close(l, y, want, NULL, TOLERANCE)) suspect_erf(x, n);
    expect_close(l, y, want, NULL, TOLERANCE);
}

static void check_backward(int which, const float *x, size_t n, unsigned shift, bool in_place)
{
    const float *grad_y = random_f32(n);
    float *grad_x = f32_array(n);
    double *want = f64_array(n);
    const char *function = function_name(which, "backward");
    for (size_t i = 0; i < n; i++) want[i] = grad_y[i] * slope(which, x[i]);
    if (in_place) {
        memcpy(grad_x, grad_y, n * sizeof *grad_x);
        call_cuda(function, ARGS(inout_f32("grad_x", grad_x, n), same_as(0), in_f32("x", x, n),
                                 u64(n), stream()));
    } else {
        call_cuda(function, ARGS(out_f32("grad_x", grad_x, n), in_f32("grad_y", grad_y, n),
                                 shifted(in_f32("x", x, n), shift), u64(n), stream()));
    }
    const layout l = {"grad_x", 1, n};
    if (!is_close(l, grad_x, want, NULL, TOLERANCE)) suspect_backward(which, grad_y, x, n);
    expect_close(l, grad_x, want, NULL, TOLERANCE);
}

/* shape: which, n, bytes by which x is shifted, in place. */
static void forward(const long *shape)
{
    const size_t n = (size_t)shape[1];
    const float *x = random_f32_between(n, -6.0f, 6.0f);
    check_forward((int)shape[0], x, n, (unsigned)shape[2], shape[3]);
}

static void backward(const long *shape)
{
    const size_t n = (size_t)shape[1];
    const float *x = random_f32_between(n, -6.0f, 6.0f);
    check_backward((int)shape[0], x, n, (unsigned)shape[2], shape[3]);
}

/* Where exp overflows, and beyond. */
static const float large[] = {-1e4f, -100.0f, -89.0f, -50.0f, -20.0f, -10.0f, -1e-4f, -0.0f,
                              0.0f,  1e-4f,   10.0f,  20.0f,  50.0f,  89.0f,  100.0f, 1e4f};
#define LARGE (sizeof large / sizeof *large)

static void forward_large(const long *shape)
{
    check_forward((int)shape[0], large, LARGE, 0, false);
}

static void backward_large(const long *shape)
{
    check_backward((int)shape[0], large, LARGE, 0, false);
}

static void forward_infinite(const long *shape)
{
    float *x = random_f32(100);
    sprinkle_f32(x, 100, INFINITY, 5);
    sprinkle_f32(x, 100, -INFINITY, 5);
    check_forward((int)shape[0], x, 100, 0, false);
}

static void forward_nan(const long *shape)
{
    float *x = random_f32(1000);
    sprinkle_f32(x, 1000, NAN, 5);
    check_forward((int)shape[0], x, 1000, 0, false);
}

/* In x, where nothing says what the slope of ReLU is. */
static void backward_nan(const long *shape)
{
    float *x = random_f32(1000);
    sprinkle_f32(x, 1000, NAN, 5);
    check_backward((int)shape[0], x, 1000, 0, false);
}

/* Where exp overflows or tanh is 1, there is no slope left. */
static void backward_infinite(const long *shape)
{
    float *x = random_f32(100);
    sprinkle_f32(x, 100, INFINITY, 5);
    sprinkle_f32(x, 100, -INFINITY, 5);
    check_backward((int)shape[0], x, 100, 0, false);
}

static void relu_zeros(const long *shape)
{
    float *x = random_f32((size_t)shape[0]);
    sprinkle_f32(x, (size_t)shape[0], 0.0f, 50);
    sprinkle_f32(x, (size_t)shape[0], -0.0f, 50);
    check_backward(RELU, x, (size_t)shape[0], 0, false);
}

#define ANY(title, function, which)                                                                \
    {                                                                                              \
        .name = title, .run = function, .shape = {which, 2}, .most = { 0, 30000 }                  \
    }
#define ROW(title, function, ...)                                                                  \
    {                                                                                              \
        .name = title, .run = function, .shape = { __VA_ARGS__ }                                   \
    }

/* clang-format off */
#define ROWS_OF(activation, which) \
    {.name = activation " forward n=0", .run = forward, .shape = {which, 0}, .part = activation "_forward"}, \
    ROW(activation " forward n=1", forward, which, 1), \
    ROW(activation " forward n=1000", forward, which, 1000), \
    ROW(activation " forward n=100003", forward, which, 100003), \
    ANY(activation " forward any n", forward, which), \
    ROW(activation " forward in place", forward, which, 1000, 0, true), \
    ROW(activation " forward, x not aligned to 16 bytes", forward, which, 1000, 4), \
    ROW(activation " forward, large numbers", forward_large, which), \
    {.name = activation " backward n=0", .run = backward, .shape = {which, 0}, .part = activation "_backward"}, \
    ROW(activation " backward n=1", backward, which, 1), \
    ROW(activation " backward n=1000", backward, which, 1000), \
    ROW(activation " backward n=100003", backward, which, 100003), \
    ANY(activation " backward any n", backward, which), \
    ROW(activation " backward in place", backward, which, 1000, 0, true), \
    ROW(activation " backward, x not aligned to 16 bytes", backward, which, 1000, 4), \
    ROW(activation " backward, large numbers", backward_large, which)
/* clang-format on */

static const grading_case cases[] = {
    ROWS_OF("relu", RELU),
    ROW("relu backward, zeros", relu_zeros, 1000),
    {.name = "relu forward, infinities",
     .run = forward_infinite,
     .shape = {RELU},
     .part = "relu_forward"},
    ROW("relu forward, NaN", forward_nan, RELU),
    GPU_ROW("relu forward n=2^24+3", forward, RELU, (1L << 24) + 3),
    ROWS_OF("sigmoid", SIGMOID),
    ROW("sigmoid backward, NaN", backward_nan, SIGMOID),
    ROW("sigmoid backward, infinities", backward_infinite, SIGMOID),
    {.name = "sigmoid forward, infinities",
     .run = forward_infinite,
     .shape = {SIGMOID},
     .part = "sigmoid_forward"},
    ROW("sigmoid forward, NaN", forward_nan, SIGMOID),
    ROWS_OF("tanh", TANH),
    ROW("tanh backward, NaN", backward_nan, TANH),
    ROW("tanh backward, infinities", backward_infinite, TANH),
    {.name = "tanh forward, infinities",
     .run = forward_infinite,
     .shape = {TANH},
     .part = "tanh_forward"},
    ROW("tanh forward, NaN", forward_nan, TANH),
    ROWS_OF("gelu", GELU),
    ROW("gelu backward, NaN", backward_nan, GELU),
    {.name = "gelu forward, NaN", .run = forward_nan, .shape = {GELU}, .part = "gelu_forward"},
    {0},
};

/* ---- speed ----------------------------------------------------------------------------------- */

static bool is_baseline(const char *function)
{
    return strncmp(function, "baseline_", 9) == 0; /* a copy: only its time is of interest */
}

typedef struct pair {
    const float *x, *y;
} pair;

static bool is_no_relu(size_t i, const void *context)
{
    const pair *p = context;
    return !(p->y[i] == (float)relu(p->x[i]));
}

static void timed_relu(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_f32(n);
    float *y = f32_array(n);
    call_cuda(function, ARGS(out_f32("y", y, n), in_f32("x", x, n), u64(n), stream()));
    const size_t i = is_baseline(function) ? n : parallel_find(n, 1, is_no_relu, &(pair){x, y});
    if (i < n) fail("y[%zu] is %.9g, should be %.9g", i, y[i], relu(x[i]));
}

#define STEP 61 /* tanh in double is slow: every 61st element, from a random one on */

static void timed_gelu_backward(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_f32_between(n, -6.0f, 6.0f), *grad_y = random_f32(n);
    float *grad_x = f32_array(n);
    call_cuda(function, ARGS(out_f32("grad_x", grad_x, n), in_f32("grad_y", grad_y, n),
                             in_f32("x", x, n), u64(n), stream()));
    for (size_t i = random_below(case_random(), STEP); i < n && !is_baseline(function); i += STEP) {
        double want = grad_y[i] * slope(GELU, x[i]);
        expect(fabs(grad_x[i] - want) <= TOLERANCE * fmax(1, fabs(want)),
               "grad_x[%zu] is %.9g, should be %.9g", i, grad_x[i], want);
    }
}

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "2^25 floats"},
     .function = "relu_forward",
     .baseline = "baseline_copy",
     .run = timed_relu,
     .shape = {1L << 25},
     .where = ON_GPU,
     .threshold = 0.80,
     .work = 8,
     .baseline_work = 8,
     .bytes = 8.0 * (1L << 25),
     .peer_share = 0.87,
     .peer_bytes = 8.0 * (1L << 25)},
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "2^24 floats"},
     .function = "gelu_backward",
     .baseline = "baseline_copy_backward",
     .run = timed_gelu_backward,
     .shape = {1L << 24},
     .where = ON_GPU,
     .threshold = 0.80,
     .work = 12,
     .baseline_work = 8,
     .bytes = 12.0 * (1L << 24),
     .peer_share = 0.77,
     .peer_bytes = 8.0 * (1L << 24)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^16 floats"},
     .function = "relu_forward",
     .run = timed_relu,
     .shape = {1L << 16},
     .count = moved_bytes,
     .ideal = 8.0 * (1L << 16),
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 4},
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^16 floats"},
     .function = "gelu_backward",
     .run = timed_gelu_backward,
     .shape = {1L << 16},
     .count = moved_bytes,
     .ideal = 12.0 * (1L << 16),
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 1.667},
    {.metric = {"waves of blocks", .shape = "2^16 floats"},
     .function = "gelu_backward",
     .run = timed_gelu_backward,
     .shape = {1L << 16},
     .count = waves,
     .bound = AT_MOST,
     .wanted = 16,
     .begin = 259.984},
    {.metric = {"instructions", .per = "warp", .shape = "2^20 floats"},
     .function = "gelu_backward",
     .run = timed_gelu_backward,
     .shape = {1L << 20},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 8000},
    {0},
};

EXERCISE(301) = {
    .id = 301,
    .core = true,
    .name = "activations",
    .file = "phase3_layers/301_activations/301_activations.cu",
    .functions = {"relu_forward", "relu_backward", "sigmoid_forward", "sigmoid_backward",
                  "tanh_forward", "tanh_backward", "gelu_forward", "gelu_backward"},
    .baseline_file = "grader/exercises/301_activations/baseline.cu",
    .exponentials = true,
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
