/*
 * 413_int8.cu: matrices of 8-bit whole numbers: quantize, multiply exactly, come back to fp32.
 *
 * The idea: a row of floats becomes whole numbers q with one scale and one zero point,
 *
 *     x  is about  scale * (q - zero_point)          q = -128 .. 127
 *
 * which takes a quarter of the memory. A product of two such numbers fits in 15 bits, a sum of
 * 131,071 of them in an int: the matrix product is exact, in any order. Scales and zero points wait
 * until it is done:
 *
 *     sum (qa - za)(qb - zb)  =  sum qa qb  -  za sum qb  -  zb sum qa  +  k za zb
 *                                the product   the sums of rows, which quantize_s8 has at hand
 *
 * The product has rows of both operands along the sum. `dp4a` wants four bytes that follow each
 * other along the sum in one register, of a and of b; so does `mma`. Transposing b on the way, as
 * 4a does, is not possible: `ldmatrix.trans` moves pairs of bytes, and would keep the wrong ones
 * together. And weights [out x in] lie like that anyway.
 *
 *     mma.m16n8k32   sum[16 x 8] += a[16 x 32] b[8 x 32]^T, for rows of 16 aligned bytes. A row of
 *                    32 bytes is to ldmatrix what a row of 16 bf16 is to it in 4a, so fragments,
 *                    swizzle and ring are those of 4a, and each instruction has twice the terms.
 *     dp4a           four terms a thread: for what is small, or lies anyhow
 *
 * The cost removed: bytes, and tensor cores that take twice as many terms at a time as of bf16. The
 * cost left: quantize_s8 reads x twice, and c goes to memory and back as ints of 4 bytes where the
 * product could end with the epilogue itself (404).
 */
#include "413_int8/int8.h"
#include "cuda_check.h"
#include "not_implemented.h"
#include <stdint.h>

#define THREADS 256 /* of each block here: 8 warps */

/* ---- quantize -------------------------------------------------------------------------------- */

/* TODO: range: the smallest and the largest of some numbers, and 0; over a warp, then over a
   block (about 40 lines). */

/* TODO: group: the scale and the zero point of a range; and the q of a number (about 35
   lines). */

/* TODO: three kernels: the range of each row; one range of all of them; and a row's numbers,
   with their sum (about 50 lines). */

cudaError_t quantize_s8(int8_t *q, float *scale, int *zero_point, int *row_sums, const float *x,
                        int rows, int cols, int per_channel, int symmetric, cudaStream_t stream)
{
    /* TODO: a launch for rows of their own, three for one group (about 10 lines). */
    NOT_IMPLEMENTED(q, scale, zero_point, row_sums, x, rows, cols, per_channel, symmetric, stream);
    return cudaGetLastError();
}

/* ---- multiply: dp4a -------------------------------------------------------------------------- */

/* TODO: gemm_dp4a_kernel: tiles of 64 x 64, of both operands 16 words of four bytes along the
   sum; a thread has 4 x 4 sums (about 60 lines). */

/* ---- multiply: mma --------------------------------------------------------------------------- */

/* TODO: the sizes, and the instructions (about 45 lines). */

/* TODO: copy_rows: the next terms of a tile's rows, chunk c of row r at place c ^ (r % 8); and
   multiply: a warp's sums over one stage (about 45 lines). */

/* TODO: gemm_mma_kernel: a ring of three stages, copied two ahead (about 50 lines). */

/* TODO: which of the two kernels may take it, and which is worth it (about 35 lines). */

cudaError_t gemm_s8s8s32(int32_t *c, const int8_t *a, const int8_t *b, int m, int n, int k,
                         cudaStream_t stream)
{
    /* TODO: tensor cores where rows begin at multiples of 16 bytes and a product of 16 x 8 x 32
       can be full; else dp4a (about 5 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

/* ---- back to floats -------------------------------------------------------------------------- */

/* TODO: dequantize_kernel: a thread keeps what belongs to its column, and walks down some rows
   (about 25 lines). */

cudaError_t dequantize_epilogue(float *y, const int32_t *c, const float *scale_a, const int *zero_a,
                                const int *sums_a, const float *scale_b, const int *zero_b,
                                const int *sums_b, const float *bias, int m, int n, int k,
                                cudaStream_t stream)
{
    /* TODO: the launch (about 4 lines). */
    NOT_IMPLEMENTED(y, c, scale_a, zero_a, sums_a, scale_b, zero_b, sums_b, bias, m, n, k, stream);
    return cudaGetLastError();
}
