/*
 * geam.c: C = alpha op(A) + beta op(B): sums of matrices, and transposes.
 */
#include "blas.h"

static bool is_transposed(cublasOperation_t op)
{
    return op != CUBLAS_OP_N;
}

/* A matrix whose scalar is 0 is not read. @return NULL for that, and after a failure */
static double *fetch(struct call *c, double scalar, struct matrix x)
{
    call_require(c, scalar == 0.0 || x.data);
    return scalar == 0.0 || call_failed(c) ? NULL : call_fetch(c, x);
}

static struct matrix matrix(const char *name, const void *data, cublasOperation_t op, int m, int n,
                            int leading, cudaDataType type)
{
    bool turned = is_transposed(op);
    return (struct matrix){name, data, turned ? n : m, turned ? m : n, leading, type};
}

/* Element (i, j) of op(X), which has m rows and n columns. */
static double element(const double *x, cublasOperation_t op, int m, int n, int i, int j)
{
    if (!x) return 0.0;
    return is_transposed(op) ? x[(size_t)i * (size_t)n + (size_t)j]
                             : x[(size_t)j * (size_t)m + (size_t)i];
}

static cublasStatus_t geam(cublasHandle_t handle, const char *name, cublasOperation_t op_a,
                           cublasOperation_t op_b, int m, int n, const void *alpha, struct matrix a,
                           const void *beta, struct matrix b, struct matrix to)
{
    struct call c = call_begin(handle, name);
    double x = call_scalar(&c, alpha, to.type), y = call_scalar(&c, beta, to.type);
    call_require(&c, m >= 0 && n >= 0 && to.leading >= m);
    call_require(&c, x == 0.0 || a.leading >= a.rows);
    call_require(&c, y == 0.0 || b.leading >= b.rows);
    if (m == 0 || n == 0 || call_failed(&c)) return call_end(&c);
    const double *from_a = fetch(&c, x, a), *from_b = fetch(&c, y, b);
    double *sum = call_take(&c, (size_t)m * (size_t)n * sizeof *sum);
    for (int j = 0; sum && j < n; j++)
        for (int i = 0; i < m; i++)
            sum[(size_t)j * (size_t)m + (size_t)i] =
                x * element(from_a, op_a, m, n, i, j) + y * element(from_b, op_b, m, n, i, j);
    if (sum && !call_failed(&c)) call_store(&c, to, sum);
    return call_end(&c);
}

#define DEFINE(S, T, type)                                                                         \
    EXPORT cublasStatus_t cublas##S##geam(                                                         \
        cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,       \
        const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc)    \
    {                                                                                              \
        return geam(handle, "cublas" #S "geam", op_a, op_b, m, n, alpha,                           \
                    matrix("A", a, op_a, m, n, lda, type), beta,                                   \
                    matrix("B", b, op_b, m, n, ldb, type),                                         \
                    matrix("C", c, CUBLAS_OP_N, m, n, ldc, type));                                 \
    }
DEFINE(S, float, CUDA_R_32F)
DEFINE(D, double, CUDA_R_64F)
