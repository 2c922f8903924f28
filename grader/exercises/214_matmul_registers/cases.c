/* 214_matmul_registers: cases of the product with several elements of c a thread, sizes just
 * beside the usual tiles, its speed against a coalesced kernel without tiles, and how much a
 * multiply-add loads. */
#include "exercises/shared/matmul_cases.h"

#include <math.h>
#include <stdio.h>

MATMUL_RUNNERS("matmul_registers")

/* c[m x n], of whole numbers. shape: m, n, k */
static const float *multiply(const float *a, const float *b, const long *shape)
{
    const size_t m = (size_t)shape[0], n = (size_t)shape[1], k = (size_t)shape[2];
    float *c = f32_array(m * n);
    call_cuda("matmul_registers",
              ARGS(out_f32("c", c, m * n), in_f32("a", a, m * k), in_f32("b", b, k * n),
                   i32((int)m), i32((int)n), i32((int)k), stream()));
    return c;
}

/* The words explain c[size], as it came out. */
static void suspect_this(const char *words, const float *c, long size)
{
    double *wrong = f64_array((size_t)size);
    for (long i = 0; i < size; i++) wrong[i] = c[i];
    suspect(words, wrong);
}

/* Each sum says to which row and column it belongs: c[r][q] = r * ROW + q. shape: m, n, 2 */
static void run_places(const long *shape)
{
    enum { ROW = 1000 };
    static char words[160];
    const long m = shape[0], n = shape[1], size = m * n;
    float *a = f32_array((size_t)(2 * m)), *b = f32_array((size_t)(2 * n));
    double *want = f64_array((size_t)size);
    for (long r = 0; r < m; r++) a[2 * r] = (float)(r * ROW), a[2 * r + 1] = 1.0f;
    for (long q = 0; q < n; q++) b[q] = 1.0f, b[n + q] = (float)q;
    for (long i = 0; i < size; i++) want[i] = (double)(i / n * ROW + i % n);
    const float *c = multiply(a, b, shape);
    long i = 0;
    while (i < size && c[i] == (float)want[i]) i++;
    const long of = i < size ? lrintf(fminf(fmaxf(c[i], 0.0f), 1e6f)) : 0;
    if (i < size && of / ROW < m && of % ROW < n) {
        snprintf(words, sizeof words,
                 "c[%ld][%ld] holds the sum of c[%ld][%ld]: a thread multiplies some rows or "
                 "columns and stores to others",
                 i / n, i % n, of / ROW, of % ROW);
        suspect_this(words, c, size);
    }
    expect_close((layout){"c", (size_t)m, (size_t)n}, c, want, NULL, 0.0);
}

/* The product of two identities: c[r][q] is how often column r of a meets row q of b. */
static void run_terms(const long *shape)
{
    static char words[160];
    const long n = shape[0], size = n * n;
    float *one = f32_array((size_t)size);
    double *want = f64_array((size_t)size);
    for (long i = 0; i < n; i++) one[i * n + i] = 1.0f, want[i * n + i] = 1.0;
    const float *c = multiply(one, one, shape);
    long i = 0;
    while (i < size && (c[i] == 0.0f || i / n == i % n)) i++;
    if (i < size) {
        snprintf(words, sizeof words,
                 "column %ld of a meets row %ld of b: both must be at the same step along k, in "
                 "each tile and in the next",
                 i / n, i % n);
        suspect_this(words, c, size);
    }
    expect_close((layout){"c", (size_t)n, (size_t)n}, c, want, NULL, 0.0);
}

static const grading_case cases[] = {
    {.name = "where sums go, 128x128x2", .run = run_places, .shape = {128, 128, 2}},
    {.name = "which terms meet, 40x40x40", .run = run_terms, .shape = {40, 40, 40}},
    MATMUL_ROWS,
    {.name = "63x64x9", .run = run_random, .shape = {63, 64, 9}},
    {.name = "127x129x7", .run = run_random, .shape = {127, 129, 7}},
    {.name = "128x128x8", .run = run_random, .shape = {128, 128, 8}},
    {.name = "129x257x17", .run = run_random, .shape = {129, 257, 17}},
    MATMUL_GPU_ROWS,
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "the untiled kernel", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_registers",
     .baseline = "baseline_matmul_naive",
     .run = matmul_timed,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 3.5,
     .flop = 2.0 * 4096 * 4096 * 4096,
     .peer_share = 0.087},
    {0},
};

/* Of a warp, whatever memory it asks: shared memory once for each wavefront, others for each
 * request. Registers that became local memory are loads and stores too. */
static double loads(const device_counts *c)
{
    return (double)(c->shared_load.wavefronts + c->global_load.requests + c->local_load.requests +
                    c->local_store.requests);
}

static const traffic_test traffic[] = {
    {.metric = {"loads", .per = "warp FMA", .shape = "128 × 128 × 128"},
     .function = "matmul_registers",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = loads,
     .ideal = 128.0 * 128 * 128 / 32,
     .bound = AT_MOST,
     .wanted = 0.6,
     .begin = 2.125},
    {.metric = {"reduction in DRAM bytes", .over = "the untiled kernel",
                .shape = "128 × 128 × 128"},
     .function = "matmul_registers",
     .baseline = "baseline_matmul_naive",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 25.0},
    {.metric = {"bank conflicts", .per = "warp FMA", .shape = "128 × 128 × 128"},
     .function = "matmul_registers",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = bank_conflicts,
     .ideal = 128.0 * 128 * 128 / 32,
     .bound = AT_MOST,
     .wanted = 0.1,
     .begin = 0.43},
    {0},
};

EXERCISE(214) = {
    .id = 214,
    .core = true,
    .name = "matmul_registers",
    .file = "phase2_cuda_basics/214_matmul_registers/214_matmul_registers.cu",
    .functions = {"matmul_registers"},
    .baseline_file = "grader/exercises/211_matmul_tiled/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .see = "127x129x7",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
