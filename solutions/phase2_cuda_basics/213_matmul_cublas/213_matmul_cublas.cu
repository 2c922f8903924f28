/*
 * 213_matmul_cublas.cu: c = a * b by cuBLAS, of row-major matrices.
 *
 * The idea: cuBLAS is column-major. A row-major matrix read as a column-major one is its transpose,
 * and c^T = b^T a^T. So nothing is transposed, neither in memory nor by an option: b goes first, m
 * and n change places, and the leading dimension of each is the length of its rows.
 *
 * What it removes: with one call, all the costs that 211 leaves and later rungs remove step by
 * step. It is the yardstick for all of them. Its handle holds the library's memory on the device
 * and what it knows about the device. Creating a handle takes longer than most products, so it is
 * created once.
 *
 * What it leaves: the kernel is the library's, not yours: no bias or activation before c goes to
 * memory, no shape that it does not support. And its settings matter: without a stream it takes the
 * default one, and in another math mode it rounds a and b to TF32, which is faster and keeps ten
 * bits.
 */
#include "213_matmul_cublas/matmul_cublas.h"
#include "not_implemented.h"

#include <cublas_v2.h>
#include <stdlib.h>

struct cublas_ctx {
    /* SOLUTION: the handle (about 1 line). */
    cublasHandle_t handle;
    /* END SOLUTION */
};

cudaError_t cublas_create(cublas_ctx **ctx)
{
    *ctx = NULL;
    /* SOLUTION: allocate it, and make the handle; nothing stays behind after an error. Ask for fp32
       throughout (about 8 lines). */
    cublas_ctx *made = (cublas_ctx *)malloc(sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    if (cublasCreate(&made->handle) != CUBLAS_STATUS_SUCCESS) {
        free(made);
        return cudaErrorUnknown;
    }
    cublasSetMathMode(made->handle, CUBLAS_DEFAULT_MATH); /* not CUBLAS_TF32_TENSOR_OP_MATH */
    *ctx = made;
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t matmul_cublas(cublas_ctx *ctx, float *c, const float *a, const float *b, int m, int n,
                          int k, cudaStream_t stream)
{
    /* SOLUTION: refuse NULL; an empty c needs nothing, and k = 0 gives zeros; set the stream,
       exchange the operands (about 9 lines). */
    const float one = 1.0f, zero = 0.0f;
    if (ctx == NULL) return cudaErrorInvalidValue;
    if (m == 0 || n == 0) return cudaSuccess;
    /* cuBLAS refuses rows of length 0. */
    if (k == 0) return cudaMemsetAsync(c, 0, (size_t)m * n * sizeof *c, stream);
    cublasSetStream(ctx->handle, stream); /* of this call: the last call's may be gone */
    cublasStatus_t status =
        cublasSgemm(ctx->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n);
    if (status != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t cublas_destroy(cublas_ctx *ctx)
{
    /* SOLUTION: the handle, then the rest; NULL has neither (about 4 lines). */
    if (ctx == NULL) return cudaSuccess;
    cublasStatus_t status = cublasDestroy(ctx->handle);
    free(ctx);
    if (status != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
    /* END SOLUTION */
    return cudaGetLastError();
}
