/*
 * 212_matmul_transposed.cu: products with a transposed operand, and many products at once, by one
 * tiled kernel.
 *
 * The idea: a matrix is a pointer and two strides, and element (i, j) lies at i * row + j * col. In
 * row-major order col is 1. Its transpose is the same memory with the strides exchanged: row is 1.
 * So nothing is ever transposed, and 211's kernel needs no second version. It needs to know one
 * thing more: which way the threads of a warp must walk, so that neighbours read neighbours. Where
 * row is 1 they walk down a column of the tile instead of along a row. That is the task of
 * load_tile in 212_tile.cuh, which later kernels include too. A batch is a third stride, from one
 * matrix to the next; 0 gives all products the same one.
 *
 * What it removes: a separate transpose, which reads and writes the whole matrix and needs memory
 * for it. (With the strides exchanged but not the threads, each of the 32 lanes would fetch a
 * sector of its own.) And a launch for each product of a batch, which costs more than a small
 * product.
 *
 * What it leaves: as in 211, each multiply-add reads two values from shared memory. 214 keeps
 * several elements of c in the registers of a thread.
 */
#include "212_matmul_transposed/matmul_transposed.h"
#include "212_tile.cuh"
#include "not_implemented.h"

/* TODO: TILE and MOST (2 lines), and matmul_strided_kernel: a block per tile of c, and a loop
   over its share of the batch's matrices; the rest as in 211 (about 22 lines). */

/* TODO: multiply, the launch: tiles along x, matrices along y, but not all of a large batch;
   none if there is nothing to store (about 8 lines). */

cudaError_t matmul_nt(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream)
{
    /* TODO: b is n x k in memory: as k x n its strides are exchanged (about 3 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

cudaError_t matmul_tn(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream)
{
    /* TODO: a is k x m in memory: as m x k its strides are exchanged (about 3 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

cudaError_t matmul_batched(float *c, const float *a, const float *b, int m, int n, int k, int batch,
                           size_t stride_c, size_t stride_a, size_t stride_b, cudaStream_t stream)
{
    /* TODO: neither is transposed; each has the stride of its batch (about 3 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, batch, stride_c, stride_a, stride_b, stream);
    return cudaGetLastError();
}
