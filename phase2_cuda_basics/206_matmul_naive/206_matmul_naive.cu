/*
 * 206_matmul_naive.cu: c = a * b, one thread per element of c.
 *
 * The idea: threads have two indices, and x must be the right one. The 32 lanes of a warp differ in
 * threadIdx.x. When x runs along the columns, they read 32 neighbours of a row of b (one 128-byte
 * line) and the same element of a (one broadcast): the access is coalesced. With x along the rows
 * the results are the same and the kernel is several times slower.
 *
 * What it costs: every thread reads a whole row of a and column of b from global memory, 2k loads
 * for 2k operations. The cache serves most of them; 211 does so by design.
 */
#include "206_matmul_naive/matmul_naive.h"
#include "not_implemented.h"

/* TODO: matmul_naive_kernel: find row and col, guard both, sum over k (about 9 lines). */

cudaError_t matmul_naive(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    /* TODO: cover c with 2-D blocks, x along the columns, rounding up; launch unless c is
       empty (about 4 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}
