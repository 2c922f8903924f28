/*
 * vector.c: levels 1 and 2: vectors, and matrix times vector, for float (S) and double (D).
 */
#include "blas.h"

#include <math.h>
#include <string.h>

static struct matrix vector(const char *name, const void *data, int64_t count, int64_t step,
                            cudaDataType type)
{
    return (struct matrix){name, data, 1, count, step, type};
}

/* ---- level 1 --------------------------------------------------------------------------------- */

/* Vectors of no elements are legal and nothing happens to them. */
static cublasStatus_t axpy(cublasHandle_t handle, const char *name, int n, const void *alpha,
                           struct matrix vx, struct matrix vy)
{
    struct call c = call_begin(handle, name);
    double a = call_scalar(&c, alpha, vx.type);
    double *x = n > 0 ? call_fetch(&c, vx) : NULL, *y = n > 0 ? call_fetch(&c, vy) : NULL;
    if (x && y) {
        for (int i = 0; i < n; i++) y[i] = fma(a, x[i], y[i]);
        call_store(&c, vy, y);
    }
    return call_end(&c);
}

static cublasStatus_t scal(cublasHandle_t handle, const char *name, int n, const void *alpha,
                           struct matrix vx)
{
    struct call c = call_begin(handle, name);
    double a = call_scalar(&c, alpha, vx.type);
    double *x = n > 0 ? call_fetch(&c, vx) : NULL;
    for (int i = 0; x && i < n; i++) x[i] *= a;
    if (x) call_store(&c, vx, x);
    return call_end(&c);
}

static cublasStatus_t copy(cublasHandle_t handle, const char *name, int n, struct matrix vx,
                           struct matrix vy)
{
    struct call c = call_begin(handle, name);
    double *x = n > 0 ? call_fetch(&c, vx) : NULL;
    if (x) call_store(&c, vy, x);
    return call_end(&c);
}

static cublasStatus_t dot(cublasHandle_t handle, const char *name, int n, struct matrix vx,
                          struct matrix vy, void *result)
{
    struct call c = call_begin(handle, name);
    double *x = n > 0 ? call_fetch(&c, vx) : NULL, *y = n > 0 ? call_fetch(&c, vy) : NULL;
    double sum = 0.0;
    for (int i = 0; x && y && i < n; i++) sum += x[i] * y[i];
    call_result(&c, result, sum, vx.type);
    return call_end(&c);
}

static double norm(const double *x, int n)
{
    double largest = 0.0, sum = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    if (largest == 0.0 || isinf(largest)) return largest;
    for (int i = 0; i < n; i++) sum += x[i] / largest * (x[i] / largest);
    return largest * sqrt(sum);
}

static double sum_of_sizes(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += fabs(x[i]);
    return sum;
}

static cublasStatus_t fold(cublasHandle_t handle, const char *name, int n, struct matrix vx,
                           double (*function)(const double *, int), void *result)
{
    struct call c = call_begin(handle, name);
    double *x = n > 0 ? call_fetch(&c, vx) : NULL;
    call_result(&c, result, x ? function(x, n) : 0.0, vx.type);
    return call_end(&c);
}

/* Counts from 1, as Fortran does; 0 for no elements. `sign`: 1 for the largest, -1 the smallest. */
static cublasStatus_t extreme(cublasHandle_t handle, const char *name, int n, struct matrix vx,
                              double sign, int *result)
{
    struct call c = call_begin(handle, name);
    double *x = n > 0 ? call_fetch(&c, vx) : NULL;
    int best = 0;
    for (int i = 1; x && i < n; i++) {
        if (sign * fabs(x[i]) > sign * fabs(x[best])) best = i;
    }
    call_result(&c, result, x ? best + 1 : 0, CUDA_R_32I);
    return call_end(&c);
}

/* ---- level 2 --------------------------------------------------------------------------------- */

static cublasStatus_t gemv(cublasHandle_t handle, const char *name, cublasOperation_t op,
                           const void *alpha, struct matrix ma, struct matrix vx, const void *beta,
                           struct matrix vy)
{
    struct call c = call_begin(handle, name);
    double scale = call_scalar(&c, alpha, ma.type), keep = call_scalar(&c, beta, ma.type);
    int64_t m = ma.rows, n = ma.columns;
    bool transposed = op != CUBLAS_OP_N;
    vx.columns = transposed ? m : n;
    vy.columns = transposed ? n : m;
    double *a = call_fetch(&c, ma), *x = call_fetch(&c, vx);
    double *y = keep != 0.0 ? call_fetch(&c, vy) : call_take(&c, (size_t)vy.columns * sizeof *y);
    if (!a || !x || !y) return call_end(&c);
    for (int64_t i = 0; i < vy.columns; i++) y[i] = keep != 0.0 ? keep * y[i] : 0.0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < m; i++) {
            if (transposed) {
                y[j] += scale * a[i + j * m] * x[i];
            } else {
                y[i] += scale * a[i + j * m] * x[j];
            }
        }
    }
    call_store(&c, vy, y);
    return call_end(&c);
}

/* A += alpha x y^T */
static cublasStatus_t ger(cublasHandle_t handle, const char *name, const void *alpha,
                          struct matrix vx, struct matrix vy, struct matrix ma)
{
    struct call c = call_begin(handle, name);
    double scale = call_scalar(&c, alpha, ma.type);
    double *x = call_fetch(&c, vx), *y = call_fetch(&c, vy), *a = call_fetch(&c, ma);
    if (x && y && a) {
        for (int64_t j = 0; j < ma.columns; j++)
            for (int64_t i = 0; i < ma.rows; i++) a[i + j * ma.rows] += scale * x[i] * y[j];
        call_store(&c, ma, a);
    }
    return call_end(&c);
}

/* ---- entry points ---------------------------------------------------------------------------- */

#define DEFINE(S, s, T, type)                                                                      \
    EXPORT cublasStatus_t cublas##S##axpy_v2(cublasHandle_t handle, int n, const T *alpha,         \
                                             const T *x, int step_x, T *y, int step_y)             \
    {                                                                                              \
        return axpy(handle, "cublas" #S "axpy", n, alpha, vector("x", x, n, step_x, type),         \
                    vector("y", y, n, step_y, type));                                              \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x,   \
                                             int step)                                             \
    {                                                                                              \
        return scal(handle, "cublas" #S "scal", n, alpha, vector("x", x, n, step, type));          \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##copy_v2(cublasHandle_t handle, int n, const T *x, int step_x, \
                                             T *y, int step_y)                                     \
    {                                                                                              \
        return copy(handle, "cublas" #S "copy", n, vector("x", x, n, step_x, type),                \
                    vector("y", y, n, step_y, type));                                              \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##dot_v2(cublasHandle_t handle, int n, const T *x, int step_x,  \
                                            const T *y, int step_y, T *result)                     \
    {                                                                                              \
        return dot(handle, "cublas" #S "dot", n, vector("x", x, n, step_x, type),                  \
                   vector("y", y, n, step_y, type), result);                                       \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##nrm2_v2(cublasHandle_t handle, int n, const T *x, int step,   \
                                             T *result)                                            \
    {                                                                                              \
        return fold(handle, "cublas" #S "nrm2", n, vector("x", x, n, step, type), norm, result);   \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##asum_v2(cublasHandle_t handle, int n, const T *x, int step,   \
                                             T *result)                                            \
    {                                                                                              \
        return fold(handle, "cublas" #S "asum", n, vector("x", x, n, step, type), sum_of_sizes,    \
                    result);                                                                       \
    }                                                                                              \
    EXPORT cublasStatus_t cublasI##s##amax_v2(cublasHandle_t handle, int n, const T *x, int step,  \
                                              int *result)                                         \
    {                                                                                              \
        return extreme(handle, "cublasI" #s "amax", n, vector("x", x, n, step, type), 1.0,         \
                       result);                                                                    \
    }                                                                                              \
    EXPORT cublasStatus_t cublasI##s##amin_v2(cublasHandle_t handle, int n, const T *x, int step,  \
                                              int *result)                                         \
    {                                                                                              \
        return extreme(handle, "cublasI" #s "amin", n, vector("x", x, n, step, type), -1.0,        \
                       result);                                                                    \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##gemv_v2(                                                      \
        cublasHandle_t handle, cublasOperation_t op, int m, int n, const T *alpha, const T *a,     \
        int lda, const T *x, int step_x, const T *beta, T *y, int step_y)                          \
    {                                                                                              \
        return gemv(handle, "cublas" #S "gemv", op, alpha,                                         \
                    (struct matrix){"A", a, m, n, lda, type}, vector("x", x, 0, step_x, type),     \
                    beta, vector("y", y, 0, step_y, type));                                        \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##S##ger_v2(cublasHandle_t handle, int m, int n, const T *alpha,   \
                                            const T *x, int step_x, const T *y, int step_y, T *a,  \
                                            int lda)                                               \
    {                                                                                              \
        return ger(handle, "cublas" #S "ger", alpha, vector("x", x, m, step_x, type),              \
                   vector("y", y, n, step_y, type), (struct matrix){"A", a, m, n, lda, type});     \
    }
DEFINE(S, s, float, CUDA_R_32F)
DEFINE(D, d, double, CUDA_R_64F)
