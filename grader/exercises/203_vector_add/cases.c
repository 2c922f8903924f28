/* 203_vector_add: tails, sizes beyond 32 bits and in-place calls of the vector addition; its
 * speed against a copy on the device, byte for byte. */
#include "correctness/case.h"

#include <string.h>

#define CANCELLING 3 /* of 257 values: large, so that only exact addition is right */

typedef struct sums {
    const float *c, *a, *b;
} sums;

/* One rounding: every right kernel gives the same bits. */
static bool is_wrong(size_t i, const void *context)
{
    const sums *s = context;
    return !(s->c[i] == s->a[i] + s->b[i]);
}

static void expect_sums(const float *c, const float *a, const float *b, size_t n)
{
    if (parallel_find(n, 1, is_wrong, &(sums){c, a, b}) == n) return;
    double *want = f64_array(n);
    double *of_b = f64_array(n);
    for (size_t i = 0; i < n; i++) of_b[i] = b[i], want[i] = a[i] + b[i];
    suspect_term("the term added to a is off", of_b);
    expect_close((layout){"c", 1, n}, c, want, NULL, 0.0);
}

static void run_add(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *a = random_f32(n), *b = random_f32(n);
    float *c = f32_array(n);
    call_cuda("vector_add",
              ARGS(out_f32("c", c, n), in_f32("a", a, n), in_f32("b", b, n), u64(n), stream()));
    expect_sums(c, a, b, n);
}

/* c is a, then b. */
static void run_in_place(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *c = random_f32(n), *was = f32_array(n);
    const float *other = random_f32(n);
    for (int of_b = 0; of_b < 2; of_b++) {
        const argument in = in_f32(of_b ? "a" : "b", other, n);
        memcpy(was, c, n * sizeof *was);
        call_cuda("vector_add", ARGS(inout_f32("c", c, n), of_b ? in : same_as(0),
                                     of_b ? same_as(0) : in, u64(n), stream()));
        expect_sums(c, was, other, n);
    }
}

static void run_large_values(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *a = random_f32_between(n, -1e4f, 1e4f), *b = random_f32(n), *c = f32_array(n);
    sprinkle_f32(a, n, 3e38f, CANCELLING);
    sprinkle_f32(b, n, -3e38f, CANCELLING);
    sprinkle_special_f32(a, n, CANCELLING);
    sprinkle_special_f32(b, n, CANCELLING);
    call_cuda("vector_add",
              ARGS(out_f32("c", c, n), in_f32("a", a, n), in_f32("b", b, n), u64(n), stream()));
    expect_sums(c, a, b, n);
}

/* The baseline copies a: the same bytes a second mean the same speed. */
static void run_timed(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *a = random_f32(n), *b = random_f32(n);
    float *c = f32_array(n);
    call_cuda(function,
              ARGS(out_f32("c", c, n), in_f32("a", a, n), in_f32("b", b, n), u64(n), stream()));
    if (strcmp(function, "vector_add") == 0) expect_sums(c, a, b, n);
}

#define PERIOD 1000003

typedef struct repeated {
    float *a;
    const float *pattern; /* [PERIOD], again and again */
} repeated;

static void repeat(size_t begin, size_t end, void *context)
{
    const repeated *r = context;
    for (size_t i = begin; i < end; i++) r->a[i] = r->pattern[i % PERIOD];
}

static bool is_not_doubled(size_t i, const void *context)
{
    const repeated *r = context;
    return !(r->a[i] == 2.0f * r->pattern[i % PERIOD]);
}

/* Beyond 2^31 elements, with one buffer for all three: a = a + a. */
static void run_doubling(const long *shape)
{
    const size_t n = (size_t)shape[0];
    repeated r = {f32_array(n), random_f32(PERIOD)};
    parallel(n, 1, repeat, &r);
    call_cuda("vector_add", ARGS(inout_f32("a", r.a, n), same_as(0), same_as(0), u64(n), stream()));
    const size_t i = parallel_find(n, 1, is_not_doubled, &r);
    if (i == n) return;
    fail("c[%zu] is %.9g, should be %.9g (n = %zu)%s", i, r.a[i], 2.0f * r.pattern[i % PERIOD], n,
         place_of((layout){"c", 1, n}, i));
}

static const grading_case cases[] = {
    {.name = "n=0", .run = run_add, .shape = {0}},
    {.name = "n=1", .run = run_add, .shape = {1}},
    {.name = "n=31", .run = run_add, .shape = {31}},
    {.name = "n=32", .run = run_add, .shape = {32}},
    {.name = "n=33", .run = run_add, .shape = {33}},
    {.name = "n=255", .run = run_add, .shape = {255}},
    {.name = "n=256", .run = run_add, .shape = {256}},
    {.name = "n=257", .run = run_add, .shape = {257}},
    {.name = "any_n", .run = run_add, .shape = {2}, .most = {90000}},
    {.name = "n=1000003", .run = run_add, .shape = {1000003}},
    {.name = "in_place", .run = run_in_place, .shape = {1021}},
    {.name = "large_values", .run = run_large_values, .shape = {4099}},
    GPU_ROW("n=16777259", run_add, 16777259),
    {.name = "n=2147483653",
     .run = run_doubling,
     .shape = {2147483653},
     .where = ON_GPU,
     .once = true,
     .seconds = 60},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "2^25 floats"},
     .function = "vector_add",
     .baseline = "baseline_copy",
     .run = run_timed,
     .shape = {1 << 25},
     .where = ON_GPU,
     .threshold = 0.70,
     .work = 12.0,
     .baseline_work = 8.0,
     .bytes = 12.0 * (1 << 25),
     .peer_share = 0.88,
     .peer_bytes = 8.0 * (1 << 25)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^16 floats"},
     .function = "vector_add",
     .run = run_timed,
     .shape = {1 << 16},
     .count = moved_bytes,
     .ideal = 12.0 * (1 << 16),
     .bound = AT_MOST,
     .wanted = 1.1},
    {.metric = {"sectors", .per = "request", .shape = "2^16 floats"},
     .function = "vector_add",
     .run = run_timed,
     .shape = {1 << 16},
     .count = sectors_per_request,
     .bound = AT_MOST,
     .wanted = 4.5,
     .begin = 16},
    {.metric = {"instructions", .per = "warp", .shape = "2^20 floats"},
     .function = "vector_add",
     .run = run_timed,
     .shape = {1 << 20},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 1500},
    {0},
};

EXERCISE(203) = {
    .id = 203,
    .core = true,
    .name = "vector_add",
    .file = "phase2_cuda_basics/203_vector_add/203_vector_add.cu",
    .functions = {"vector_add"},
    .baseline_file = "grader/exercises/203_vector_add/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "n=257",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
