/*
 * gemm.c: C = alpha op(A) op(B) + beta C, for all element types and in batches: the request is
 * checked here, and computed by a kernel of the device (gemm_kernel.cu).
 *
 * Every entry point fills in a struct gemm; one function launches it.
 */
#include "blas.h"

#include "gemm.h"

#include <stdio.h>

static bool is_transposed(cublasOperation_t op)
{
    return op != CUBLAS_OP_N; /* for real numbers the conjugate is the transpose */
}

/* Columns of the matrix as it lies there are this long; of an empty one too, 1 is the least. */
static bool has_room(char name, const struct gemm_operand *x, int rows, int columns)
{
    const int least = x->transposed ? columns : rows;
    if (x->leading >= 1 && x->leading >= least) return true;
    fprintf(stderr,
            "softgpu: cublas refuses ld%c = %lld: the columns of its matrix %c have %d elements\n",
            name, (long long)x->leading, name - 'a' + 'A', least);
    return false;
}

static bool makes_sense(const struct gemm *g)
{
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->count < 0) return false;
    if (!g->alpha.at || !g->beta.at) return false;
    if (!has_room('a', &g->a, g->m, g->k) || !has_room('b', &g->b, g->k, g->n) ||
        !has_room('c', &g->c, g->m, g->n))
        return false;
    if (g->m == 0 || g->n == 0) return true;
    return g->c.data && g->d.data && (g->k == 0 || (g->a.data && g->b.data));
}

cudaDataType gemm_scale_type(const struct gemm *g)
{
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_R_32I};
    return types[g->scale];
}

/* A scalar of the host's goes with the launch. */
static void take_scalar(struct gemm_scalar *s, const struct gemm *g,
                        const struct cublasContext *how)
{
    if (how->pointers == CUBLAS_POINTER_MODE_DEVICE) return;
    elements_to_f64(&s->value, s->at, 1, gemm_scale_type(g));
    s->at = NULL;
}

cublasStatus_t gemm_run(const struct cublasContext *how, enum gemm_types types, struct gemm g)
{
    if (!makes_sense(&g)) return CUBLAS_STATUS_INVALID_VALUE;
    take_scalar(&g.alpha, &g, how);
    take_scalar(&g.beta, &g, how);
    if (gemm_launch(types, g, how->stream) == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
    return CUBLAS_STATUS_EXECUTION_FAILED;
}

static cublasStatus_t run(cublasHandle_t handle, enum gemm_types types, struct gemm g)
{
    if (!handle_is_valid(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (types == GEMM_F32 && handle->math == CUBLAS_TF32_TENSOR_OP_MATH) g.tf32 = 1;
    g.d = g.c;
    return gemm_run(handle, types, g);
}

/* ---- entry points: fp32, fp64 ---------------------------------------------------------------- */

/* Of one product; a, b and c are pointers of some kind. */
#define GEMM(scale_)                                                                               \
    (struct gemm)                                                                                  \
    {                                                                                              \
        .a = {(void *)a, lda, 0, is_transposed(op_a)},                                             \
        .b = {(void *)b, ldb, 0, is_transposed(op_b)}, .c = {(void *)c, ldc, 0, 0},                \
        .alpha = {alpha, 0}, .beta = {beta, 0}, .scale = scale_, .m = m, .n = n, .k = k,           \
        .count = 1                                                                                 \
    }

static struct gemm strided(struct gemm g, long long step_a, long long step_b, long long step_c,
                           int count)
{
    g.a.step = step_a, g.b.step = step_b, g.c.step = step_c, g.count = count;
    return g;
}

/* The arrays of pointers lie in device memory. */
static struct gemm batched(struct gemm g, int count)
{
    g.arrays = 1, g.count = count;
    return g;
}

#define DEFINE_GEMM(S, v2, T, type_, scale_)                                                       \
    EXPORT cublasStatus_t cublas##S##gemm##v2(cublasHandle_t handle, cublasOperation_t op_a,       \
                                              cublasOperation_t op_b, int m, int n, int k,         \
                                              const T *alpha, const T *a, int lda, const T *b,     \
                                              int ldb, const T *beta, T *c, int ldc)               \
    {                                                                                              \
        return run(handle, type_, GEMM(scale_));                                                   \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##gemmStridedBatched(                                           \
        cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,       \
        int k, const T *alpha, const T *a, int lda, long long step_a, const T *b, int ldb,         \
        long long step_b, const T *beta, T *c, int ldc, long long step_c, int count)               \
    {                                                                                              \
        return run(handle, type_, strided(GEMM(scale_), step_a, step_b, step_c, count));           \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##gemmBatched(                                                  \
        cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,       \
        int k, const T *alpha, const T *const a[], int lda, const T *const b[], int ldb,           \
        const T *beta, T *const c[], int ldc, int count)                                           \
    {                                                                                              \
        return run(handle, type_, batched(GEMM(scale_), count));                                   \
    }
DEFINE_GEMM(S, _v2, float, GEMM_F32, SCALE_F32)
DEFINE_GEMM(D, _v2, double, GEMM_F64, SCALE_F64)
DEFINE_GEMM(H, , void, GEMM_F16, SCALE_F16) /* C has no word for __half */

/* ---- entry points: any types ----------------------------------------------------------------- */

/* The combinations that cuBLAS documents. */
static const struct combination {
    cudaDataType a, c;
    int scale;
    enum gemm_types types;
} combinations[] = {
    {CUDA_R_16F, CUDA_R_16F, SCALE_F16, GEMM_F16},
    {CUDA_R_16F, CUDA_R_16F, SCALE_F32, GEMM_F16},
    {CUDA_R_16BF, CUDA_R_16BF, SCALE_F32, GEMM_BF16},
    {CUDA_R_16F, CUDA_R_32F, SCALE_F32, GEMM_F16_F32},
    {CUDA_R_16BF, CUDA_R_32F, SCALE_F32, GEMM_BF16_F32},
    {CUDA_R_32F, CUDA_R_32F, SCALE_F32, GEMM_F32},
    {CUDA_R_8I, CUDA_R_32F, SCALE_F32, GEMM_I8_F32},
    {CUDA_R_8I, CUDA_R_32I, SCALE_I32, GEMM_I8_I32},
    {CUDA_R_64F, CUDA_R_64F, SCALE_F64, GEMM_F64},
};

/* @return the type of alpha and beta; -1 where the way of computing is not supported */
static int scale_of(cublasComputeType_t how)
{
    switch (how) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return SCALE_F16;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32: return SCALE_F32;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return SCALE_F64;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return SCALE_I32;
    default: return -1;
    }
}

bool gemm_find(struct gemm *g, enum gemm_types *types, cudaDataType a, cudaDataType b,
               cudaDataType c, cublasComputeType_t how)
{
    const int scale = scale_of(how);

    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++) {
        const struct combination *one = &combinations[i];
        if (one->a != a || a != b || one->c != c || one->scale != scale) continue;
        *types = one->types;
        g->scale = scale;
        g->tf32 = one->types == GEMM_F32 && how == CUBLAS_COMPUTE_32F_FAST_TF32;
        return true;
    }
    return false;
}

static cublasStatus_t run_types(cublasHandle_t handle, struct gemm g, cudaDataType a,
                                cudaDataType b, cudaDataType c, cublasComputeType_t how)
{
    enum gemm_types types;
    if (!gemm_find(&g, &types, a, b, c, how)) return CUBLAS_STATUS_NOT_SUPPORTED;
    return run(handle, types, g);
}

EXPORT cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void *alpha,
                                   const void *a, cudaDataType type_a, int lda, const void *b,
                                   cudaDataType type_b, int ldb, const void *beta, void *c,
                                   cudaDataType type_c, int ldc, cublasComputeType_t how,
                                   cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    return run_types(handle, GEMM(SCALE_F32), type_a, type_b, type_c, how);
}

EXPORT cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType type_a, int lda, long long step_a, const void *b,
    cudaDataType type_b, int ldb, long long step_b, const void *beta, void *c, cudaDataType type_c,
    int ldc, long long step_c, int count, cublasComputeType_t how, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    return run_types(handle, strided(GEMM(SCALE_F32), step_a, step_b, step_c, count), type_a,
                     type_b, type_c, how);
}

EXPORT cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const void *alpha, const void *const a[],
                                          cudaDataType type_a, int lda, const void *const b[],
                                          cudaDataType type_b, int ldb, const void *beta,
                                          void *const c[], cudaDataType type_c, int ldc, int count,
                                          cublasComputeType_t how, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    return run_types(handle, batched(GEMM(SCALE_F32), count), type_a, type_b, type_c, how);
}
