/*
 * validate_operations.c: the operations that `make validate` times, one after the other. Each draws
 * its inputs, says what element i of the output should be, in double, and lists its variants: the
 * frozen naive kernel of an exercise, its solution, cuBLAS.
 *
 * All numbers that are drawn are numbers of bf16, or whole ones of 8 bits. So variants in any
 * precision have the same inputs and the same answer.
 */
#include "validate.h"

#include "basics.h"
#include "cuda_check.h"
#include "layers.h"
#include "optimization.h"
#include "random.h"

#include <cublas_v2.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EPS       1e-5f
#define PAGE      16 /* tokens of a page of the cache */
#define ARRAYS    8  /* of an operation, at most */
#define ALLOCATED 32
#define SIZE(i)   (validate_shape[i])

typedef __nv_bfloat16 bf16;

/** The same numbers on the host, and on the device in each form that somebody takes. */
typedef struct array {
    float *h;
    size_t count;
    void *d[ELEMENTS];
} array;

const long *validate_shape;
least validate_least;
void *validate_output;

static random_state rng;
static void *on_device[ALLOCATED];
static float *on_host[ARRAYS];
static int allocated_count, h_count;
static cublasHandle_t blas;

/* ---- arrays ---------------------------------------------------------------------------------- */

static cudaError_t allocate(void **d, size_t bytes)
{
    if (allocated_count == ALLOCATED) return cudaErrorMemoryAllocation;
    CUDA_CHECK(cudaMalloc(d, bytes));
    on_device[allocated_count++] = *d;
    return cudaSuccess;
}

static cudaError_t bring(void **d, const void *h, size_t bytes, size_t aside)
{
    CUDA_CHECK(allocate(d, bytes + aside));
    *d = (char *)*d + aside;
    return cudaMemcpy(*d, h, bytes, cudaMemcpyHostToDevice);
}

static uint16_t upper_half(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* One form of an array, through memory of the host that is freed at once. */
static cudaError_t bring_as(array *a, element form)
{
    if (form == F32) return bring(&a->d[F32], a->h, a->count * sizeof *a->h, 0);
    const size_t each = form == BF16 ? 2 : 1;
    char *some = malloc(a->count * each);
    if (some == NULL) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < a->count; i++) {
        if (form == BF16)
            ((uint16_t *)some)[i] = upper_half(a->h[i]);
        else
            some[i] = (int8_t)a->h[i];
    }
    const cudaError_t error = bring(&a->d[form], some, a->count * each, form == S8_ASIDE ? 4 : 0);
    free(some);
    return error;
}

/* Numbers of bf16 between -size and size, in these forms. From 128 on they are whole. */
static cudaError_t draw(array *a, long count, float size, unsigned forms)
{
    *a = (array){malloc((size_t)count * sizeof(float)), (size_t)count, {0}};
    if (a->h == NULL || h_count == ARRAYS) return cudaErrorMemoryAllocation;
    on_host[h_count++] = a->h;
    for (size_t i = 0; i < a->count; i++)
        a->h[i] = (float)((int)random_below(&rng, 255) - 127) / 128 * size;
    for (element form = F32; form < ELEMENTS; form++)
        if (forms >> form & 1) CUDA_CHECK(bring_as(a, form));
    return cudaSuccess;
}

/* @param fixed, flop as in least */
static cudaError_t expect(double in, double out, double fixed, double flop)
{
    validate_least = (least){in, out, fixed, flop};
    return allocate(&validate_output, (size_t)out * 4);
}

void validate_end(void)
{
    while (allocated_count > 0) cudaFree(on_device[--allocated_count]);
    while (h_count > 0) free(on_host[--h_count]);
    if (blas) cublasDestroy(blas);
    blas = NULL;
}

/* ---- cuBLAS ---------------------------------------------------------------------------------- */

/* c[m x n] = a[m x k] b, and b lies as [k x n], or turned as [n x k]. Column by column that is
 * c^T = b^T a^T. */
static cudaError_t multiply(const void *a, const void *b, int n, int k, int turned,
                            cudaDataType type, cudaDataType type_c, cublasComputeType_t compute)
{
    const int m = (int)SIZE(0), whole[] = {1, 0};
    const float real[] = {1.0f, 0.0f};
    const void *factor = type == CUDA_R_8I ? (const void *)whole : real;
    if (blas == NULL && cublasCreate(&blas)) return cudaErrorUnknown;
    return cublasGemmEx(blas, turned ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, factor, b,
                        type, turned ? k : n, a, type, k, (const char *)factor + 4, validate_output,
                        type_c, n, compute, CUBLAS_GEMM_DEFAULT)
               ? cudaErrorUnknown
               : cudaSuccess;
}

static cudaError_t by_cublas(const void *a, const void *b, int turned, cudaDataType type,
                             cudaDataType type_c, cublasComputeType_t compute)
{
    return multiply(a, b, (int)SIZE(1), (int)SIZE(2), turned, type, type_c, compute);
}

/* ---- matmul: m, n, k ------------------------------------------------------------------------- */

static array a, b;

static double dot(const float *x, const float *y, long count, long step, double *scale)
{
    double sum = 0.0;
    for (long i = 0; i < count; i++) {
        const double term = (double)x[i] * y[i * step];
        sum += term, *scale += fabs(term);
    }
    return sum;
}

static cudaError_t begin_matmul(void)
{
    const long m = SIZE(0), n = SIZE(1), k = SIZE(2);
    CUDA_CHECK(draw(&a, m * k, 1.0f, 1u << F32 | 1u << BF16));
    CUDA_CHECK(draw(&b, k * n, 1.0f, 1u << F32 | 1u << BF16));
    return expect((double)k * (m + n), (double)m * n, 0, 2.0 * m * n * k);
}

static double want_matmul(size_t i, double *scale)
{
    const long n = SIZE(1), k = SIZE(2), row = (long)i / n, col = (long)i % n;
    return dot(a.h + row * k, b.h + col, k, n, scale);
}

#define MATMUL(function, form)                                                                     \
    static cudaError_t by_##function(void)                                                         \
    {                                                                                              \
        return function(validate_output, a.d[form], b.d[form], (int)SIZE(0), (int)SIZE(1),         \
                        (int)SIZE(2), 0);                                                          \
    }
MATMUL(matmul_naive, F32)
MATMUL(matmul_registers, F32)
MATMUL(matmul_warptile, F32)
MATMUL(matmul_wgmma, BF16)

static cudaError_t cublas_fp32(void)
{
    return by_cublas(a.d[F32], b.d[F32], 0, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC);
}

static cudaError_t cublas_bf16(void)
{
    return by_cublas(a.d[BF16], b.d[BF16], 0, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F);
}

/* ---- int8 product: m, n, k; b lies turned ---------------------------------------------------- */

cudaError_t baseline_matmul_tensorcore(float *c, const bf16 *a, const bf16 *b, int m, int n, int k,
                                       cudaStream_t stream);

static array b_turned; /* [k x n], for 402 */

static cudaError_t begin_int8(void)
{
    const long m = SIZE(0), n = SIZE(1), k = SIZE(2);
    CUDA_CHECK(draw(&a, m * k, 128.0f, 1u << S8 | 1u << S8_ASIDE | 1u << BF16));
    CUDA_CHECK(draw(&b, n * k, 128.0f, 1u << S8 | 1u << S8_ASIDE));
    CUDA_CHECK(draw(&b_turned, k * n, 128.0f, 0));
    for (long i = 0; i < n * k; i++) b_turned.h[i % k * n + i / k] = b.h[i];
    CUDA_CHECK(bring_as(&b_turned, BF16));
    return expect((double)k * (m + n), (double)m * n, 0, 2.0 * m * n * k);
}

static double want_int8(size_t i, double *scale)
{
    const long n = SIZE(1), k = SIZE(2), row = (long)i / n, col = (long)i % n;
    return dot(a.h + row * k, b.h + col * k, k, 1, scale);
}

static cudaError_t int8_by_bf16(void)
{
    return baseline_matmul_tensorcore(validate_output, a.d[BF16], b_turned.d[BF16], (int)SIZE(0),
                                      (int)SIZE(1), (int)SIZE(2), 0);
}

/* Addresses at no multiple of 16: the way by dp4a. */
static cudaError_t int8_by_dp4a(void)
{
    return gemm_s8s8s32(validate_output, a.d[S8_ASIDE], b.d[S8_ASIDE], (int)SIZE(0), (int)SIZE(1),
                        (int)SIZE(2), 0);
}

static cudaError_t int8_by_mma(void)
{
    return gemm_s8s8s32(validate_output, a.d[S8], b.d[S8], (int)SIZE(0), (int)SIZE(1), (int)SIZE(2),
                        0);
}

static cudaError_t cublas_int8(void)
{
    return by_cublas(a.d[S8], b.d[S8], 1, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I);
}

/* ---- linear layer, bias, and ReLU or not: batch, in, out ------------------------------------- */

cudaError_t baseline_linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                          const float *bias, int batch, int in_features,
                                          int out_features, cudaStream_t stream);
__typeof__(linear_forward) baseline_linear_forward;

static array x, w, bias;

static cudaError_t begin_linear(void)
{
    const long batch = SIZE(0), in = SIZE(1), out = SIZE(2);
    CUDA_CHECK(draw(&x, batch * in, 1.0f, 1u << F32));
    CUDA_CHECK(draw(&w, out * in, 1.0f, 1u << F32));
    CUDA_CHECK(draw(&bias, out, 1.0f, 1u << F32));
    return expect((double)in * (batch + out) + out, (double)batch * out, 0, 2.0 * batch * in * out);
}

static double want_linear(size_t i, double *scale)
{
    const long in = SIZE(1), out = SIZE(2), row = (long)i / out, col = (long)i % out;
    *scale = fabs((double)bias.h[col]);
    return bias.h[col] + dot(x.h + row * in, w.h + col * in, in, 1, scale);
}

static double want_relu(size_t i, double *scale)
{
    return fmax(0.0, want_linear(i, scale));
}

#define LINEAR(function, ...)                                                                      \
    static cudaError_t by_##function(void)                                                         \
    {                                                                                              \
        return function(validate_output, __VA_ARGS__ x.d[F32], w.d[F32], bias.d[F32],              \
                        (int)SIZE(0), (int)SIZE(1), (int)SIZE(2), 0);                              \
    }
LINEAR(baseline_linear_forward_fused, NULL, )
LINEAR(linear_forward_fused, NULL, )
LINEAR(baseline_linear_forward)
LINEAR(linear_forward)

/* y^T = w x^T, column by column, with w turned. */
static cudaError_t linear_by_cublas(void)
{
    CUDA_CHECK(multiply(x.d[F32], w.d[F32], (int)SIZE(2), (int)SIZE(1), 1, CUDA_R_32F, CUDA_R_32F,
                        CUBLAS_COMPUTE_32F_PEDANTIC));
    return bias_forward(validate_output, validate_output, bias.d[F32], (int)SIZE(0), (int)SIZE(2),
                        0);
}

/* ---- convolution by filters of 3 x 3, padding 1: images, channels, side, filters ------------- */

static cudaError_t begin_convolution(void)
{
    const long images = SIZE(0), channels = SIZE(1), pixels = SIZE(2) * SIZE(2), filters = SIZE(3);
    CUDA_CHECK(draw(&x, images * channels * pixels, 1.0f, 1u << F32));
    CUDA_CHECK(draw(&w, filters * channels * 9, 1.0f, 1u << F32));
    return expect((double)channels * (images * pixels + 9.0 * filters),
                  (double)images * filters * pixels, 0,
                  18.0 * images * filters * pixels * channels);
}

static double want_convolution(size_t i, double *scale)
{
    const long channels = SIZE(1), side = SIZE(2), filters = SIZE(3), pixels = side * side;
    const long row = (long)i / side % side, col = (long)i % side, plane = (long)i / pixels;
    double sum = 0.0;
    for (long tap = 0; tap < 9; tap++) {
        const long r = row + tap / 3 - 1, s = col + tap % 3 - 1;
        for (long c = 0; c < channels && r >= 0 && r < side && s >= 0 && s < side; c++) {
            const double term =
                (double)x.h[(plane / filters * channels + c) * pixels + r * side + s] *
                w.h[(plane % filters * channels + c) * 9 + tap];
            sum += term, *scale += fabs(term);
        }
    }
    return sum;
}

#define CONVOLUTION(function)                                                                      \
    static cudaError_t by_##function(void)                                                         \
    {                                                                                              \
        return function(validate_output, x.d[F32], w.d[F32], NULL, (int)SIZE(0), (int)SIZE(1),     \
                        (int)SIZE(2), (int)SIZE(2), (int)SIZE(3), 3, 3, 1, 1, 0);                  \
    }
CONVOLUTION(conv2d_forward)
CONVOLUTION(conv2d_implicit_gemm)

/* ---- softmax and layer normalization: rows, cols --------------------------------------------- */

cudaError_t baseline_softmax_forward(float *y, const float *x, int rows, int cols,
                                     cudaStream_t stream);
cudaError_t baseline_layernorm_forward(float *y, float *mean, float *rstd, const float *x,
                                       const float *gamma, const float *beta, int rows, int cols,
                                       float eps, cudaStream_t stream);

static array gamma_, beta;
static void *mean, *rstd;

static cudaError_t begin_softmax(void)
{
    const double size = (double)SIZE(0) * SIZE(1);
    CUDA_CHECK(draw(&x, SIZE(0) * SIZE(1), 8.0f, 1u << F32));
    return expect(size, size, 0, 0);
}

static double want_softmax(size_t i, double *scale)
{
    const long cols = SIZE(1);
    const float *row = x.h + (long)i / cols * cols;
    double sum = 0.0;
    for (long c = 0; c < cols; c++) sum += exp(row[c]);
    return *scale = exp(x.h[i]) / sum;
}

static cudaError_t softmax_naive(void)
{
    return baseline_softmax_forward(validate_output, x.d[F32], (int)SIZE(0), (int)SIZE(1), 0);
}

static cudaError_t softmax_optimised(void)
{
    return softmax_rows(validate_output, x.d[F32], (int)SIZE(0), (int)SIZE(1), 0);
}

static cudaError_t begin_layernorm(void)
{
    CUDA_CHECK(begin_softmax());
    CUDA_CHECK(draw(&gamma_, SIZE(1), 1.0f, 1u << F32));
    CUDA_CHECK(draw(&beta, SIZE(1), 1.0f, 1u << F32));
    CUDA_CHECK(allocate(&mean, (size_t)SIZE(0) * sizeof(float)));
    CUDA_CHECK(allocate(&rstd, (size_t)SIZE(0) * sizeof(float)));
    validate_least.in += 2.0 * SIZE(1);
    return cudaSuccess;
}

static double want_layernorm(size_t i, double *scale)
{
    const long cols = SIZE(1), col = (long)i % cols;
    const float *row = x.h + (long)i - col;
    double m = 0.0, squares = 0.0;
    for (long c = 0; c < cols; c++) m += (double)row[c] / cols;
    for (long c = 0; c < cols; c++) squares += (row[c] - m) * (row[c] - m);
    const double y = (row[col] - m) / sqrt(squares / cols + EPS) * gamma_.h[col];
    *scale = fabs(y) + fabs((double)beta.h[col]);
    return y + beta.h[col];
}

static cudaError_t layernorm_naive(void)
{
    return baseline_layernorm_forward(validate_output, mean, rstd, x.d[F32], gamma_.d[F32],
                                      beta.d[F32], (int)SIZE(0), (int)SIZE(1), EPS, 0);
}

static cudaError_t layernorm_optimised(void)
{
    return layernorm_rows(validate_output, x.d[F32], gamma_.d[F32], beta.d[F32], (int)SIZE(0),
                          (int)SIZE(1), EPS, 0);
}

/* ---- attention, causal: heads, queries, dim -------------------------------------------------- */

static array q, k, v;

/* out[d] of a query over so many keys, each `step` numbers after the one before. */
static double attend(const float *query, const float *keys, const float *values, long count,
                     long step, long dim, long d, double *scale)
{
    double weight = 0.0, sum = 0.0, sizes = 0.0, unused = 0.0;
    for (long t = 0; t < count; t++) {
        const double p = exp(dot(query, keys + t * step, dim, 1, &unused) / sqrt((double)dim));
        weight += p, sum += p * values[t * step + d], sizes += p * fabs(values[t * step + d]);
    }
    *scale = sizes / weight;
    return sum / weight;
}

static cudaError_t begin_attention(void)
{
    const long heads = SIZE(0), queries = SIZE(1), size = heads * queries * SIZE(2);
    CUDA_CHECK(draw(&q, size, 1.0f, 1u << F32 | 1u << BF16));
    CUDA_CHECK(draw(&k, size, 1.0f, 1u << F32 | 1u << BF16));
    CUDA_CHECK(draw(&v, size, 1.0f, 1u << F32 | 1u << BF16));
    return expect(3.0 * size, (double)size, 0, 2.0 * queries * size); /* half of the scores */
}

static double want_attention(size_t i, double *scale)
{
    const long dim = SIZE(2), row = (long)i / dim, head = row / SIZE(1) * SIZE(1) * dim;
    return attend(q.h + row * dim, k.h + head, v.h + head, row % SIZE(1) + 1, dim, dim,
                  (long)i % dim, scale);
}

static float factor(long dim)
{
    return 1.0f / sqrtf((float)dim);
}

static cudaError_t attention_by_313(void)
{
    return attention_naive(validate_output, q.d[F32], k.d[F32], v.d[F32], 1, (int)SIZE(0),
                           (int)SIZE(1), (int)SIZE(2), 1, factor(SIZE(2)), 0);
}

static cudaError_t attention_by_409(void)
{
    return attention_flash(validate_output, NULL, q.d[F32], k.d[F32], v.d[F32], 1, (int)SIZE(0),
                           (int)SIZE(1), (int)SIZE(2), 1, factor(SIZE(2)), 0);
}

static cudaError_t attention_by_4h(void)
{
    return attention_flash_fast(validate_output, NULL, q.d[F32], k.d[F32], v.d[F32], 1,
                                (int)SIZE(0), (int)SIZE(1), (int)SIZE(2), 1, factor(SIZE(2)), 0);
}

static cudaError_t attention_by_4c(void)
{
    return attention_flash2(validate_output, NULL, q.d[BF16], k.d[BF16], v.d[BF16], 1, (int)SIZE(0),
                            (int)SIZE(1), (int)SIZE(2), 1, factor(SIZE(2)), 0);
}

/* ---- decoding from pages: sequences, query heads, heads of the cache, dim, context ----------- */

cudaError_t baseline_paged_heads(bf16 *out, const bf16 *q, const bf16 *k, const bf16 *v,
                                 const int *table, const int *lengths, int sequences, int q_heads,
                                 int kv_heads, int page, int max_pages, int dim, float scale,
                                 cudaStream_t stream);

static void *table, *lengths;
static int *h_table; /* [sequences x pages of a sequence] */

/* Pages in any order, and every context as long as there is room. */
static cudaError_t lay_out_pages(long sequences, long context)
{
    const long pages = sequences * (context / PAGE);
    int *of_host = (int *)(on_host[h_count++] = malloc((size_t)(pages + sequences) * 4));
    if (of_host == NULL) return cudaErrorMemoryAllocation;
    h_table = of_host;
    for (long i = 0; i < pages; i++) h_table[i] = (int)i;
    random_shuffle(&rng, h_table, (size_t)pages);
    for (long i = 0; i < sequences; i++) h_table[pages + i] = (int)context;
    CUDA_CHECK(bring(&table, h_table, (size_t)pages * sizeof(int), 0));
    return bring(&lengths, h_table + pages, (size_t)sequences * sizeof(int), 0);
}

static cudaError_t begin_paged(void)
{
    const long sequences = SIZE(0), q_heads = SIZE(1), dim = SIZE(3), context = SIZE(4);
    const long out = sequences * q_heads * dim, cache = sequences * SIZE(2) * context * dim;
    CUDA_CHECK(draw(&q, out, 1.0f, 1u << BF16));
    CUDA_CHECK(draw(&k, cache, 1.0f, 1u << BF16));
    CUDA_CHECK(draw(&v, cache, 1.0f, 1u << BF16));
    CUDA_CHECK(lay_out_pages(sequences, context));
    return expect(2.0 * cache + out, (double)out, 0, 4.0 * context * out);
}

/* The pages of a context, in order, are gathered first. */
static double want_paged(size_t i, double *scale)
{
    const long q_heads = SIZE(1), kv_heads = SIZE(2), dim = SIZE(3), context = SIZE(4);
    const long row = (long)i / dim, sequence = row / q_heads;
    const long head = row % q_heads / (q_heads / kv_heads), step = kv_heads * dim;
    float *keys = malloc((size_t)(2 * context * dim) * sizeof *keys), *values;
    if (keys == NULL) return NAN;
    values = keys + context * dim;
    for (long t = 0; t < context; t++) {
        const long page = h_table[(sequence * context + t) / PAGE];
        const long at = (page * PAGE + t % PAGE) * step + head * dim;
        memcpy(keys + t * dim, k.h + at, (size_t)dim * sizeof *keys);
        memcpy(values + t * dim, v.h + at, (size_t)dim * sizeof *keys);
    }
    const double y = attend(q.h + row * dim, keys, values, context, dim, dim, (long)i % dim, scale);
    free(keys);
    return y;
}

#define PAGED(function)                                                                            \
    static cudaError_t by_##function(void)                                                         \
    {                                                                                              \
        return function(validate_output, q.d[BF16], k.d[BF16], v.d[BF16], table, lengths,          \
                        (int)SIZE(0), (int)SIZE(1), (int)SIZE(2), PAGE, (int)SIZE(4) / PAGE,       \
                        (int)SIZE(3), factor(SIZE(3)), 0);                                         \
    }
PAGED(baseline_paged_heads)
PAGED(attention_paged)

/* ---- experts: tokens, experts, top_k, dim, ffn ----------------------------------------------- */

cudaError_t baseline_moe_experts(float *output, bf16 *hidden, const bf16 *input,
                                 const bf16 *const *expert_weights, const int *permutation,
                                 const int *offsets, const float *gate_scores, int num_tokens,
                                 int num_experts, int top_k, int hidden_dim, int ffn_dim,
                                 cudaStream_t stream);

static array up, down, gates; /* [experts x ffn x dim], [experts x dim x ffn], [entries] */
static void *hidden, *weights, *permutation, *offsets;
static int *h_expert; /* [entries] */

/* Entry token * top_k + j goes to an expert that is drawn for the token, or to the j-th after. */
static cudaError_t send_tokens(long tokens, long experts, long top_k)
{
    const long entries = tokens * top_k;
    int *of_host = (int *)(on_host[h_count++] = malloc((size_t)(2 * entries + experts + 1) * 4));
    if (of_host == NULL) return cudaErrorMemoryAllocation;
    int *lists = of_host + entries, *begins = lists + entries, count = 0;
    h_expert = of_host;
    for (long i = 0; i < entries; i++)
        h_expert[i] = i % top_k == 0 ? (int)random_below(&rng, (uint64_t)experts)
                                     : (h_expert[i - 1] + 1) % (int)experts;
    for (long e = 0; e < experts; e++) {
        begins[e] = count;
        for (long i = 0; i < entries; i++)
            if (h_expert[i] == e) lists[count++] = (int)i;
    }
    begins[experts] = count;
    CUDA_CHECK(bring(&permutation, lists, (size_t)entries * sizeof(int), 0));
    return bring(&offsets, begins, (size_t)(experts + 1) * sizeof(int), 0);
}

static cudaError_t begin_moe(void)
{
    const long tokens = SIZE(0), experts = SIZE(1), top_k = SIZE(2), dim = SIZE(3), ffn = SIZE(4);
    const long size = dim * ffn;
    const float spread = 4.0f / sqrtf((float)dim);
    CUDA_CHECK(draw(&x, tokens * dim, 1.0f, 1u << BF16));
    CUDA_CHECK(draw(&up, experts * size, exp2f(roundf(log2f(spread))), 1u << BF16));
    CUDA_CHECK(draw(&down, experts * size, 1.0f, 1u << BF16));
    CUDA_CHECK(draw(&gates, tokens * top_k, 1.0f, 1u << F32));
    CUDA_CHECK(send_tokens(tokens, experts, top_k));
    const bf16 **all = malloc(2 * (size_t)experts * sizeof *all);
    if (all == NULL) return cudaErrorMemoryAllocation;
    for (long e = 0; e < experts; e++) {
        all[e] = (const bf16 *)((uint16_t *)up.d[BF16] + e * size);
        all[experts + e] = (const bf16 *)((uint16_t *)down.d[BF16] + e * size);
    }
    const cudaError_t error = bring(&weights, all, 2 * (size_t)experts * sizeof *all, 0);
    free(all);
    CUDA_CHECK(error);
    CUDA_CHECK(allocate(&hidden, (size_t)(tokens * top_k * ffn) * 2));
    return expect((double)tokens * dim + 2.0 * experts * size, (double)tokens * dim,
                  8.0 * tokens * top_k, 4.0 * tokens * top_k * size);
}

static double gelu(double z)
{
    return 0.5 * z * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (z + 0.044715 * z * z * z)));
}

/* The scale is the root of the squares: where a hidden number is rounded to its neighbour, that is
 * how errors add up. */
static double want_moe(size_t i, double *scale)
{
    const long top_k = SIZE(2), dim = SIZE(3), ffn = SIZE(4), token = (long)i / dim;
    double sum = 0.0, unused = 0.0;
    for (long j = token * top_k; j < (token + 1) * top_k; j++) {
        double squares = 0.0;
        const float *of_up = up.h + h_expert[j] * dim * ffn;
        const float *of_down = down.h + h_expert[j] * dim * ffn + (long)i % dim * ffn;
        for (long f = 0; f < ffn; f++) {
            const double z = dot(x.h + token * dim, of_up + f * dim, dim, 1, &unused);
            const double term = gates.h[j] * gelu(z) * of_down[f];
            sum += term, squares += term * term;
        }
        *scale += sqrt(squares);
    }
    return sum;
}

#define EXPERTS(function)                                                                          \
    static cudaError_t by_##function(void)                                                         \
    {                                                                                              \
        return function(validate_output, hidden, x.d[BF16], weights, permutation, offsets,         \
                        gates.d[F32], (int)SIZE(0), (int)SIZE(1), (int)SIZE(2), (int)SIZE(3),      \
                        (int)SIZE(4), 0);                                                          \
    }
EXPERTS(baseline_moe_experts)
EXPERTS(moe_experts_compute)

/* ---- the lists ------------------------------------------------------------------------------- */

/* As many numbers in shorter and in longer rows: a part of the roof that falls is a cliff. */
#define SWEEP(rows, cols)                                                                          \
    {                                                                                              \
        "softmax, sweep", {{rows, cols}, {3, cols}}, "%ld rows of %ld", begin_softmax,             \
            want_softmax                                                                           \
    }

const operation validate_operations[] = {
    {"matmul", {{4096, 4096, 4096}, {136, 144, 96}}, "%ld x %ld x %ld", begin_matmul, want_matmul},
    {"softmax", {{16384, 4096}, {24, 1024}}, "%ld rows of %ld", begin_softmax, want_softmax},
    {"layernorm", {{8192, 4096}, {24, 1024}}, "%ld rows of %ld", begin_layernorm, want_layernorm},
    {"attention",
     {{32, 4096, 64}, {2, 160, 64}},
     "causal, %ld heads, %ld queries of %ld",
     begin_attention,
     want_attention},
    {"paged attention",
     {{8, 32, 8, 128, 8192}, {2, 8, 2, 128, 528}},
     "%ld sequences, heads %ld / %ld, dim %ld, context %ld",
     begin_paged,
     want_paged},
    {"experts",
     {{16384, 64, 2, 1024, 2048}, {100, 4, 2, 64, 128}},
     "%ld tokens, %ld experts, top %ld, %ld to %ld",
     begin_moe,
     want_moe},
    {"int8 product",
     {{4096, 4096, 4096}, {136, 144, 96}},
     "%ld x %ld x %ld",
     begin_int8,
     want_int8},
    {"linear, ReLU",
     {{8192, 64, 2048}, {70, 64, 90}},
     "batch %ld, %ld to %ld",
     begin_linear,
     want_relu},
    {"classifier",
     {{64, 512, 1000}, {6, 64, 90}},
     "batch %ld, %ld to %ld",
     begin_linear,
     want_linear},
    {"convolution",
     {{16, 128, 28, 128}, {2, 5, 9, 7}},
     "%ld images, %ld channels of side %ld, %ld filters of 3 x 3",
     begin_convolution,
     want_convolution},
    SWEEP(262144, 256),
    SWEEP(65536, 1024),
    SWEEP(4096, 16384),
    SWEEP(1024, 65536),
};
const int validate_operation_count = sizeof validate_operations / sizeof *validate_operations;

const variant validate_variants[] = {
    {"matmul", "206 naive", NAIVE, "fp32", F32, F32, 2e-6, by_matmul_naive},
    {"matmul", "214 registers", OPTIMISED, "fp32", F32, F32, 2e-6, by_matmul_registers},
    {"matmul", "2a warptile", OPTIMISED, "fp32", F32, F32, 2e-6, by_matmul_warptile},
    {"matmul", "cuBLAS", LIBRARY, "fp32", F32, F32, 2e-6, cublas_fp32},
    {"matmul", "4b wgmma", OPTIMISED, "bf16", BF16, F32, 2e-6, by_matmul_wgmma},
    {"matmul", "cuBLAS", LIBRARY, "bf16", BF16, F32, 2e-6, cublas_bf16},
    {"softmax", "304's baseline", NAIVE, "fp32", F32, F32, 2e-5, softmax_naive},
    {"softmax", "405", OPTIMISED, "fp32", F32, F32, 2e-5, softmax_optimised},
    {"softmax", "PyTorch", LIBRARY, "fp32", F32, F32, 2e-5, NULL},
    {"layernorm", "311's baseline", NAIVE, "fp32", F32, F32, 1e-4, layernorm_naive},
    {"layernorm", "405", OPTIMISED, "fp32", F32, F32, 1e-4, layernorm_optimised},
    {"layernorm", "PyTorch", LIBRARY, "fp32", F32, F32, 1e-4, NULL},
    {"attention", "313 naive", NAIVE, "fp32", F32, F32, 1e-5, attention_by_313},
    {"attention", "409", OPTIMISED, "fp32", F32, F32, 1e-5, attention_by_409},
    {"attention", "4h", OPTIMISED, "fp32", F32, F32, 1e-5, attention_by_4h},
    {"attention", "4c", OPTIMISED, "bf16", BF16, BF16, 1e-2, attention_by_4c},
    {"attention", "PyTorch", LIBRARY, "bf16", BF16, BF16, 1e-2, NULL},
    {"attention", "PyTorch unfused", LIBRARY, "bf16", BF16, BF16, 1e-2, NULL},
    {"paged attention", "410's baseline", NAIVE, "bf16", BF16, BF16, 1e-2, by_baseline_paged_heads},
    {"paged attention", "410", OPTIMISED, "bf16", BF16, BF16, 1e-2, by_attention_paged},
    {"paged attention", "PyTorch", LIBRARY, "bf16", BF16, BF16, 1e-2, NULL},
    {"experts", "412's baseline", NAIVE, "bf16", BF16, F32, 1e-2, by_baseline_moe_experts},
    {"experts", "412", OPTIMISED, "bf16", BF16, F32, 1e-2, by_moe_experts_compute},
    {"experts", "PyTorch", LIBRARY, "bf16", BF16, F32, 3e-2, NULL}, /* rounds y to bf16 too */
    {"int8 product", "402 on bf16", NAIVE, "bf16", BF16, F32, 2e-6, int8_by_bf16},
    {"int8 product", "413 dp4a", OPTIMISED, "int8", S8, S32, 0, int8_by_dp4a},
    {"int8 product", "413 mma", OPTIMISED, "int8", S8, S32, 0, int8_by_mma},
    {"int8 product", "cuBLAS", LIBRARY, "int8", S8, S32, 0, cublas_int8},
    {"int8 product", "PyTorch", LIBRARY, "int8", S8, S32, 0, NULL},
    {"linear, ReLU", "404's baseline", NAIVE, "fp32", F32, F32, 2e-6,
     by_baseline_linear_forward_fused},
    {"linear, ReLU", "404", OPTIMISED, "fp32", F32, F32, 2e-6, by_linear_forward_fused},
    {"linear, ReLU", "PyTorch", LIBRARY, "fp32", F32, F32, 2e-6, NULL},
    {"classifier", "303's baseline", NAIVE, "fp32", F32, F32, 2e-6, by_baseline_linear_forward},
    {"classifier", "303", OPTIMISED, "fp32", F32, F32, 2e-6, by_linear_forward},
    {"classifier", "cuBLAS, 302", LIBRARY, "fp32", F32, F32, 2e-6, linear_by_cublas},
    {"convolution", "306", NAIVE, "fp32", F32, F32, 2e-6, by_conv2d_forward},
    {"convolution", "307", OPTIMISED, "fp32", F32, F32, 2e-6, by_conv2d_implicit_gemm},
    {"convolution", "PyTorch cuDNN", LIBRARY, "fp32", F32, F32, 2e-6, NULL},
    {"softmax, sweep", "405", OPTIMISED, "fp32", F32, F32, 2e-5, softmax_optimised},
};
const int validate_variant_count = sizeof validate_variants / sizeof *validate_variants;
