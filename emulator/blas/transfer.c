/* transfer.c: cublasSetVector and its siblings: copies with the increments of BLAS. */
#include "blas.h"

static cublasStatus_t copy(void *to, size_t to_step, const void *from, size_t from_step,
                           size_t width, int64_t count, enum cudaMemcpyKind kind,
                           cudaStream_t stream)
{
    if (count < 0 || !width) return CUBLAS_STATUS_INVALID_VALUE;
    if (count == 0) return CUBLAS_STATUS_SUCCESS;
    if (!to || !from || to_step < width || from_step < width) return CUBLAS_STATUS_INVALID_VALUE;
    cudaError_t error =
        cudaMemcpy2DAsync(to, to_step, from, from_step, width, (size_t)count, kind, stream);
    if (!error && !stream) error = cudaStreamSynchronize(stream);
    return error ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}

#define DEFINE(Name, kind)                                                                         \
    EXPORT cublasStatus_t cublas##Name##Vector(int n, int size, const void *x, int step_x,         \
                                               void *y, int step_y)                                \
    {                                                                                              \
        if (size <= 0 || step_x <= 0 || step_y <= 0) return CUBLAS_STATUS_INVALID_VALUE;           \
        return copy(y, (size_t)step_y * (size_t)size, x, (size_t)step_x * (size_t)size,            \
                    (size_t)size, n, kind, NULL);                                                  \
    }                                                                                              \
    EXPORT cublasStatus_t cublas##Name##Matrix(int rows, int columns, int size, const void *a,     \
                                               int lda, void *b, int ldb)                          \
    {                                                                                              \
        if (size <= 0 || rows < 0 || lda <= 0 || ldb <= 0) return CUBLAS_STATUS_INVALID_VALUE;     \
        if (rows == 0) return CUBLAS_STATUS_SUCCESS;                                               \
        return copy(b, (size_t)ldb * (size_t)size, a, (size_t)lda * (size_t)size,                  \
                    (size_t)rows * (size_t)size, columns, kind, NULL);                             \
    }
DEFINE(Set, cudaMemcpyHostToDevice)
DEFINE(Get, cudaMemcpyDeviceToHost)
