/*
 * matmul_8bit.h: the contract of exercise 4f. The conventions are in optimization.h.
 *
 * Products of matrices of 8-bit numbers. Both have their rows along k, so b is transposed. Arrays
 * are aligned to their elements only, and do not overlap.
 *
 * Both functions use the TMA and wgmma if the device has compute capability 9.0 and rows of all
 * three matrices begin at multiples of 16 bytes. Otherwise they are right but slower. m up to
 * 2^31 - 256.
 */
#ifndef COURSE_MATMUL_8BIT_H
#define COURSE_MATMUL_8BIT_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCALED 128 /* numbers along k that share a scale */

/** c[m x n] = a[m x k] b[n x k]^T, exact, as gemm_s8s8s32 (413). */
cudaError_t matmul_s8_wgmma(int32_t *c, const int8_t *a, const int8_t *b, int m, int n, int k,
                            cudaStream_t stream);

/**
 * The same of numbers of type e4m3, one byte each: a sign, 4 bits of exponent with bias 7, 3 bits
 * of fraction. They go up to 448. There are no infinities; 0x7f and 0xff are NaN. Blocks of
 * numbers share a scale. With T = k / 128, rounded up,
 *
 *     c[i][j] = sum over t < T of  scale_a[i][t] * scale_b[j / 128][t] *
 *                                  (sum over the l of block t of  a[i][l] * b[j][l])
 *
 * where block t has l = 128 t to 128 t + 127, as far as there are columns. A block's sum may lose
 * 2^-8 of the sum of its absolute terms, since tensor cores cut terms; all else is fp32. k = 0
 * gives zeros.
 * @param c       [m x n]
 * @param a       [m x k] e4m3
 * @param scale_a [m x T] a scale for each row and 128 columns
 * @param b       [n x k] e4m3
 * @param scale_b [n / 128, rounded up, x T] a scale for each 128 rows and 128 columns
 */
cudaError_t matmul_fp8_blocks(float *c, const uint8_t *a, const float *scale_a, const uint8_t *b,
                              const float *scale_b, int m, int n, int k, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
