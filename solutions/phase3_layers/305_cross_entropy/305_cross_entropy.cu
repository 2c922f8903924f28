/*
 * 305_cross_entropy.cu: softmax, cross-entropy loss and the gradient of its mean, in one pass.
 *
 * The idea: the probabilities are needed only in between. With max and sum of a row known,
 *
 *     loss        = -log(exp(x[label] - max) / sum) = log(sum) + max - x[label]
 *     grad_logits = (exp(x - max) / sum - onehot) / number of counted labels
 *
 * so one kernel reads the logits and writes the gradient, and no array of probabilities travels
 * through memory. The loss takes no logarithm of a probability: one that underflowed to 0 would
 * give infinity, or log(1e-10) where an epsilon hides that.
 *
 * Every row needs a number that no row knows: how many labels count. The host could ask for it and
 * stall; instead a small kernel before this one counts, and kernels of one stream run in order.
 *
 * What it costs: that launch, and logits read three times where their rows do not stay in the
 * cache, as in 304.
 */
#include "305_cross_entropy/cross_entropy.h"
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

/* SOLUTION: count_kernel, one block: how many labels are not ignore_index, counted in integers, so
   that every run gives the same; leaves 1 / count where the next kernel finds it (about 9 lines).
 */
__global__ static void count_kernel(float *loss, const int *labels, int rows, int ignore_index)
{
    __shared__ int counted;
    if (threadIdx.x == 0) counted = 0;
    __syncthreads();
    int mine = 0;
    for (int r = threadIdx.x; r < rows; r += blockDim.x) mine += labels[r] != ignore_index;
    atomicAdd(&counted, mine); /* of integers: exact in any order */
    __syncthreads();
    for (int r = threadIdx.x; r < rows; r += blockDim.x) loss[r] = 1.0f / counted;
}
/* END SOLUTION */

/* SOLUTION: cross_entropy_kernel, a block per row: zeros for an ignored one; else maximum, sum, the
   gradient, and the loss (about 20 lines). */
__global__ static void cross_entropy_kernel(float *loss, float *grad_logits, const float *logits,
                                            const int *labels, int classes, int ignore_index)
{
    const float *x = logits + (size_t)blockIdx.x * classes;   /* the row of this block */
    float *grad = grad_logits + (size_t)blockIdx.x * classes; /* and its gradient */
    int label = labels[blockIdx.x];
    if (label == ignore_index) { /* the whole block goes this way: no barrier is missed */
        for (int c = threadIdx.x; c < classes; c += BLOCK) grad[c] = 0.0f;
        if (threadIdx.x == 0) loss[blockIdx.x] = 0.0f;
        return;
    }

    float max = -INFINITY;
    for (int c = threadIdx.x; c < classes; c += BLOCK) max = fmaxf(max, x[c]);
    max = block_reduce<MAX>(max);

    float sum = 0.0f;
    for (int c = threadIdx.x; c < classes; c += BLOCK) sum += expf(x[c] - max);
    sum = block_reduce<SUM>(sum);

    float weight = loss[blockIdx.x]; /* 1 / number of counted labels, from count_kernel */
    for (int c = threadIdx.x; c < classes; c += BLOCK)
        grad[c] = (expf(x[c] - max) / sum - (c == label)) * weight;
    __syncthreads(); /* every thread has its weight before the loss replaces it */
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + (max - x[label]);
}
/* END SOLUTION */

cudaError_t softmax_cross_entropy(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, int rows, int classes, int ignore_index,
                                  cudaStream_t stream)
{
    /* SOLUTION: launch both kernels, the second with a block per row (about 4 lines). */
    if (rows == 0) return cudaSuccess; /* an empty grid is a launch error */
    count_kernel<<<1, 1024, 0, stream>>>(loss, labels, rows, ignore_index);
    cross_entropy_kernel<<<rows, BLOCK, 0, stream>>>(loss, grad_logits, logits, labels, classes,
                                                     ignore_index);
    /* END SOLUTION */
    return cudaGetLastError();
}
