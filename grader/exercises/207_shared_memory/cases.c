/* 207_shared_memory: lengths around runs, halos and warps. Nothing is timed: each kernel is a few
 * lines, and what is counted are the bytes that sharing saves. */
#include "correctness/case.h"

#include <string.h>

enum { RUN = 256, WARP = 32, REFUSED = 1 /* cudaErrorInvalidValue */ };

static void expect_reversed(const float *out, const float *in, size_t n)
{
    double *want = f64_array(n);
    for (size_t begin = 0; begin < n; begin += RUN) {
        const size_t length = n - begin < RUN ? n - begin : RUN;
        for (size_t i = 0; i < length; i++) want[begin + i] = in[begin + length - 1 - i];
    }
    expect_close((layout){"out", 1, n}, out, want, NULL, 0.0);
}

static void run_reverse(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *in = random_f32(n), *out = f32_array(n);
    if (n > RUN) sprinkle_special_f32(in, n, 3);
    call_cuda("reverse_blocks",
              ARGS(out_f32("out", out, n), in_f32("in", in, n), u64(n), stream()));
    expect_reversed(out, in, n);
}

static void run_reverse_in_place(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *x = random_f32(n), *was = f32_array(n);
    memcpy(was, x, n * sizeof(float));
    call_cuda("reverse_blocks", ARGS(inout_f32("out", x, n), same_as(0), u64(n), stream()));
    expect_reversed(x, was, n);
}

/* Sums of in[i - below .. i + above], and of their absolute values. */
static void window_sums(double *sums, double *scale, const float *in, size_t n, long below,
                        long above)
{
    for (size_t i = 0; i < n; i++) {
        sums[i] = scale[i] = 0.0;
        for (long j = (long)i - below; j <= (long)i + above; j++) {
            if (j < 0 || j >= (long)n) continue;
            sums[i] += in[j];
            scale[i] += in[j] < 0 ? -in[j] : in[j];
        }
    }
}

static void stencil(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const long radius = shape[1];
    float *in = random_f32(n), *out = f32_array(n);
    sprinkle_special_f32(in, n, (int)shape[2]);
    call_cuda(function, ARGS(out_f32("out", out, n), in_f32("in", in, n), u64(n), i32((int)radius),
                             stream()));
    if (strcmp(function, "stencil_1d") != 0) return;
    double *want = f64_array(n), *scale = f64_array(n), *short_ = f64_array(n);
    window_sums(short_, scale, in, n, radius, radius - 1);
    suspect("the element at +radius is left out", short_);
    window_sums(want, scale, in, n, radius, radius);
    expect_close((layout){"out", 1, n}, out, want, scale, FP32_SUM_TOLERANCE);
}

static void run_stencil(const long *shape)
{
    stencil("stencil_1d", shape);
}

static void run_refused(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *out = f32_array(n), *in = random_f32(n);
    call_refused(
        REFUSED, "stencil_1d",
        ARGS(inout_f32("out", out, n), in_f32("in", in, n), u64(n), i32((int)shape[1]), stream()));
    for (size_t i = 0; i < n; i++) expect(out[i] == 0.0f, "out[%zu] is written", i);
}

static void run_warp_sums(const long *shape)
{
    const size_t n = (size_t)shape[0], runs = (n + WARP - 1) / WARP;
    float *in = random_f32(n), *out = f32_array(runs);
    double *want = f64_array(runs), *scale = f64_array(runs);
    call_cuda("warp_sums", ARGS(out_f32("out", out, runs), in_f32("in", in, n), u64(n), stream()));
    for (size_t i = 0; i < n; i++) {
        want[i / WARP] += in[i];
        scale[i / WARP] += in[i] < 0 ? -in[i] : in[i];
    }
    float *all = f32_array(runs * WARP), *ones = f32_array(WARP);
    memcpy(all, in, n * sizeof *in);
    for (size_t i = 0; i < WARP; i++) ones[i] = 1.0f;
    suspect_product(out, all, ones, (long)runs, 1, WARP);
    expect_close((layout){"out", 1, runs}, out, want, scale, FP32_SUM_TOLERANCE);
}

static void run_counted(const char *function, const long *shape)
{
    stencil(function, shape);
}

static const grading_case cases[] = {
    {.name = "reverse n=0", .run = run_reverse, .shape = {0}},
    {.name = "reverse n=1", .run = run_reverse, .shape = {1}},
    {.name = "reverse n=255", .run = run_reverse, .shape = {255}},
    {.name = "reverse n=256", .run = run_reverse, .shape = {256}},
    {.name = "reverse n=1001", .run = run_reverse, .shape = {1001}},
    {.name = "reverse any n", .run = run_reverse, .shape = {2}, .most = {70000}},
    {.name = "reverse n=70001", .run = run_reverse, .shape = {70001}},
    {.name = "reverse in place n=2000", .run = run_reverse_in_place, .shape = {2000}},
    {.name = "stencil n=0, radius 3", .run = run_stencil, .shape = {0, 3}, .part = "stencil_1d"},
    {.name = "stencil n=1, radius 3", .run = run_stencil, .shape = {1, 3}},
    {.name = "stencil n=5, radius 64", .run = run_stencil, .shape = {5, 64}},
    {.name = "stencil n=256, radius 0", .run = run_stencil, .shape = {256, 0}},
    {.name = "stencil n=257, radius 1", .run = run_stencil, .shape = {257, 1}},
    {.name = "stencil n=2001, radius 17", .run = run_stencil, .shape = {2001, 17}},
    {.name = "stencil n=777, radius 64", .run = run_stencil, .shape = {777, 64}},
    {.name = "stencil any", .run = run_stencil, .shape = {2, 1}, .most = {3000, 64}},
    {.name = "stencil with NaN", .run = run_stencil, .shape = {2001, 5, 2}},
    {.name = "stencil n=70001, radius 2", .run = run_stencil, .shape = {70001, 2}},
    {.name = "stencil of radius 65", .run = run_refused, .shape = {100, 65}},
    {.name = "stencil of radius 65, n=0", .run = run_refused, .shape = {0, 65}},
    {.name = "stencil of radius -1", .run = run_refused, .shape = {100, -1}},
    {.name = "sums n=0", .run = run_warp_sums, .shape = {0}, .part = "warp_sums"},
    {.name = "sums n=1", .run = run_warp_sums, .shape = {1}},
    {.name = "sums n=32", .run = run_warp_sums, .shape = {32}},
    {.name = "sums n=1001", .run = run_warp_sums, .shape = {1001}},
    {.name = "sums any n", .run = run_warp_sums, .shape = {2}, .most = {70000}},
    {.name = "sums n=70001", .run = run_warp_sums, .shape = {70001}},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "stencil of 2^16 floats, radius 16"},
     .function = "stencil_1d",
     .run = run_counted,
     .shape = {1 << 16, 16},
     .count = moved_bytes,
     .ideal = 8.0 * (1 << 16),
     .bound = AT_MOST,
     .wanted = 1.5,
     .begin = 21.059},
    {0},
};

EXERCISE(207) = {
    .id = 207,
    .core = true,
    .name = "shared_memory",
    .file = "phase2_cuda_basics/207_shared_memory/207_shared_memory.cu",
    .functions = {"reverse_blocks", "stencil_1d", "warp_sums"},
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .traffic = traffic,
    .see = "stencil n=257, radius 1",
};
