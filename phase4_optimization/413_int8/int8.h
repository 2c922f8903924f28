/*
 * int8.h: the contract of exercise 413. The conventions are in optimization.h.
 *
 * Matrices of 8-bit integers. A number q in row r represents scale[r] * (q - zero_point[r]). Arrays
 * are aligned to their elements only. No two of them overlap.
 */
#ifndef COURSE_INT8_H
#define COURSE_INT8_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Quantizes x to q, with one scale for all of x or one per row. A group is all numbers that share a
 * scale. Let low and high be the smallest and the largest of 0 and its finite numbers. Then
 *
 *     symmetric        scale = max(-low, high) / 127      zero_point = 0
 *     asymmetric       scale = (high - low) / 255         zero_point = round(-128 - low / scale)
 *
 * with scale = 1 if it would be 0, as for a group of zeros; and
 *
 *     q = round(x / scale) + zero_point, clamped to -128 .. 127
 *
 * where round goes to the nearest integer, and halfway to the even one. So 0 is always exact.
 * Infinities give the ends, NaN gives zero_point. fp32 rounding of the quotients is tolerated.
 * Without rows nothing is written; without columns the range is 0 .. 0.
 * @param q          [rows x cols]
 * @param scale      [rows] also for one group: then all are equal
 * @param zero_point [rows] likewise
 * @param row_sums   [rows] sums of q; cols < 2^24
 * @param x          [rows x cols]
 * @param per_channel 0: one group, else a group per row
 */
cudaError_t quantize_s8(int8_t *q, float *scale, int *zero_point, int *row_sums, const float *x,
                        int rows, int cols, int per_channel, int symmetric, cudaStream_t stream);

/**
 * c = a * b^T, exact if all sums fit in an int, as they do up to k = 131,071. k = 0 gives zeros.
 * @param c [m x n]
 * @param a [m x k]
 * @param b [n x k] in the layout of weights: a row for each output
 */
cudaError_t gemm_s8s8s32(int32_t *c, const int8_t *a, const int8_t *b, int m, int n, int k,
                         cudaStream_t stream);

/**
 * The product of the matrices that the quantized matrices represent:
 *
 *     y[i][j] = scale_a[i] * scale_b[j] * sum over k of (a[i][k] - zero_a[i]) (b[j][k] - zero_b[j])
 *               + bias[j]
 *
 * where the sum is exact, and everything else is fp32.
 * @param y                       [m x n]
 * @param c                       [m x n] from gemm_s8s8s32
 * @param scale_a, zero_a, sums_a [m] from quantize_s8
 * @param scale_b, zero_b, sums_b [n] likewise
 * @param bias                    [n], or NULL
 * @param k                       the number of terms of each sum
 */
cudaError_t dequantize_epilogue(float *y, const int32_t *c, const float *scale_a, const int *zero_a,
                                const int *sums_a, const float *scale_b, const int *zero_b,
                                const int *sums_b, const float *bias, int m, int n, int k,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
