/*
 * gemm.c: C = alpha op(A) op(B) + beta C, for all element types and in batches.
 *
 * Every entry point fills in a struct gemm; one function computes it. The sum runs column by
 * column: for each element b of B's column, the column of A that it meets is added b times. Both
 * run through consecutive memory, so that the compiler can use the whole width of the processor.
 */
#include "blas.h"

struct gemm {
    cublasOperation_t op_a, op_b;
    int64_t m, n, k;
    const void *alpha, *beta;
    struct matrix a, b, c; /* their rows and columns follow from the operations */
    cudaDataType scale;    /* type of alpha and beta */
    bool tf32;             /* round the operands as tensor cores do */
};

/* ---- the product ----------------------------------------------------------------------------- */

/* Compiled for what processors have today and for any other; the loader chooses. */
#if defined __x86_64__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

/* What op(X) is made of: columns of X, or its rows. @return op(x) [rows x columns] */
#define DEFINE_PRODUCT(name, T)                                                                    \
    static void transpose_##name(T *restrict y, const T *restrict x, int64_t rows,                 \
                                 int64_t columns)                                                  \
    {                                                                                              \
        for (int64_t j = 0; j < columns; j++)                                                      \
            for (int64_t i = 0; i < rows; i++) y[i + j * rows] = x[j + i * columns];               \
    }                                                                                              \
    WIDE static void add_columns_##name(T *restrict c, const T *restrict a, const T *restrict b,   \
                                        int64_t m, int64_t k)                                      \
    {                                                                                              \
        int64_t p = 0;                                                                             \
        for (; p + 4 <= k; p += 4) {                                                               \
            const T *x = a + p * m, b0 = b[p], b1 = b[p + 1], b2 = b[p + 2], b3 = b[p + 3];        \
            for (int64_t i = 0; i < m; i++)                                                        \
                c[i] += x[i] * b0 + x[i + m] * b1 + x[i + 2 * m] * b2 + x[i + 3 * m] * b3;         \
        }                                                                                          \
        for (; p < k; p++)                                                                         \
            for (int64_t i = 0; i < m; i++) c[i] += a[i + p * m] * b[p];                           \
    }                                                                                              \
    /* @return op(x), in memory of the call; NULL after a failure */                               \
    static T *operand_##name(struct call *call, T *x, bool transposed, int64_t rows,               \
                             int64_t columns)                                                      \
    {                                                                                              \
        if (!x || !transposed) return x;                                                           \
        T *y = call_take(call, (size_t)(rows * columns) * sizeof *y);                              \
        if (y) transpose_##name(y, x, rows, columns);                                              \
        return y;                                                                                  \
    }
DEFINE_PRODUCT(f32, float)
DEFINE_PRODUCT(f64, double)

static void round_all(float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) x[i] = round_to_tf32(x[i]);
}

static bool is_transposed(cublasOperation_t op)
{
    return op != CUBLAS_OP_N; /* for real numbers the conjugate is the transpose */
}

/* acc [m x n] += op(A) op(B), summed in fp32. */
static void multiply_f32(struct call *c, const struct gemm *g, double *acc)
{
    float *a = call_fetch_f32(c, g->a), *b = call_fetch_f32(c, g->b);
    if (a && b && g->tf32) {
        round_all(a, g->m * g->k);
        round_all(b, g->k * g->n);
    }
    a = operand_f32(c, a, is_transposed(g->op_a), g->m, g->k);
    b = operand_f32(c, b, is_transposed(g->op_b), g->k, g->n);
    float *column = call_take(c, (size_t)g->m * sizeof *column);
    if (!a || !b || !column) return;
    for (int64_t j = 0; j < g->n; j++) {
        for (int64_t i = 0; i < g->m; i++) column[i] = 0.0f;
        add_columns_f32(column, a, b + j * g->k, g->m, g->k);
        for (int64_t i = 0; i < g->m; i++) acc[i + j * g->m] = column[i];
    }
}

static void multiply_f64(struct call *c, const struct gemm *g, double *acc)
{
    double *a = operand_f64(c, call_fetch(c, g->a), is_transposed(g->op_a), g->m, g->k);
    double *b = operand_f64(c, call_fetch(c, g->b), is_transposed(g->op_b), g->k, g->n);
    if (!a || !b) return;
    for (int64_t i = 0; i < g->m * g->n; i++) acc[i] = 0.0;
    for (int64_t j = 0; j < g->n; j++) {
        add_columns_f64(acc + j * g->m, a, b + j * g->k, g->m, g->k);
    }
}

static void compute(struct call *c, const struct gemm *g, double alpha, double beta)
{
    int64_t count = g->m * g->n;
    double *acc = call_take(c, (size_t)count * sizeof *acc);
    bool short_types = g->scale == CUDA_R_32F || g->scale == CUDA_R_16F;
    if (acc && short_types) multiply_f32(c, g, acc);
    if (acc && !short_types) multiply_f64(c, g, acc);
    /* Where beta is 0, C is not read: it may hold anything, NaN too. */
    const double *old = beta != 0.0 && !call_failed(c) ? call_fetch(c, g->c) : NULL;
    if (call_failed(c)) return;
    for (int64_t i = 0; i < count; i++) acc[i] = alpha * acc[i] + (old ? beta * old[i] : 0.0);
    call_store(c, g->c, acc);
}

static cublasStatus_t run(cublasHandle_t handle, const char *name, struct gemm g)
{
    struct call c = call_begin(handle, name);
    bool ta = is_transposed(g.op_a), tb = is_transposed(g.op_b);

    call_require(&c, g.m >= 0 && g.n >= 0 && g.k >= 0);
    double alpha = call_scalar(&c, g.alpha, g.scale), beta = call_scalar(&c, g.beta, g.scale);
    g.a.name = "A", g.a.rows = ta ? g.k : g.m, g.a.columns = ta ? g.m : g.k;
    g.b.name = "B", g.b.rows = tb ? g.n : g.k, g.b.columns = tb ? g.k : g.n;
    g.c.name = "C", g.c.rows = g.m, g.c.columns = g.n;
    if (!call_failed(&c) && g.a.type == CUDA_R_32F && handle->math == CUBLAS_TF32_TENSOR_OP_MATH)
        g.tf32 = true;
    if (!call_failed(&c) && g.m && g.n) compute(&c, &g, alpha, beta);
    return call_end(&c);
}

/* ---- batches --------------------------------------------------------------------------------- */

static const void *element(const void *data, int64_t index, cudaDataType type)
{
    return (const unsigned char *)data + index * (int64_t)element_bytes(type);
}

static cublasStatus_t run_strided(cublasHandle_t handle, const char *name, struct gemm g,
                                  const long long step[3], int count)
{
    cublasStatus_t status = count < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; i++) {
        struct gemm one = g;
        one.a.data = element(g.a.data, i * step[0], g.a.type);
        one.b.data = element(g.b.data, i * step[1], g.b.type);
        one.c.data = element(g.c.data, i * step[2], g.c.type);
        status = run(handle, name, one);
    }
    return status;
}

/* The arrays of pointers lie in device memory. */
static cublasStatus_t run_batched(cublasHandle_t handle, const char *name, struct gemm g,
                                  const void *const *a, const void *const *b, const void *const *c,
                                  int count)
{
    const void *const *arrays[3] = {a, b, c};
    cublasStatus_t status = count < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; i++) {
        const void *p[3] = {NULL};
        for (int k = 0; k < 3; k++) {
            if (cudaMemcpy(&p[k], arrays[k] + i, sizeof p[k], cudaMemcpyDeviceToHost))
                return CUBLAS_STATUS_EXECUTION_FAILED;
        }
        g.a.data = p[0], g.b.data = p[1], g.c.data = p[2];
        status = run(handle, name, g);
    }
    return status;
}

/* ---- entry points: fp32, fp64 ---------------------------------------------------------------- */

#define GEMM(type_)                                                                                \
    (struct gemm)                                                                                  \
    {                                                                                              \
        .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta,          \
        .a = {.leading = lda, .type = type_}, .b = {.leading = ldb, .type = type_},                \
        .c = {.leading = ldc, .type = type_}, .scale = type_                                       \
    }

#define DEFINE_GEMM(S, T, type_)                                                                   \
    EXPORT cublasStatus_t cublas##S##gemm_v2(cublasHandle_t handle, cublasOperation_t op_a,        \
                                             cublasOperation_t op_b, int m, int n, int k,          \
                                             const T *alpha, const T *a, int lda, const T *b,      \
                                             int ldb, const T *beta, T *c, int ldc)                \
    {                                                                                              \
        struct gemm g = GEMM(type_);                                                               \
        g.a.data = a, g.b.data = b, g.c.data = c;                                                  \
        return run(handle, "cublas" #S "gemm", g);                                                 \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##gemmStridedBatched(                                           \
        cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,       \
        int k, const T *alpha, const T *a, int lda, long long step_a, const T *b, int ldb,         \
        long long step_b, const T *beta, T *c, int ldc, long long step_c, int count)               \
    {                                                                                              \
        struct gemm g = GEMM(type_);                                                               \
        g.a.data = a, g.b.data = b, g.c.data = c;                                                  \
        return run_strided(handle, "cublas" #S "gemmStridedBatched", g,                            \
                           (const long long[]){step_a, step_b, step_c}, count);                    \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##gemmBatched(                                                  \
        cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,       \
        int k, const T *alpha, const T *const a[], int lda, const T *const b[], int ldb,           \
        const T *beta, T *const c[], int ldc, int count)                                           \
    {                                                                                              \
        return run_batched(handle, "cublas" #S "gemmBatched", GEMM(type_), (const void *const *)a, \
                           (const void *const *)b, (const void *const *)c, count);                 \
    }
DEFINE_GEMM(S, float, CUDA_R_32F)
DEFINE_GEMM(D, double, CUDA_R_64F)

/* ---- entry points: any types ----------------------------------------------------------------- */

/* Type of alpha and beta; 0 bytes where the way of computing is not supported. */
static bool scale_of(cublasComputeType_t how, cudaDataType *scale, bool *tf32)
{
    *tf32 = how == CUBLAS_COMPUTE_32F_FAST_TF32;
    switch (how) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: *scale = CUDA_R_16F; return true;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32: *scale = CUDA_R_32F; return true;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: *scale = CUDA_R_64F; return true;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: *scale = CUDA_R_32I; return true;
    default: return false;
    }
}

/* The combinations that cuBLAS documents. */
static bool types_agree(cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType scale)
{
    bool half = a == CUDA_R_16F || a == CUDA_R_16BF;
    if (a != b) return false;
    if (scale == CUDA_R_16F) return a == CUDA_R_16F && c == CUDA_R_16F;
    if (scale == CUDA_R_64F) return a == CUDA_R_64F && c == CUDA_R_64F;
    if (scale == CUDA_R_32I) return a == CUDA_R_8I && c == CUDA_R_32I;
    return (half && (c == a || c == CUDA_R_32F)) ||
           ((a == CUDA_R_32F || a == CUDA_R_8I) && c == CUDA_R_32F);
}

static cublasStatus_t prepare(struct gemm *g, cudaDataType a, cudaDataType b, cudaDataType c,
                              cublasComputeType_t how)
{
    if (!scale_of(how, &g->scale, &g->tf32) || !types_agree(a, b, c, g->scale))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    g->a.type = a, g->b.type = b, g->c.type = c;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void *alpha,
                                   const void *a, cudaDataType type_a, int lda, const void *b,
                                   cudaDataType type_b, int ldb, const void *beta, void *c,
                                   cudaDataType type_c, int ldc, cublasComputeType_t how,
                                   cublasGemmAlgo_t algorithm)
{
    struct gemm g = GEMM(CUDA_R_32F);
    cublasStatus_t status = prepare(&g, type_a, type_b, type_c, how);
    (void)algorithm;
    g.a.data = a, g.b.data = b, g.c.data = c;
    return status ? status : run(handle, "cublasGemmEx", g);
}

EXPORT cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType type_a, int lda, long long step_a, const void *b,
    cudaDataType type_b, int ldb, long long step_b, const void *beta, void *c, cudaDataType type_c,
    int ldc, long long step_c, int count, cublasComputeType_t how, cublasGemmAlgo_t algorithm)
{
    struct gemm g = GEMM(CUDA_R_32F);
    cublasStatus_t status = prepare(&g, type_a, type_b, type_c, how);
    (void)algorithm;
    g.a.data = a, g.b.data = b, g.c.data = c;
    return status ? status
                  : run_strided(handle, "cublasGemmStridedBatchedEx", g,
                                (const long long[]){step_a, step_b, step_c}, count);
}

EXPORT cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const void *alpha, const void *const a[],
                                          cudaDataType type_a, int lda, const void *const b[],
                                          cudaDataType type_b, int ldb, const void *beta,
                                          void *const c[], cudaDataType type_c, int ldc, int count,
                                          cublasComputeType_t how, cublasGemmAlgo_t algorithm)
{
    struct gemm g = GEMM(CUDA_R_32F);
    cublasStatus_t status = prepare(&g, type_a, type_b, type_c, how);
    (void)algorithm;
    return status
               ? status
               : run_batched(handle, "cublasGemmBatchedEx", g, a, b, (const void *const *)c, count);
}
