/*
 * 304_softmax.cu: softmax of every row, and its gradient.
 *
 * The idea: a row belongs to a block. Its threads walk along it in strides of the block, so that
 * neighbours read neighbours, any number of columns works, and what all of them must agree on
 * (the maximum, the sum) is a reduction in shared memory. The maximum is subtracted before exp:
 * softmax does not change, the largest exponent is 0, and nothing overflows.
 *
 *     y = exp(x - max) / sum of exp(x - max)        grad_x = y (grad_y - sum of grad_y y)
 *
 * The sum in grad_x is there because the entries of y add up to 1: raise one, and all others fall.
 *
 * What it costs: x is read three times and exp computed twice. The cache softens that while the
 * rows in flight fit; an online softmax reads twice, and one that keeps the row in registers reads
 * once. Rows of 10 columns leave 246 of the 256 threads idle: a warp per row suits them better.
 */
#include "304_softmax/softmax.h"
#include "not_implemented.h"
#include <math.h>

/* SOLUTION: BLOCK, and block_reduce: the sum or the maximum of one value per thread, by halving in
   shared memory, handed to every thread (about 14 lines). */
#define BLOCK 256

typedef enum reduction { SUM, MAX } reduction;

/** Combine one value per thread; every thread of the block gets the result. */
template <reduction HOW> __device__ static float block_reduce(float value)
{
    __shared__ float values[BLOCK];
    int t = threadIdx.x;
    values[t] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) {
            float other = values[t + half];
            values[t] = HOW == SUM ? values[t] + other : fmaxf(values[t], other);
        }
        __syncthreads();
    }
    float result = values[0];
    __syncthreads(); /* all threads have read it before the next reduction writes */
    return result;
}
/* END SOLUTION */

/* SOLUTION: softmax_forward_kernel, a block per row: maximum, sum, and y; a row of nothing but
   -infinity becomes zeros (about 17 lines). */
__global__ static void softmax_forward_kernel(float *y, const float *x, int cols)
{
    x += (size_t)blockIdx.x * cols; /* both now point at the row of this block */
    y += (size_t)blockIdx.x * cols;

    float max = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += BLOCK) max = fmaxf(max, x[c]);
    max = block_reduce<MAX>(max);     /* fmaxf passes over a NaN; the sum will not */
    if (max == -INFINITY) max = 0.0f; /* no weight in the row: x - max must stay -infinity */

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(x[c] - max);
    sum = block_reduce<SUM>(sum);

    bool empty = sum == 0.0f; /* else it is at least 1, or NaN */
    for (int c = threadIdx.x; c < cols; c += BLOCK) y[c] = empty ? 0.0f : expf(x[c] - max) / sum;
}
/* END SOLUTION */

/* SOLUTION: softmax_backward_kernel, a block per row: the dot product of grad_y and y, then grad_x
   (about 9 lines). */
__global__ static void softmax_backward_kernel(float *grad_x, const float *grad_y, const float *y,
                                               int cols)
{
    grad_x += (size_t)blockIdx.x * cols;
    grad_y += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;

    float dot = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) dot += grad_y[c] * y[c];
    dot = block_reduce<SUM>(dot);

    for (int c = threadIdx.x; c < cols; c += BLOCK) grad_x[c] = y[c] * (grad_y[c] - dot);
}
/* END SOLUTION */

cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    /* SOLUTION: one block per row, rows along x of the grid: y and z end at 65,535 (about 2
       lines). */
    if (rows == 0) return cudaSuccess; /* an empty grid is a launch error */
    softmax_forward_kernel<<<rows, BLOCK, 0, stream>>>(y, x, cols);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream)
{
    /* SOLUTION: as in softmax_forward (about 2 lines). */
    if (rows == 0) return cudaSuccess;
    softmax_backward_kernel<<<rows, BLOCK, 0, stream>>>(grad_x, grad_y, y, cols);
    /* END SOLUTION */
    return cudaGetLastError();
}
