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
    /* TODO: the handle (about 1 line). */
};

cudaError_t cublas_create(cublas_ctx **ctx)
{
    *ctx = NULL;
    /* TODO: allocate it, and make the handle; nothing stays behind after an error. Ask for fp32
       throughout (about 8 lines). */
    NOT_IMPLEMENTED(ctx);
    return cudaGetLastError();
}

cudaError_t matmul_cublas(cublas_ctx *ctx, float *c, const float *a, const float *b, int m, int n,
                          int k, cudaStream_t stream)
{
    /* TODO: refuse NULL; an empty c needs nothing, and k = 0 gives zeros; set the stream,
       exchange the operands (about 9 lines). */
    NOT_IMPLEMENTED(ctx, c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

cudaError_t cublas_destroy(cublas_ctx *ctx)
{
    /* TODO: the handle, then the rest; NULL has neither (about 4 lines). */
    NOT_IMPLEMENTED(ctx);
    return cudaGetLastError();
}
