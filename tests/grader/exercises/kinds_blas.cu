/* kinds_blas.cu: another submission of test_kinds.c, which calls cuBLAS. */
#include <cublas_v2.h>
#include <cuda_fp16.h>

static cudaError_t error_of(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

/* c[m x n] = a[m x k] b[k x n], row-major: as cuBLAS sees it, of what is transposed. */
extern "C" cudaError_t product(float *c, const float *a, const float *b, int m, int n, int k,
                               cudaStream_t stream)
{
    const float one = 1, zero = 0;
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
    cublasSetStream(handle, stream);
    cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
    const cublasStatus_t status =
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n);
    cublasDestroy(handle);
    return error_of(status);
}

/* `count` products of halves, each right behind the other; summed in float. */
extern "C" cudaError_t products(__half *c, const __half *a, const __half *b, int m, int n, int k,
                                int count, cudaStream_t stream)
{
    const float one = 1, zero = 0;
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
    cublasSetStream(handle, stream);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; i++)
        status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b + i * k * n,
                              CUDA_R_16F, n, a + i * m * k, CUDA_R_16F, k, &zero, c + i * m * n,
                              CUDA_R_16F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    cublasDestroy(handle);
    return error_of(status);
}
