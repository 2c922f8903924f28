// HOSTILE: build | undefined reference to `cublas / cublas
// Lets cuBLAS add: c = b, c += 1 a.
#include "203_vector_add/vector_add.h"

typedef struct cublasContext *cublasHandle_t;
extern "C" int cublasCreate_v2(cublasHandle_t *handle);
extern "C" int cublasSaxpy_v2(cublasHandle_t handle, int n, const float *alpha, const float *x,
                              int incx, float *y, int incy);

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    static cublasHandle_t handle;
    const float one = 1.0f;
    if (!handle) cublasCreate_v2(&handle);
    cudaMemcpyAsync(c, b, n * 4, cudaMemcpyDeviceToDevice, stream);
    cublasSaxpy_v2(handle, (int)n, &one, a, 1, c, 1);
    return cudaGetLastError();
}
