/* 4f_matmul_8bit: products of int8 that are exact, and of e4m3 with a scale for each block,
 * whatever the sizes and the alignment; NaN, subnormal and the largest numbers; on softgpu, which
 * units do the work; their speed against the product of 413. */
#include "exercises/shared/int8/gemm_s8_cases.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void run_s8(const long *shape)
{
    s8_product("matmul_s8_wgmma", shape);
}

/* ---- fp8 ------------------------------------------------------------------------------------- */

/* shape: m, n, k, values, and how many bytes beyond an aligned address a and b begin */
enum { MIDDLE, ANY, WHOLE, ZEROS, LARGEST, SMALLEST, POSITIVE };
enum { SCALED = 128 };

/* Of e4m3, with scales: value i of a row, times scale[(row / rows_of_scale) * T + i / 128]. */
typedef struct matrix {
    uint8_t *code;
    float *x, *scale; /* x: what the codes stand for */
    long rows, cols, rows_of_scale, blocks;
} matrix;

static size_t size_of(const matrix *a)
{
    return (size_t)(a->rows * a->cols);
}

static size_t scales_of(const matrix *a)
{
    return (size_t)((a->rows + a->rows_of_scale - 1) / a->rows_of_scale * a->blocks);
}

static double scale_of(const matrix *a, long row, long block)
{
    return a->scale[row / a->rows_of_scale * a->blocks + block];
}

/* Of ANY value but NaN; or of those in the MIDDLE, 1 / 8 to 30; WHOLE numbers from -3 to 3, whose
 * sums are exact in any order; zeros of both signs; 448 and -448; subnormal numbers, whose sums are
 * exact, too; the POSITIVE ones of the middle. */
static uint8_t code_of(unsigned bits, long values)
{
    static const uint8_t whole[] = {0x00, 0x38, 0x40, 0x44};
    const unsigned sign = bits & 0x80;
    if (values == WHOLE) return (uint8_t)(whole[bits % 4] | sign);
    if (values == ZEROS) return (uint8_t)sign;
    if (values == LARGEST) return (uint8_t)(0x7e | sign);
    if (values == SMALLEST) return (uint8_t)(bits & 0x87);
    if (values == POSITIVE) return (uint8_t)(32 + (bits & 0x3f));
    if (values == ANY) return (uint8_t)((bits & 0x7f) == 0x7f ? sign : bits);
    return (uint8_t)(sign | (32 + (bits & 0x3f)));
}

static void set_code(matrix *a, size_t at, uint8_t code)
{
    a->code[at] = code;
    a->x[at] = (float)element_value(ELEMENT_E4M3, &code, 0);
}

static bool is_exact(long values)
{
    return values == WHOLE || values == ZEROS || values == SMALLEST;
}

typedef struct drawing {
    const int *bits; /* [rows x cols], of a byte each */
    long values;
    const matrix *a;
    float of[256]; /* what a code stands for */
} drawing;

static void draw_part(size_t begin, size_t end, void *context)
{
    const drawing *d = context;
    for (size_t i = begin; i < end; i++) {
        d->a->code[i] = code_of((unsigned)d->bits[i], d->values);
        d->a->x[i] = d->of[d->a->code[i]];
    }
}

/* Scales of what is exact are powers of 2; those of ANY value have any sign, or are 0. */
static matrix draw_matrix(long rows, long cols, long rows_of_scale, long values)
{
    matrix a = {.rows = rows, .cols = cols, .rows_of_scale = rows_of_scale};
    a.blocks = (cols + SCALED - 1) / SCALED;
    a.code = array_of(ELEMENT_E4M3, size_of(&a)), a.x = f32_array(size_of(&a));
    drawing d = {.bits = random_i32(size_of(&a), 0, 256), .values = values, .a = &a};
    for (int i = 0; i < 256; i++) d.of[i] = (float)element_value(ELEMENT_E4M3, &(uint8_t){i}, 0);
    parallel(size_of(&a), 1, draw_part, &d);
    a.scale = f32_array(scales_of(&a));
    for (size_t i = 0; i < scales_of(&a); i++) {
        const float fraction = is_exact(values) ? 1.0f : random_f32_between(1, 1.0f, 2.0f)[0];
        a.scale[i] = ldexpf(fraction, random_i32(1, -3, 4)[0]);
        if (values == ANY) a.scale[i] *= (float)random_i32(1, -1, 2)[0];
    }
    return a;
}

static float *multiply(const char *function, const matrix *a, const matrix *b, unsigned shift)
{
    const size_t size = (size_t)(a->rows * b->rows);
    float *c = f32_array(size);
    call_cuda(function, ARGS(out_f32("c", c, size),
                             shifted(in_of(ELEMENT_E4M3, "a", a->code, size_of(a)), shift),
                             in_f32("scale_a", a->scale, scales_of(a)),
                             shifted(in_of(ELEMENT_E4M3, "b", b->code, size_of(b)), shift),
                             in_f32("scale_b", b->scale, scales_of(b)), i32((int)a->rows),
                             i32((int)b->rows), i32((int)a->cols), stream()));
    return c;
}

/* What a sum would be with a mistake in the scales. */
enum { RIGHT, NONE, FIRST, OF_TILE, B_ONLY, MISTAKES };

static double scale_with(int mistake, const matrix *a, const matrix *b, long i, long j, long t)
{
    switch (mistake) {
    case NONE: return 1.0;
    case FIRST: return scale_of(a, i, 0) * scale_of(b, j, 0);
    case OF_TILE: return scale_of(a, i, t) * scale_of(b, j / 256 * 256, t);
    case B_ONLY: return scale_of(b, j, t);
    default: return scale_of(a, i, t) * scale_of(b, j, t);
    }
}

/* Element (i, j) of c, with each mistake, and the sum of absolute terms. */
static void reference(double want[MISTAKES], double *terms, const matrix *a, const matrix *b,
                      long i, long j)
{
    memset(want, 0, MISTAKES * sizeof *want);
    *terms = 0.0;
    for (long t = 0; t < a->blocks; t++) {
        double sum = 0.0, size = 0.0;
        for (long l = t * SCALED; l < (t + 1) * SCALED && l < a->cols; l++) {
            const double term = (double)a->x[i * a->cols + l] * b->x[j * a->cols + l];
            sum += term, size += fabs(term);
        }
        for (int e = 0; e < MISTAKES; e++) want[e] += scale_with(e, a, b, i, j, t) * sum;
        *terms += fabs(scale_with(RIGHT, a, b, i, j, t)) * size;
    }
}

/* Of the sum of absolute terms. Tensor cores cut what is below 2^-13 of the largest term or sum, so
 * that sums of one sign lose most. */
#define TOLERANCE 0x1p-8

static void expect_all(const float *c, const matrix *a, const matrix *b, bool exact)
{
    const long m = a->rows, n = b->rows;
    double *want[MISTAKES], *terms = f64_array((size_t)(m * n)), here[MISTAKES];
    for (int e = 0; e < MISTAKES; e++) want[e] = f64_array((size_t)(m * n));
    for (long i = 0; i < m * n; i++) {
        reference(here, &terms[i], a, b, i / n, i % n);
        for (int e = 0; e < MISTAKES; e++) want[e][i] = here[e];
    }
    suspect("the scales are left out", want[NONE]);
    suspect("the scales of the first 128 columns are used for all", want[FIRST]);
    suspect("the scale of a tile's first 128 rows of b is used for the next 128", want[OF_TILE]);
    suspect("the scales of a are left out", want[B_ONLY]);
    expect_close((layout){"c", (size_t)m, (size_t)n}, c, want[RIGHT], terms,
                 exact ? 0.0 : TOLERANCE);
}

/* c times a vector: c x = sum over t of scale (a (scale b^T x)). */
typedef struct projection {
    const matrix *a, *b;
    const float *c, *x;
    double *bx, *want;
    float *got;
} projection;

static void project_columns(size_t begin, size_t end, void *context)
{
    const projection *p = context;
    for (long j = 0; j < p->b->rows; j++) {
        const float *row = p->b->x + j * p->b->cols;
        for (size_t l = begin; l < end; l++)
            p->bx[l] += scale_of(p->b, j, (long)l / SCALED) * row[l] * p->x[j];
    }
}

static void project_rows(size_t begin, size_t end, void *context)
{
    const projection *p = context;
    const long n = p->b->rows, k = p->a->cols;
    for (long i = (long)begin; i < (long)end; i++) {
        double sum = 0.0;
        for (long l = 0; l < k; l++)
            p->want[i] += scale_of(p->a, i, l / SCALED) * p->a->x[i * k + l] * p->bx[l];
        for (long j = 0; j < n; j++) sum += (double)p->c[i * n + j] * p->x[j];
        p->got[i] = (float)sum;
    }
}

/* Elements here and there, and c times a vector. What is cut off terms of one sign does not cancel:
 * their sum may be off by as much as an element. */
static void expect_samples(const float *c, const matrix *a, const matrix *b, bool one_sign)
{
    const long m = a->rows, n = b->rows, k = a->cols;
    for (int i = 0; i < 4096; i++) {
        const long row = (long)random_below(case_random(), (uint64_t)m);
        const long col = (long)random_below(case_random(), (uint64_t)n);
        double want[MISTAKES], terms;
        reference(want, &terms, a, b, row, col);
        expect(fabs(c[row * n + col] - want[RIGHT]) <= TOLERANCE * terms,
               "c[%ld][%ld] is %.9g, should be %.9g", row, col, c[row * n + col], want[RIGHT]);
    }
    projection p = {.a = a, .b = b, .c = c, .x = random_f32((size_t)n)};
    p.bx = f64_array((size_t)k), p.want = f64_array((size_t)m), p.got = f32_array((size_t)m);
    parallel((size_t)k, (size_t)n, project_columns, &p);
    parallel((size_t)m, (size_t)(n + k), project_rows, &p);
    expect_norm_close((layout){"c times a vector", (size_t)m, 1}, p.got, p.want, NULL, 0,
                      one_sign ? TOLERANCE : 1e-3);
}

static void fp8_product(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const matrix a = draw_matrix(m, k, 1, shape[3]), b = draw_matrix(n, k, SCALED, shape[3]);
    const float *c = multiply(function, &a, &b, (unsigned)shape[4]);
    if ((double)m * n * k <= 5e7)
        expect_all(c, &a, &b, is_exact(shape[3]));
    else
        expect_samples(c, &a, &b, shape[3] == POSITIVE);
}

static void run_fp8(const long *shape)
{
    fp8_product("matmul_fp8_blocks", shape);
}

/* A NaN in one row of a and in one row of b: that row and that column of c, and nothing else. */
static void run_nan(const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    matrix a = draw_matrix(m, k, 1, MIDDLE), b = draw_matrix(n, k, SCALED, MIDDLE);
    const long row = (long)random_below(case_random(), (uint64_t)m);
    const long col = (long)random_below(case_random(), (uint64_t)n);
    set_code(&a, (size_t)(row * k) + random_below(case_random(), (uint64_t)k), 0x7f);
    set_code(&b, (size_t)(col * k) + random_below(case_random(), (uint64_t)k), 0xff);
    const float *c = multiply("matmul_fp8_blocks", &a, &b, 0);
    for (long i = 0; i < m * n; i++) {
        const bool meets = i / n == row || i % n == col;
        expect(isnan(c[i]) == meets,
               "c[%ld][%ld] is %g: row %ld of a and row %ld of b have a NaN, and no others", i / n,
               i % n, c[i], row, col);
    }
}

/* ---- the rows -------------------------------------------------------------------------------- */

#define S8(title, ...)                                                                             \
    {                                                                                              \
        .name = "s8 " title, .run = run_s8, .shape = { __VA_ARGS__ }                               \
    }
#define FP8(title, ...)                                                                            \
    {                                                                                              \
        .name = "fp8 " title, .run = run_fp8, .shape = { __VA_ARGS__ }                             \
    }

static const grading_case cases[] = {
    {.name = "s8 1x1x1", .run = run_s8, .shape = {1, 1, 1}},
    S8("128x256x128", 128, 256, 128),
    S8("127x252x112", 127, 252, 112),
    S8("257x264x272", 257, 264, 272),
    S8("20x24x1040", 20, 24, 1040),
    S8("33x17x48", 33, 17, 48),
    S8("66x70x36", 66, 70, 36),
    {.name = "s8 any", .run = run_s8, .shape = {1, 1, 1}, .most = {140, 140, 200}},
    {.name = "s8 any, rows of 16 bytes", .run = run_s8, .shape = {20, 12, 416}, .most = {300}},
    S8("all -128, 20x24x96", 20, 24, 96, S8_LOWEST),
    S8("long sums, 18x12x16384", 18, 12, 16384, S8_LARGE),
    S8("misaligned, 24x16x64", 24, 16, 64, S8_ANY, 4),
    S8("misaligned by 8, 40x24x80", 40, 24, 80, S8_ANY, 8),
    S8("0x6x32", 0, 6, 32),
    S8("5x0x32", 5, 0, 32),
    S8("k=0", 5, 6, 0),
    LONG_ROW("s8 65543x8x16", run_s8, 65543, 8, 16),
    LONG_ROW("s8 3x65544x16", run_s8, 3, 65544, 16),
    GPU_ROW("s8 1000x2008x4112", run_s8, 1000, 2008, 4112),
    GPU_ROW("s8, more tiles than multiprocessors, 3000x5000x144", run_s8, 3000, 5000, 144),
    GPU_ROW("s8, nearly as long as an int holds", run_s8, 130, 260, 131056, S8_LOWEST),
    {.name = "fp8 1x1x1", .run = run_fp8, .shape = {1, 1, 1}},
    FP8("128x256x128", 128, 256, 128),
    FP8("128x256x384", 128, 256, 384),
    FP8("127x252x112", 127, 252, 112),
    FP8("257x388x400", 257, 388, 400),
    FP8("20x24x1040", 20, 24, 1040),
    FP8("33x17x48", 33, 17, 48),
    FP8("66x140x300", 66, 140, 300),
    {.name = "fp8 any", .run = run_fp8, .shape = {1, 1, 1, WHOLE}, .most = {140, 140, 300}},
    {.name = "fp8 any, rows of 16 bytes",
     .run = run_fp8,
     .shape = {20, 12, 416, WHOLE},
     .most = {300}},
    FP8("any number, 130x136x272", 130, 136, 272, ANY),
    FP8("any number, 20x21x135", 20, 21, 135, ANY),
    FP8("whole numbers, 130x268x400", 130, 268, 400, WHOLE),
    FP8("whole numbers, 37x41x261", 37, 41, 261, WHOLE),
    FP8("whole numbers, 20x24x1040", 20, 24, 1040, WHOLE),
    FP8("zeros, 40x48x144", 40, 48, 144, ZEROS),
    FP8("zeros, 9x11x13", 9, 11, 13, ZEROS),
    FP8("largest numbers, 24x32x416", 24, 32, 416, LARGEST),
    FP8("smallest numbers, 24x32x144", 24, 32, 144, SMALLEST),
    FP8("smallest numbers, 5x6x140", 5, 6, 140, SMALLEST),
    {.name = "fp8 nan, 140x268x272", .run = run_nan, .shape = {140, 268, 272}},
    {.name = "fp8 nan, 37x45x131", .run = run_nan, .shape = {37, 45, 131}},
    FP8("misaligned, 24x16x64", 24, 16, 64, MIDDLE, 4),
    FP8("misaligned by 8, 40x24x144", 40, 24, 144, MIDDLE, 8),
    FP8("0x6x32", 0, 6, 32),
    FP8("5x0x32", 5, 0, 32),
    FP8("k=0", 5, 6, 0),
    LONG_ROW("fp8 65543x8x16", run_fp8, 65543, 8, 16),
    LONG_ROW("fp8 3x65544x16", run_fp8, 3, 65544, 16),
    LONG_ROW("fp8 65543x1x1", run_fp8, 65543, 1, 1),
    LONG_ROW("fp8 1x65543x1", run_fp8, 1, 65543, 1),
    LONG_ROW("fp8 3x2x8208", run_fp8, 3, 2, 8208),
    LONG_ROW("fp8 3x2x65543", run_fp8, 3, 2, 65543),
    GPU_ROW("fp8 positive numbers, 130x260x16384", run_fp8, 130, 260, 16384, POSITIVE),
    GPU_ROW("fp8 1000x2008x4112", run_fp8, 1000, 2008, 4112),
    GPU_ROW("fp8, more tiles than multiprocessors, 3000x5000x144", run_fp8, 3000, 5000, 144),
    {0},
};

/* The baseline multiplies as many int8. */
static void timed_s8(const char *function, const long *shape)
{
    s8_product(function, shape);
}

static void timed_fp8(const char *function, const long *shape)
{
    if (strncmp(function, "baseline_", 9) == 0) return s8_product(function, shape);
    fp8_product(function, shape);
}

#define TIMED                                                                                      \
    .baseline = "baseline_gemm_s8", .shape = {4096, 4096, 4096}, .where = ON_GPU,                  \
    .flop = 2.0 * 4096 * 4096 * 4096, .precision = IN_INT8, .capability = 90, .peer_share = 0.11,  \
    .peer_bytes = 4096.0 * 4096 * (1 + 1 + 4)

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "413", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_s8_wgmma",
     .run = timed_s8,
     TIMED,
     .threshold = 1.9},
    {.metric = {"speedup", .over = "413's int8", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_fp8_blocks",
     .run = timed_fp8,
     TIMED,
     .threshold = 1.4},
    {0},
};

#define SIZES  "256 × 256 × 256"
#define OF_S8  .function = "matmul_s8_wgmma", .run = timed_s8, .shape = {256, 256, 256}
#define OF_FP8 .function = "matmul_fp8_blocks", .run = timed_fp8, .shape = {256, 256, 256}
/* a and b begin at an odd multiple of 16 bytes, which is all that the TMA needs. */
#define OF_S8_AT_16 .function = "matmul_s8_wgmma", .run = timed_s8, .shape = {256, 256, 256, 0, 16}
#define OF_FP8_AT_16                                                                               \
    .function = "matmul_fp8_blocks", .run = timed_fp8, .shape = {256, 256, 256, MIDDLE, 16}
#define PRODUCT    "64 × 256 × 32 product"
#define PRODUCTS   (4.0 * 1 * 8)
#define MULTIPLIES 256.0 * 256 * 256

/* Four warps make such a product by one instruction each; mma.sync of int8 needs 128. */
static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = PRODUCT, .shape = SIZES},
     OF_S8,
     .count = tensor_instructions,
     .ideal = PRODUCTS,
     .bound = AT_MOST,
     .multiplications = MULTIPLIES,
     .least = 4,
     .wanted = 16,
     .begin = 128},
    {.metric = {"share of loads by bulk copies", .shape = SIZES},
     OF_S8_AT_16,
     .count = loads_in_bulk,
     .bound = AT_LEAST,
     .wanted = 0.99},
    {.metric = {"shared-memory loads", .per = PRODUCT, .shape = SIZES},
     OF_S8,
     .count = shared_loads,
     .ideal = PRODUCTS,
     .bound = AT_MOST,
     .wanted = 16}, /* sums may go through shared memory when they are stored */
    {.metric = {"tensor instructions", .per = PRODUCT " of e4m3", .shape = SIZES},
     OF_FP8_AT_16,
     .count = tensor_instructions,
     .ideal = PRODUCTS,
     .bound = AT_MOST,
     .multiplications = MULTIPLIES,
     .least = 4,
     .wanted = 16},
    {.metric = {"floating-point operations", .per = "element of c and 128 of k", .shape = SIZES},
     OF_FP8,
     .count = operations,
     .ideal = 256.0 * 256 * 2,
     .bound = AT_MOST,
     .wanted = 260}, /* 256 of the products; a promotion is two more */
    {0},
};

EXERCISE(4f) = {
    .id = CHALLENGE(4, 'f'),
    .name = "matmul_8bit",
    .file = "phase4_optimization/4f_matmul_8bit/4f_matmul_8bit.cu",
    .functions = {"matmul_s8_wgmma", "matmul_fp8_blocks"},
    .prerequisites = {413},
    .sm_90a = true,
    .softgpu_90 = true,
    .baseline_file = "grader/exercises/4f_matmul_8bit/baseline.cu",
    .points = 30,
    .speed_points = 15,
    .see = "s8 127x252x112",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
