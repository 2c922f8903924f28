/* 204_elementwise: four operations with grids that are too small, too large and odd; NaN,
 * infinities and arguments that make exp overflow; the speed against a copy on the device. */
#include "basics.h"
#include "correctness/case.h"

#include <math.h>
#include <string.h>

enum { REFUSED = 1 }; /* cudaErrorInvalidValue */

static double op_of(int op, double a, double b)
{
    switch (op) {
    case ELEMENTWISE_ADD: return (float)a + (float)b; /* one rounding: the same bits */
    case ELEMENTWISE_MUL: return (float)a * (float)b;
    case ELEMENTWISE_RELU: return a < 0.0 ? 0.0 : a;
    default: return 1.0 / (1.0 + exp(-a));
    }
}

static void expect_elements(int op, const float *y, const float *a, const float *b, size_t n)
{
    double *want = f64_array(n);
    for (size_t i = 0; i < n; i++) want[i] = op_of(op, a[i], b[i]);
    expect_close((layout){"y", 1, n}, y, want, NULL, op == ELEMENTWISE_SIGMOID ? 2e-6 : 0.0);
}

/* What an operation does not read may be NULL, or have no element. */
static argument second(int op, const float *b, size_t n)
{
    if (op >= ELEMENTWISE_RELU && n % 2) return null_pointer();
    return in_f32("b", b, op < ELEMENTWISE_RELU ? n : 0);
}

/* shape: op, n, grid, block */
static void apply(const char *function, float *a, const float *b, const long *shape)
{
    const size_t n = (size_t)shape[1];
    float *y = f32_array(n);
    call_cuda(function, ARGS(i32((int)shape[0]), out_f32("y", y, n), in_f32("a", a, n),
                             second((int)shape[0], b, n), u64(n), i32((int)shape[2]),
                             i32((int)shape[3]), stream()));
    if (strcmp(function, "elementwise") == 0) expect_elements((int)shape[0], y, a, b, n);
}

static void run_random(const long *shape)
{
    const size_t n = (size_t)shape[1];
    float *a = random_f32_between(n, -5.0f, 5.0f), *b = random_f32(n);
    apply("elementwise", a, b, shape);
}

/* Arguments of all sizes: exp(-a) overflows, a * b does, and NaN, infinities and zeros meet. */
static void run_large(const long *shape)
{
    const size_t n = (size_t)shape[1];
    float *a = random_f32_between(n, -120.0f, 120.0f), *b = random_f32_between(n, -1e4f, 1e4f);
    sprinkle_f32(a, n, 3e38f, 9);
    sprinkle_f32(a, n, -3e38f, 9);
    sprinkle_special_f32(a, n, 5);
    if (shape[0] < ELEMENTWISE_RELU) sprinkle_special_f32(b, n, 5);
    apply("elementwise", a, b, shape);
}

/* y is a, then b, where that is read. The grid is the caller's, which only its threads show. */
static void run_in_place(const long *shape)
{
    const int op = (int)shape[0];
    const uint64_t threads = (uint64_t)(shape[2] * shape[3]);
    const size_t n = (size_t)shape[1];
    float *y = random_f32(n), *was = f32_array(n);
    const float *other = random_f32(n);
    for (int of_b = 0; of_b < (op < ELEMENTWISE_RELU ? 2 : 1); of_b++) {
        memcpy(was, y, n * sizeof(float));
        call_counted("elementwise",
                     ARGS(i32(op), inout_f32("y", y, n), of_b ? in_f32("a", other, n) : same_as(1),
                          of_b ? same_as(1) : second(op, other, n), u64(n), i32((int)shape[2]),
                          i32((int)shape[3]), stream()));
        expect_elements(op, y, of_b ? other : was, of_b ? was : other, n);
        const device_counts *c = call_counts();
        expect(!c || (c->blocks == (uint64_t)shape[2] && c->threads == threads),
               "%llu blocks of %llu threads altogether ran, not %ld of %ld each",
               (unsigned long long)c->blocks, (unsigned long long)c->threads, shape[2], shape[3]);
    }
}

static void run_refused(const long *shape)
{
    const size_t n = (size_t)shape[1];
    float *y = f32_array(n), *a = random_f32(n);
    call_refused(REFUSED, "elementwise",
                 ARGS(i32((int)shape[0]), inout_f32("y", y, n), in_f32("a", a, n), null_pointer(),
                      u64(n), i32(1), i32(32), stream()));
    for (size_t i = 0; i < n; i++) expect(y[i] == 0.0f, "y[%zu] was written by an unknown op", i);
}

static void run_timed(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[1];
    apply(function, random_f32_between(n, -5.0f, 5.0f), random_f32(n), shape);
}

#define OPS(title, runner, ...)                                                                    \
    {.name = "add, " title, .run = runner, .shape = {ELEMENTWISE_ADD, __VA_ARGS__}},               \
        {.name = "mul, " title, .run = runner, .shape = {ELEMENTWISE_MUL, __VA_ARGS__}},           \
        {.name = "relu, " title, .run = runner, .shape = {ELEMENTWISE_RELU, __VA_ARGS__}},         \
    {                                                                                              \
        .name = "sigmoid, " title, .run = runner, .shape = { ELEMENTWISE_SIGMOID, __VA_ARGS__ }    \
    }

static const grading_case cases[] = {
    {.name = "n=0", .run = run_random, .shape = {ELEMENTWISE_ADD, 0, 4, 32}},
    OPS("n=1, 1 block of 1", run_random, 1, 1, 1),
    OPS("n=1000, 1 block of 1", run_random, 1000, 1, 1),
    OPS("n=10007, 7 blocks of 96", run_random, 10007, 7, 96),
    OPS("n=100, 50 blocks of 64", run_random, 100, 50, 64),
    OPS("large values, n=5003, 3 blocks of 1024", run_large, 5003, 3, 1024),
    OPS("in place, n=3001, 5 blocks of 33", run_in_place, 3001, 5, 33),
    {.name = "n=1000003, 64 blocks of 256",
     .run = run_random,
     .shape = {ELEMENTWISE_ADD, 1000003, 64, 256}},
    {.name = "any",
     .run = run_random,
     .shape = {ELEMENTWISE_MUL, 2, 1, 1},
     .most = {3, 30000, 60, 300}},
    {.name = "no such op", .run = run_refused, .shape = {4, 100}},
    {.name = "no such op, below 0", .run = run_refused, .shape = {-1, 100}},
    {.name = "no such op, n=0", .run = run_refused, .shape = {99, 0}},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy",
                .shape = "sigmoid of 2^24 floats, 2048 blocks of 256"},
     .function = "elementwise",
     .baseline = "baseline_device_copy",
     .run = run_timed,
     .shape = {ELEMENTWISE_SIGMOID, 1 << 24, 2048, 256},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 0.6,
     .bytes = 8.0 * (1 << 24),
     .peer_share = 0.88,
     .peer_bytes = 8.0 * (1 << 24)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM,
                .shape = "addition of 2^16 floats, 16 blocks of 128"},
     .function = "elementwise",
     .run = run_timed,
     .shape = {ELEMENTWISE_ADD, 1 << 16, 16, 128},
     .count = moved_bytes,
     .ideal = 12.0 * (1 << 16),
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 1.333},
    {.metric = {"sectors", .per = "request", .shape = "addition of 2^16 floats, 16 blocks of 128"},
     .function = "elementwise",
     .run = run_timed,
     .shape = {ELEMENTWISE_ADD, 1 << 16, 16, 128},
     .count = sectors_per_request,
     .bound = AT_MOST,
     .wanted = 4.5,
     .begin = 31.493},
    {0},
};

EXERCISE(204) = {
    .id = 204,
    .core = true,
    .name = "elementwise",
    .file = "phase2_cuda_basics/204_elementwise/204_elementwise.cu",
    .functions = {"elementwise"},
    .baseline_file = "grader/exercises/204_elementwise/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "add, n=100, 50 blocks of 64",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
