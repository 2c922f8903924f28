/* 413_int8: ties, ends, zero points and rows of nothing; products that are exact up to the last
 * int, whatever the sizes and the alignment; the way back to floats; tensor instructions and
 * bytes. */
#include "exercises/shared/int8/gemm_s8_cases.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- quantize -------------------------------------------------------------------------------- */

/* shape: rows, cols, per_channel (any number but 0), symmetric, values */
enum { PER_TENSOR, PER_CHANNEL };
enum { ASYMMETRIC, SYMMETRIC };
enum { RANDOM, TIES, ENDS, ZEROS, CONSTANT, POSITIVE, NEGATIVE, SPECIAL, HUGE, TINY };

typedef struct quantized {
    int8_t *q;
    float *scale;
    int *zero_point, *row_sums;
} quantized;

/* Zeros are among them, and rows have ranges of their own. */
static void draw_range(float *row, long cols, float low, float high)
{
    for (long c = 0; c < cols; c++)
        row[c] = random_below(case_random(), 16) == 0 ? 0.0f : random_f32_between(1, low, high)[0];
}

/* Halves, of a scale that is 1: 255 from the lowest to the highest, or 127 from 0. The zero point
 * is odd: who rounds after adding it rounds the other way. */
static void draw_ties(float *row, long cols, bool symmetric)
{
    const float low = symmetric ? -120.0f : -101.0f, high = symmetric ? 127.0f : 154.0f;
    for (long c = 0; c < cols; c++) row[c] = (float)random_i32(1, (int)low, (int)high)[0] + 0.5f;
    row[0] = high;
    if (cols > 1) row[1] = low;
}

/* The scale is 1 and the zero point 26: 101.5 becomes 102, and 128 is one too many. */
static void draw_ends(float *row, long cols)
{
    static const float ends[] = {101.5f, -153.5f, INFINITY, -INFINITY, 101.0f, -153.0f, 0.0f};
    for (long c = 0; c < cols; c++) row[c] = ends[c % 7];
}

static void draw_row(float *row, long cols, const long *shape)
{
    const float width = random_f32_between(1, 0.1f, 10.0f)[0];
    const float share = random_f32_between(1, 0.1f, 0.9f)[0];
    switch (shape[4]) {
    case TIES: draw_ties(row, cols, shape[3]); break;
    case ENDS: draw_ends(row, cols); break;
    case ZEROS: memset(row, 0, (size_t)cols * sizeof *row); break;
    case CONSTANT:
        for (long c = 0; c < cols; c++) row[c] = width;
        break;
    case POSITIVE: /* without a zero */
        for (long c = 0; c < cols; c++) row[c] = random_f32_between(1, width, 2 * width)[0];
        break;
    case NEGATIVE:
        for (long c = 0; c < cols; c++) row[c] = random_f32_between(1, -2 * width, -width)[0];
        break;
    case HUGE: /* both ends are numbers, and their distance is none */
        draw_range(row, cols, -1.0f, 1.0f);
        for (long c = 0; c < cols; c++) row[c] *= 3e38f;
        break;
    case TINY: draw_range(row, cols, -1e-38f, 2e-38f); break; /* 1 / scale is infinite */
    default: draw_range(row, cols, -width * share, width * (1 - share));
    }
}

static float *draw(const long *shape)
{
    const long rows = shape[0], cols = shape[1];
    float *x = f32_array((size_t)(rows * cols));
    for (long r = 0; r < rows && cols > 0; r++) draw_row(x + r * cols, cols, shape);
    if (shape[4] == SPECIAL) sprinkle_special_f32(x, (size_t)(rows * cols), (int)rows);
    for (long c = 0; c < cols && shape[4] == SPECIAL; c++) /* a row without a finite number */
        x[c] = c % 3 == 0 ? NAN : c % 3 == 1 ? INFINITY : -INFINITY;
    if (shape[4] == ZEROS && rows > 1)
        for (long c = 0; c < cols; c++) x[c] = 1e-45f; /* a 255th of it is nothing */
    return x;
}

static quantized quantize(const char *function, const float *x, const long *shape)
{
    const size_t rows = (size_t)shape[0], size = rows * (size_t)shape[1];
    const quantized y = {array_of(ELEMENT_I8, size), f32_array(rows), i32_array(rows),
                         i32_array(rows)};
    call_cuda(function,
              ARGS(out_of(ELEMENT_I8, "q", y.q, size), out_f32("scale", y.scale, rows),
                   out_i32("zero_point", y.zero_point, rows), out_i32("row_sums", y.row_sums, rows),
                   in_f32("x", x, size), i32((int)shape[0]), i32((int)shape[1]), i32((int)shape[2]),
                   i32((int)shape[3]), stream()));
    return y;
}

static void range_of(double *low, double *high, const float *x, long count)
{
    *low = *high = 0.0;
    for (long i = 0; i < count; i++) {
        if (!isfinite(x[i])) continue;
        *low = fmin(*low, x[i]), *high = fmax(*high, x[i]);
    }
}

/* Of each row, with the scale that the contract says. */
static void check_scales(const double *low, const double *high, const float *scale, long rows,
                         bool symmetric)
{
    double *want = f64_array((size_t)rows), *other = f64_array((size_t)rows);
    double *room = f64_array((size_t)rows);
    for (long r = 0; r < rows; r++) {
        const double both = high[r] - low[r], larger = fmax(-low[r], high[r]);
        want[r] = symmetric ? larger / 127 : both / 255;
        other[r] = symmetric ? larger / 255 : both / 127;
        if ((float)want[r] == 0.0f) want[r] = 1.0;
        room[r] = want[r] + 3e-39; /* denormals have fewer bits */
    }
    const layout l = {"scale", (size_t)rows, 1};
    if (!is_close(l, scale, want, room, 1e-6))
        suspect(
            "the number of steps is wrong: it is 127 (from 0 to the end) if symmetric, else 255",
            other);
    expect_close(l, scale, want, room, 1e-6);
}

static double rounded(double x, double scale, int zero_point)
{
    if (isnan(x)) return zero_point;
    return fmax(-128, fmin(127, nearbyint(x / scale) + zero_point));
}

/* Quotients that fp32 has are exact, and so is what becomes of them; of others, one near a half may
 * go either way. */
static void check_q(const quantized *y, const float *x, long rows, long cols, bool exact)
{
    const size_t size = (size_t)(rows * cols);
    double *want = f64_array(size), *room = f64_array(size);
    double *away = f64_array(size), *wrapped = f64_array(size), *without = f64_array(size);
    double *taken_off = f64_array(size), *times = f64_array(size);
    for (size_t i = 0; i < size; i++) {
        const size_t r = i / (size_t)cols;
        const double quotient = x[i] / (double)y->scale[r];
        const int zero = y->zero_point[r];
        const bool surely = exact || !isfinite(x[i]) || x[i] == 0.0f;
        want[i] =
            surely ? rounded(x[i], y->scale[r], zero) : fmax(-128, fmin(127, quotient + zero));
        room[i] = surely ? 0.0 : 0.501;
        away[i] = isfinite(x[i]) ? fmax(-128, fmin(127, round(quotient) + zero)) : want[i];
        wrapped[i] = isfinite(x[i]) ? (int8_t)(long)(nearbyint(quotient) + zero) : want[i];
        without[i] = rounded(x[i], y->scale[r], 0);
        taken_off[i] = isfinite(x[i]) ? rounded(x[i], y->scale[r], -zero) : want[i];
        times[i] = isfinite(x[i]) ? rounded(x[i], 1 / y->scale[r], zero) : want[i];
    }
    const layout l = {"q", (size_t)rows, (size_t)cols};
    if (exact) suspect("halves are rounded away from 0: they should go to the even number", away);
    if (exact) suspect("values beyond the ends wrap around: they should be clamped", wrapped);
    suspect("the zero point is left out", without);
    suspect("the zero point is subtracted: it should be added", taken_off);
    suspect("x is multiplied by the scale: it should be divided by it", times);
    expect_close(l, f32_of(ELEMENT_I8, y->q, size), want, room, 1.0);
}

static void check_quantized(const quantized *y, const float *x, const long *shape)
{
    const long rows = shape[0], cols = shape[1];
    const bool exact = shape[4] == TIES || shape[4] == ENDS || shape[4] == ZEROS;
    double *low = f64_array((size_t)rows), *high = f64_array((size_t)rows);
    for (long r = 0; r < rows; r++) {
        if (shape[2] != PER_TENSOR)
            range_of(&low[r], &high[r], x + r * cols, cols);
        else if (r == 0)
            range_of(low, high, x, rows * cols);
        else
            low[r] = low[0], high[r] = high[0];
    }
    check_scales(low, high, y->scale, rows, shape[3]);
    for (long r = 0; r < rows; r++) {
        const double want = shape[3] == SYMMETRIC ? 0.0 : -128.0 - low[r] / y->scale[r];
        expect(fabs(y->zero_point[r] - want) <= 0.501, "zero_point[%ld] is %d, should be %.9g%s", r,
               y->zero_point[r], want, shape[3] == SYMMETRIC ? "" : ", rounded");
    }
    check_q(y, x, rows, cols, exact);
    int *sums = i32_array((size_t)rows);
    for (long i = 0; i < rows * cols; i++) sums[i / cols] += y->q[i];
    expect_equal_i32((layout){"row_sums", (size_t)rows, 1}, y->row_sums, sums);
}

static void quantize_and_check(const char *function, const long *shape)
{
    const float *x = draw(shape);
    const quantized y = quantize(function, x, shape);
    check_quantized(&y, x, shape);
}

static void run_quantize(const long *shape)
{
    quantize_and_check("quantize_s8", shape);
}

/* ---- multiply -------------------------------------------------------------------------------- */

/* The baseline multiplies as many bf16: k is the same. */
static void call_baseline(const char *function, const long *shape)
{
    const size_t m = (size_t)shape[0], n = (size_t)shape[1], k = (size_t)shape[2];
    float *c = f32_array(m * n);
    call_cuda(function, ARGS(out_f32("c", c, m * n),
                             in_of(ELEMENT_BF16, "a", array_of(ELEMENT_BF16, m * k), m * k),
                             in_of(ELEMENT_BF16, "b", array_of(ELEMENT_BF16, n * k), n * k),
                             i32((int)m), i32((int)n), i32((int)k), stream()));
}

static void multiply_and_check(const char *function, const long *shape)
{
    if (strncmp(function, "baseline_", 9) == 0) return call_baseline(function, shape);
    s8_product(function, shape);
}

static void run_gemm(const long *shape)
{
    s8_product("gemm_s8s8s32", shape);
}

/* ---- back to floats -------------------------------------------------------------------------- */

/* shape: m, n, k, with a bias?, do the terms cancel? */
typedef struct side {
    float *scale;
    int *zero, *sums;
} side;

/* Scales are powers of 2, and sums at most those of k numbers. */
static side draw_side(long rows, long k)
{
    const side s = {f32_array((size_t)rows), random_i32((size_t)rows, -128, 128),
                    random_i32((size_t)rows, (int)(-128 * k), (int)(127 * k + 1))};
    for (long i = 0; i < rows; i++)
        s.scale[i] = ldexpf(random_f32_between(1, 1.0f, 2.0f)[0], -random_i32(1, 4, 9)[0]);
    return s;
}

static float *dequantize(const char *function, const int *c, side a, side b, const float *bias,
                         const long *shape)
{
    const size_t m = (size_t)shape[0], n = (size_t)shape[1];
    float *y = f32_array(m * n);
    call_cuda(function,
              ARGS(out_f32("y", y, m * n), in_i32("c", c, m * n), in_f32("scale_a", a.scale, m),
                   in_i32("zero_a", a.zero, m), in_i32("sums_a", a.sums, m),
                   in_f32("scale_b", b.scale, n), in_i32("zero_b", b.zero, n),
                   in_i32("sums_b", b.sums, n), bias ? in_f32("bias", bias, n) : null_pointer(),
                   i32((int)shape[0]), i32((int)shape[1]), i32((int)shape[2]), stream()));
    return y;
}

static void check_dequantized(const float *y, const int *c, side a, side b, const float *bias,
                              const long *shape)
{
    const size_t n = (size_t)shape[1], size = (size_t)shape[0] * n;
    const double k = (double)shape[2];
    double *want = f64_array(size), *scale = f64_array(size), *ignored = f64_array(size);
    double *no_product = f64_array(size), *in_float = f64_array(size);
    for (size_t i = 0; i < size; i++) {
        const size_t r = i / n, j = i % n;
        const double both = (double)a.scale[r] * b.scale[j], add = bias ? bias[j] : 0.0;
        const double za = a.zero[r], zb = b.zero[j];
        const double whole = c[i] - za * b.sums[j] - zb * a.sums[r] + k * za * zb;
        const float terms =
            (float)c[i] - (float)(za * b.sums[j]) - (float)(zb * a.sums[r]) + (float)(k * za * zb);
        want[i] = whole * both + add;
        scale[i] = fabs(whole * both) + fabs(add);
        ignored[i] = c[i] * both + add;
        no_product[i] = (whole - k * za * zb) * both + add;
        in_float[i] = terms * both + add;
    }
    suspect("the zero points are ignored", ignored);
    suspect("k times the product of the zero points is left out", no_product);
    suspect("the four terms are rounded to floats before they cancel", in_float);
    expect_close((layout){"y", (size_t)shape[0], n}, y, want, scale, 1e-6);
}

static void dequantize_and_check(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const side a = draw_side(m, k), b = draw_side(n, k);
    const float *bias = shape[3] ? random_f32((size_t)n) : NULL;
    int *c = random_i32((size_t)(m * n), -1000000, 1000001);
    for (long i = 0; i < m * n && shape[4]; i++) {
        const int za = a.zero[i / n], zb = b.zero[i % n];
        c[i] = c[i] / 1000 + za * b.sums[i % n] + zb * (a.sums[i / n] - (int)k * za);
    }
    check_dequantized(dequantize(function, c, a, b, bias, shape), c, a, b, bias, shape);
}

static void run_dequantize(const long *shape)
{
    dequantize_and_check("dequantize_epilogue", shape);
}

/* All three, against the product of the floats: each number is off by half its scale at most. */
static void run_chain(const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const long of_a[] = {m, k, PER_TENSOR, ASYMMETRIC, POSITIVE};
    const long of_b[] = {n, k, PER_CHANNEL, shape[3], RANDOM};
    const float *a = draw(of_a), *b = draw(of_b), *bias = random_f32((size_t)n);
    const quantized qa = quantize("quantize_s8", a, of_a), qb = quantize("quantize_s8", b, of_b);
    const int *c = s8_multiply("gemm_s8s8s32", qa.q, qb.q, (long[]){m, n, k, S8_ANY, 0});
    const side left = {qa.scale, qa.zero_point, qa.row_sums};
    const side right = {qb.scale, qb.zero_point, qb.row_sums};
    const float *y = dequantize("dequantize_epilogue", c, left, right, bias, shape);
    double *want = f64_array((size_t)(m * n)), *room = f64_array((size_t)(m * n));
    for (long i = 0; i < m * n; i++) {
        const double sa = qa.scale[i / n] * 0.51, sb = qb.scale[i % n] * 0.51;
        want[i] = bias[i % n];
        for (long l = 0; l < k; l++) {
            const double x = a[i / n * k + l], w = b[i % n * k + l];
            want[i] += x * w, room[i] += fabs(x) * sb + fabs(w) * sa + sa * sb;
        }
    }
    expect_close((layout){"y", (size_t)m, (size_t)n}, y, want, room, 1.0);
}

/* ---- the rows -------------------------------------------------------------------------------- */

#define QUANTIZE(title, ...)                                                                       \
    {                                                                                              \
        .name = "quantize " title, .run = run_quantize, .shape = { __VA_ARGS__ }                   \
    }
#define GEMM(title, ...)                                                                           \
    {                                                                                              \
        .name = "gemm " title, .run = run_gemm, .shape = { __VA_ARGS__ }                           \
    }
#define DEQUANTIZE(title, ...)                                                                     \
    {                                                                                              \
        .name = "dequantize " title, .run = run_dequantize, .shape = { __VA_ARGS__ }               \
    }

static const grading_case cases[] = {
    QUANTIZE("1x1", 1, 1, PER_TENSOR, SYMMETRIC),
    QUANTIZE("5x37, symmetric", 5, 37, PER_TENSOR, SYMMETRIC),
    QUANTIZE("5x37, asymmetric", 5, 37, PER_TENSOR, ASYMMETRIC),
    QUANTIZE("7x300 per channel, symmetric", 7, 300, PER_CHANNEL, SYMMETRIC),
    QUANTIZE("7x300 per channel, asymmetric", 7, 300, 2 * PER_CHANNEL, ASYMMETRIC),
    {.name = "quantize any", .run = run_quantize, .shape = {1, 1}, .most = {60, 900, 1, 1}},
    QUANTIZE("halves, symmetric", 3, 70, PER_TENSOR, SYMMETRIC, TIES),
    QUANTIZE("halves, asymmetric", 3, 70, PER_CHANNEL, ASYMMETRIC, TIES),
    QUANTIZE("beyond the ends", 3, 40, PER_CHANNEL, ASYMMETRIC, ENDS),
    QUANTIZE("beyond the ends, per tensor", 3, 40, PER_TENSOR, ASYMMETRIC, ENDS),
    QUANTIZE("zeros, symmetric", 4, 33, PER_CHANNEL, SYMMETRIC, ZEROS),
    QUANTIZE("zeros, asymmetric", 4, 33, PER_TENSOR, ASYMMETRIC, ZEROS),
    QUANTIZE("equal numbers", 4, 33, PER_CHANNEL, ASYMMETRIC, CONSTANT),
    QUANTIZE("positive numbers", 4, 130, PER_CHANNEL, ASYMMETRIC, POSITIVE),
    QUANTIZE("negative numbers", 4, 130, PER_CHANNEL, ASYMMETRIC, NEGATIVE),
    QUANTIZE("nan and infinities", 6, 50, PER_CHANNEL, ASYMMETRIC, SPECIAL),
    QUANTIZE("nan and infinities, per tensor", 6, 50, PER_TENSOR, SYMMETRIC, SPECIAL),
    QUANTIZE("huge numbers", 4, 40, PER_CHANNEL, ASYMMETRIC, HUGE),
    QUANTIZE("tiny numbers", 4, 40, PER_CHANNEL, ASYMMETRIC, TINY),
    QUANTIZE("0x7", 0, 7, PER_TENSOR, ASYMMETRIC),
    QUANTIZE("7x0", 7, 0, PER_TENSOR, ASYMMETRIC),
    QUANTIZE("7x0 per channel", 7, 0, PER_CHANNEL, SYMMETRIC),
    LONG_ROW("quantize 65541x2", run_quantize, 65541, 2, PER_CHANNEL, ASYMMETRIC),
    LONG_ROW("quantize 1100x250", run_quantize, 1100, 250, PER_TENSOR, ASYMMETRIC),
    LONG_ROW("quantize 2x65541", run_quantize, 2, 65541, PER_CHANNEL, ASYMMETRIC),
    {.name = "gemm 1x1x1", .run = run_gemm, .shape = {1, 1, 1}, .part = "gemm_s8s8s32"},
    GEMM("16x8x32", 16, 8, 32),
    GEMM("17x9x48", 17, 9, 48),
    GEMM("20x24x4", 20, 24, 4),
    GEMM("33x17x35", 33, 17, 35),
    GEMM("66x70x36", 66, 70, 36),
    GEMM("130x131x160", 130, 131, 160),
    GEMM("40x136x400", 40, 136, 400),
    {.name = "gemm any", .run = run_gemm, .shape = {1, 1, 1}, .most = {140, 140, 300}},
    {.name = "gemm any, rows of 16 bytes", .run = run_gemm, .shape = {20, 12, 416}, .most = {140}},
    GEMM("all -128, 20x24x96", 20, 24, 96, S8_LOWEST),
    GEMM("all -128, 3x5x49", 3, 5, 49, S8_LOWEST),
    GEMM("long sums, 18x9x16384", 18, 9, 16384, S8_LARGE),
    GEMM("long sums, 3x5x16383", 3, 5, 16383, S8_LARGE),
    LONG_ROW("gemm as long as an int holds", run_gemm, 2, 3, 131071, S8_LOWEST),
    GEMM("misaligned, 24x16x64", 24, 16, 64, S8_ANY, 4),
    GEMM("misaligned by a byte, 24x16x64", 24, 16, 64, S8_ANY, 1),
    GEMM("misaligned by 8, 40x24x80", 40, 24, 80, S8_ANY, 8),
    GEMM("0x5x3", 0, 5, 3),
    GEMM("5x0x3", 5, 0, 3),
    GEMM("k=0", 5, 6, 0),
    LONG_ROW("gemm 65543x8x32", run_gemm, 65543, 8, 32),
    LONG_ROW("gemm 16x65544x32", run_gemm, 16, 65544, 32),
    LONG_ROW("gemm 65543x1x1", run_gemm, 65543, 1, 1),
    LONG_ROW("gemm 1x65543x1", run_gemm, 1, 65543, 1),
    GPU_ROW("gemm 1000x2008x4112", run_gemm, 1000, 2008, 4112),
    {.name = "dequantize 1x1",
     .run = run_dequantize,
     .shape = {1, 1, 1, true},
     .part = "dequantize_epilogue"},
    DEQUANTIZE("5x37", 5, 37, 64, true),
    DEQUANTIZE("18x300", 18, 300, 1000, true),
    DEQUANTIZE("18x300, no bias", 18, 300, 1000, false),
    {.name = "dequantize any", .run = run_dequantize, .shape = {1, 1, 1}, .most = {70, 300, 3000}},
    DEQUANTIZE("terms that cancel", 17, 33, 30000, false, true),
    DEQUANTIZE("sums beyond an int", 17, 33, 131071, true),
    DEQUANTIZE("0x5", 0, 5, 4, true),
    DEQUANTIZE("5x0", 5, 0, 4, false),
    DEQUANTIZE("k=0", 5, 6, 0, true),
    LONG_ROW("dequantize 65541x2", run_dequantize, 65541, 2, 9, true),
    LONG_ROW("dequantize 2x65541", run_dequantize, 2, 65541, 1100, true),
    {.name = "all three, 33x40x96", .run = run_chain, .shape = {33, 40, 96, SYMMETRIC}},
    {.name = "all three, 9x11x70, asymmetric", .run = run_chain, .shape = {9, 11, 70, ASYMMETRIC}},
    {0},
};

/* The baseline's rate is known by the bytes of its three matrices, as in 4a. */
static const speed_test speed[] = {
    {.metric = {"speedup", .over = "402 on bf16", .shape = "4096 × 4096 × 4096"},
     .function = "gemm_s8s8s32",
     .baseline = "baseline_matmul_tensorcore",
     .run = multiply_and_check,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 2.0,
     .flop = 2.0 * 4096 * 4096 * 4096,
     .precision = IN_INT8,
     .peer_share = 0.04,
     .peer_bytes = 4096.0 * 4096 * (2 + 2 + 4)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = "16 × 8 × 32 product", .shape = "128 × 128 × 128"},
     .function = "gemm_s8s8s32",
     .run = multiply_and_check,
     .shape = {128, 128, 128},
     .count = tensor_instructions,
     .ideal = 8.0 * 16 * 4,
     .bound = AT_LEAST,
     .multiplications = 128.0 * 128 * 128,
     .wanted = 1.0},
    {.metric = {"warp instructions", .per = "warp dp4a", .shape = "128 × 128 × 252"},
     .function = "gemm_s8s8s32",
     .run = multiply_and_check,
     .shape = {128, 128, 252, S8_ANY, 4},
     .count = warp_instructions,
     .ideal = 128.0 * 128 * 252 / 4 / 32,
     .bound = AT_MOST,
     .wanted = 6.0,
     .begin = 8.748},
    {.metric = {"DRAM bytes", .relative_to = "bytes of the three matrices",
                .shape = "256 × 256 × 256"},
     .function = "gemm_s8s8s32",
     .run = multiply_and_check,
     .shape = {256, 256, 256},
     .count = moved_bytes,
     .ideal = 256.0 * 256 * (1 + 1 + 4),
     .bound = AT_MOST,
     .wanted = 1.7,
     .begin = 2.333},
    {.metric = {"bank conflicts", .shape = "128 × 128 × 128"},
     .function = "gemm_s8s8s32",
     .run = multiply_and_check,
     .shape = {128, 128, 128},
     .count = bank_conflicts,
     .bound = EXACTLY,
     .wanted = 0},
    {.metric = {"DRAM bytes", .relative_to = "bytes of x", .shape = "16 × 2048 per channel"},
     .function = "quantize_s8",
     .run = quantize_and_check,
     .shape = {16, 2048, PER_CHANNEL, ASYMMETRIC},
     .count = moved_bytes,
     .ideal = 4.0 * 16 * 2048,
     .bound = AT_MOST,
     .wanted = 2.35,
     .begin = 3.262},
    {.metric = {"DRAM bytes", .relative_to = "bytes of c and y", .shape = "64 × 256"},
     .function = "dequantize_epilogue",
     .run = dequantize_and_check,
     .shape = {64, 256, 64, true},
     .count = moved_bytes,
     .ideal = 8.0 * 64 * 256,
     .bound = AT_MOST,
     .wanted = 1.8,
     .begin = 3.375},
    {0},
};

EXERCISE(413) = {
    .id = 413,
    .name = "int8",
    .file = "phase4_optimization/413_int8/413_int8.cu",
    .functions = {"quantize_s8", "gemm_s8s8s32", "dequantize_epilogue"},
    .baseline_file = "grader/exercises/4a_matmul_mma/baseline.cu",
    .points = 20,
    .speed_points = 10,
    .see = "gemm 17x9x48",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
