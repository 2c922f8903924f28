/* 213_matmul_cublas: the product by cuBLAS: row-major, in fp32, on the given stream, with one
 * handle for many calls; what is made is freed, and what is NULL refused. Its speed against the
 * library's call alone. shape: m, n, k; some cases: how many */
#include "correctness/case.h"

#include <string.h>

enum { INVALID_VALUE = 1, UNKNOWN = 999 }; /* of cudaError_t */
enum { FIRST, SECOND };                    /* handles */

static void create(int number)
{
    call_aside("cublas_create", ARGS(handle_out(number)));
}

static void destroy(int number)
{
    call_aside("cublas_destroy", ARGS(handle(number)));
}

static void multiply(argument ctx, const float *a, const float *b, const long *shape,
                     unsigned shift)
{
    const size_t m = (size_t)shape[0], n = (size_t)shape[1], k = (size_t)shape[2];
    float *c = f32_array(m * n);
    call_cuda("matmul_cublas",
              ARGS(ctx, shifted(out_f32("c", c, m * n), shift),
                   shifted(in_f32("a", a, m * k), shift), shifted(in_f32("b", b, k * n), 2 * shift),
                   i32((int)m), i32((int)n), i32((int)k), stream()));
    expect_matmul(c, a, b, shape[0], shape[1], shape[2]);
}

static void multiply_random(int number, const long *shape)
{
    const float *a = random_f32((size_t)(shape[0] * shape[2]));
    const float *b = random_f32((size_t)(shape[2] * shape[1]));
    multiply(handle(number), a, b, shape, 0);
}

static void run_random(const long *shape)
{
    create(FIRST);
    multiply_random(FIRST, shape);
    destroy(FIRST);
}

static void run_misaligned(const long *shape)
{
    const float *a = random_f32((size_t)(shape[0] * shape[2]));
    const float *b = random_f32((size_t)(shape[2] * shape[1]));
    create(FIRST);
    multiply(handle(FIRST), a, b, shape, 4);
    destroy(FIRST);
}

static void run_special(const long *shape)
{
    const size_t a_size = (size_t)(shape[0] * shape[2]), b_size = (size_t)(shape[2] * shape[1]);
    float *a = random_f32(a_size), *b = random_f32(b_size);
    sprinkle_special_f32(a, a_size, 1);
    sprinkle_special_f32(b, b_size, 1);
    create(FIRST);
    multiply(handle(FIRST), a, b, shape, 0);
    destroy(FIRST);
}

/* ---- what lives from call to call ------------------------------------------------------------ */

#define MUCH 1000.0 /* bytes for each call */

static void multiply_first(const void *shape)
{
    multiply_random(FIRST, shape);
}

static void run_many_calls(const long *shape)
{
    create(FIRST);
    const double each = kept_by(multiply_first, shape, 1, shape[3], MUCH);
    expect(each <= MUCH, "each call keeps %.0f bytes of memory: make the handle once", each);
    destroy(FIRST);
}

/* More than a library that keeps count of its handles can have at once. */
static void run_many_handles(const long *shape)
{
    for (long i = 0; i < shape[3]; i++) run_random(shape);
}

static void make_and_free(const void *unused)
{
    (void)unused;
    create(FIRST);
    destroy(FIRST);
}

static void run_frees_all(const long *shape)
{
    const double each = kept_by(make_and_free, NULL, shape[3], shape[3], KEEPS_NOTHING);
    expect(each <= KEEPS_NOTHING, "%.0f bytes of host memory are not freed for each ctx", each);
}

/* Neither may keep what it has where the other finds it. */
static void run_two(const long *shape)
{
    create(FIRST);
    create(SECOND);
    multiply_random(SECOND, shape);
    destroy(FIRST);
    multiply_random(SECOND, shape);
    destroy(SECOND);
}

static void refuse_null(size_t m, size_t n, size_t k)
{
    float *c = f32_array(m * n);
    call_refused(INVALID_VALUE, "matmul_cublas",
                 ARGS(null_pointer(), inout_f32("c", c, m * n),
                      in_f32("a", random_f32(m * k), m * k), in_f32("b", random_f32(k * n), k * n),
                      i32((int)m), i32((int)n), i32((int)k), stream()));
    for (size_t i = 0; i < m * n; i++) expect(c[i] == 0.0f, "c[%zu] is written without a ctx", i);
}

/* Refused, however little there is to do. */
static void run_null(const long *shape)
{
    const size_t m = (size_t)shape[0], n = (size_t)shape[1], k = (size_t)shape[2];
    call_cuda("cublas_destroy", ARGS(null_pointer()));
    refuse_null(m, n, k);
    refuse_null(m, n, 0);
    refuse_null(0, n, k);
    run_random(shape);
}

/* cuBLAS refuses a negative size. Only its status says so, and the next call is right again. */
static void run_refused(const long *shape)
{
    const size_t m = (size_t)shape[0], n = (size_t)shape[1];
    create(FIRST);
    call_refused(UNKNOWN, "matmul_cublas",
                 ARGS(handle(FIRST), inout_f32("c", f32_array(m * n), m * n),
                      in_f32("a", random_f32(m), m), in_f32("b", random_f32(n), n), i32((int)m),
                      i32((int)n), i32(-1), stream()));
    multiply_random(FIRST, shape);
    destroy(FIRST);
}

/* ---- timed and counted ----------------------------------------------------------------------- */

static void run_timed(const char *function, const long *shape)
{
    const size_t m = (size_t)shape[0], n = (size_t)shape[1], k = (size_t)shape[2];
    const float *a = random_f32(m * k), *b = random_f32(k * n);
    float *c = f32_array(m * n);
    if (strncmp(function, "baseline_", 9) == 0) {
        call_cuda(function,
                  ARGS(out_f32("c", c, m * n), in_f32("a", a, m * k), in_f32("b", b, k * n),
                       i32((int)m), i32((int)n), i32((int)k), stream()));
        return;
    }
    create(FIRST);
    /* What the library loads at a handle's first product is not of interest. */
    float *first = f32_array(m * n);
    call_aside(function,
               ARGS(handle(FIRST), out_f32("c", first, m * n), in_f32("a", a, m * k),
                    in_f32("b", b, k * n), i32((int)m), i32((int)n), i32((int)k), stream()));
    multiply(handle(FIRST), a, b, shape, 0);
    destroy(FIRST);
}

static const grading_case cases[] = {
    {.name = "1x1x1", .run = run_random, .shape = {1, 1, 1}},
    {.name = "2x2x2", .run = run_random, .shape = {2, 2, 2}},
    {.name = "2x3x4", .run = run_random, .shape = {2, 3, 4}},
    {.name = "0x5x3", .run = run_random, .shape = {0, 5, 3}},
    {.name = "5x0x3", .run = run_random, .shape = {5, 0, 3}},
    {.name = "k=0", .run = run_random, .shape = {5, 6, 0}},
    {.name = "16x16x16", .run = run_random, .shape = {16, 16, 16}},
    {.name = "17x33x65", .run = run_random, .shape = {17, 33, 65}},
    {.name = "33x1x129", .run = run_random, .shape = {33, 1, 129}},
    {.name = "1x300x257", .run = run_random, .shape = {1, 300, 257}},
    {.name = "any", .run = run_random, .shape = {1, 1, 1}, .most = {90, 300, 90}},
    LONG_ROW("70001x1x2", run_random, 70001, 1, 2),
    LONG_ROW("2x70001x1", run_random, 2, 70001, 1),
    LONG_ROW("3x2x5003", run_random, 3, 2, 5003),
    {.name = "special", .run = run_special, .shape = {37, 41, 29}},
    {.name = "misaligned", .run = run_misaligned, .shape = {35, 45, 55}},
    {.name = "one handle, 1000 calls",
     .run = run_many_calls,
     .shape = {3, 4, 5, 1000},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "300 handles, each destroyed",
     .run = run_many_handles,
     .shape = {3, 4, 5, 300},
     .once = true},
    {.name = "5000 times made and freed",
     .run = run_frees_all,
     .shape = {3, 4, 5, 5000},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "two side by side", .run = run_two, .shape = {9, 8, 7}},
    {.name = "null", .run = run_null, .shape = {9, 8, 7}},
    {.name = "k=-1", .run = run_refused, .shape = {9, 8, 7}},
    {.name = "1000x1001x1002", .run = run_random, .shape = {1000, 1001, 1002}, .where = ON_GPU},
    {.name = "3x3000000x1", .run = run_random, .shape = {3, 3000000, 1}, .where = ON_GPU},
    GPU_ROW("4096x4096x4096", run_random, 4096, 4096, 4096),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"FLOP rate", .relative_to = "the cuBLAS call alone", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_cublas",
     .baseline = "baseline_matmul_cublas",
     .run = run_timed,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 0.95,
     .begin = 0.17, /* 211: matmul.tsv, n = 4096 */
     .flop = 2.0 * 4096 * 4096 * 4096,
     .peer_share = 0.76},
    {.metric = {"FLOP rate", .relative_to = "the cuBLAS call alone",
                .shape = "from an idle device, 512 × 512 × 512"},
     .function = "matmul_cublas",
     .baseline = "baseline_matmul_cublas",
     .run = run_timed,
     .shape = {512, 512, 512},
     .from_idle = true,
     .where = ON_GPU,
     .threshold = 0.7,
     .flop = 2.0 * 512 * 512 * 512,
     .peer_share = 0.05},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"kernel launches", .shape = "33 × 31 × 29"},
     .function = "matmul_cublas",
     .run = run_timed,
     .shape = {33, 31, 29},
     .count = kernel_launches,
     .bound = AT_MOST,
     .wanted = 1,
     .begin = 33},
    {0},
};

EXERCISE(213) = {
    .id = 213,
    .core = true,
    .name = "matmul_cublas",
    .file = "phase2_cuda_basics/213_matmul_cublas/213_matmul_cublas.cu",
    .functions = {"cublas_create", "matmul_cublas", "cublas_destroy"},
    .cublas = true,
    .baseline_file = "grader/exercises/213_matmul_cublas/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
