/*
 * 4g_matmul_3xtf32.cu: fp32's accuracy from tensor cores that know 11 bits.
 *
 * The idea: TF32 is fp32 with a mantissa of 11 bits instead of 24, and the tensor cores multiply it
 * 8 times as fast as the other cores multiply fp32. A number is the sum of two such: hi, itself
 * rounded to 11 bits, and lo, what that left out. So
 *
 *     a b = hi_a hi_b + hi_a lo_b + lo_a hi_b + (lo_a lo_b, which is below fp32's own error)
 *
 * Three products of an eighth of the time each: at most 2.7 times as fast as fp32 could be.
 *
 * Two things keep the accuracy. The tensor core adds what it multiplies in fp32, but cuts off where
 * it should round, always towards zero; over thousands of terms that drifts. So it sums 32 of k,
 * and an fp32 addition takes each such part into the sum. And the small products go first.
 *
 * The ring, the swizzle and the copies are 4a's. `mma` for tf32 wants b column by column, which
 * ldmatrix cannot turn in words of 4 bytes: b's fragments are read word by word, and its rows are 8
 * words longer, so that a warp's 4 rows of 8 columns meet in no bank.
 *
 * What rows of 16 aligned bytes or shared memory are not there for goes to 401. Infinities and NaN
 * spread as NaN, for what hi leaves out of an infinity is NaN; so do numbers from 3.4026e38 on,
 * whose hi is infinite.
 *
 * The cost removed: two thirds of fp32's multiply-adds on the slow cores. The cost left: splitting.
 * Four instructions for each fragment of a number, again in every warp that reads it, and the
 * ceiling of `mma.sync` that 4a meets.
 */
#include "401_matmul_vectorized/matmul_vectorized.h"
#include "4g_matmul_3xtf32/matmul_3xtf32.h"
#include "not_implemented.h"
#include "tensor_core.h"
#include <stdint.h>

/* TODO: the sizes (about 14 lines). */

/* TODO: split: hi = x rounded to 11 bits, lo = x - hi, which is exact (about 12 lines). */

/* TODO: source: what a thread copies of each stage: its chunk of every 32nd row of a, so that
   its place in the swizzle is always the same, and of every 8th of b (about 45 lines). */

/* TODO: take, the numbers of one step; multiply, three products of each; and
   matmul_3xtf32_kernel; does its ring fit? (about 105 lines) */

cudaError_t matmul_3xtf32(float *c, const float *a, const float *b, int m, int n, int k,
                          cudaStream_t stream)
{
    /* TODO: what has no aligned rows, or no room, goes to matmul_vectorized; else one block per
       tile of c, with more shared memory than a launch gets unasked (about 10 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}
