// RIGHT: a block of 512 a row, halving in shared memory; every block counts the labels for itself
#include "305_cross_entropy/cross_entropy.h"
#include <math.h>

#define THREADS 512
enum { MAX, SUM };

__device__ static float reduce(float value, int how)
{
    __shared__ float values[THREADS];
    const int t = threadIdx.x;
    values[t] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            float other = values[t + half];
            values[t] = how == MAX ? fmaxf(values[t], other) : values[t] + other;
        }
    }
    __syncthreads();
    value = values[0];
    __syncthreads(); /* before the next reduction writes */
    return value;
}

__device__ static int labels_that_count(const int *labels, int rows, int ignore_index)
{
    int count = 0;
    for (int first = 0; first < rows; first += THREADS) {
        int r = first + threadIdx.x;
        count += __syncthreads_count(r < rows && labels[r] != ignore_index);
    }
    return count;
}

__global__ static void row_kernel(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, int rows, int classes, int ignore_index)
{
    const int row = blockIdx.x, label = labels[row];
    const float *x = logits + (size_t)row * classes;
    float *grad = grad_logits + (size_t)row * classes;
    if (label == ignore_index) { /* the whole block */
        for (int c = threadIdx.x; c < classes; c += THREADS) grad[c] = 0.0f;
        if (threadIdx.x == 0) loss[row] = 0.0f;
        return;
    }
    const int counted = labels_that_count(labels, rows, ignore_index);
    float max = -INFINITY, sum = 0.0f;
    for (int c = threadIdx.x; c < classes; c += THREADS) max = fmaxf(max, x[c]);
    max = reduce(max, MAX);
    for (int c = threadIdx.x; c < classes; c += THREADS) sum += expf(x[c] - max);
    sum = reduce(sum, SUM);
    if (threadIdx.x == 0) loss[row] = logf(sum) - (x[label] - max);
    for (int c = threadIdx.x; c < classes; c += THREADS) {
        grad[c] = (expf(x[c] - max) / sum - (c == label ? 1.0f : 0.0f)) / counted;
    }
}

cudaError_t softmax_cross_entropy(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, int rows, int classes, int ignore_index,
                                  cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    row_kernel<<<rows, THREADS, 0, stream>>>(loss, grad_logits, logits, labels, rows, classes,
                                             ignore_index);
    return cudaGetLastError();
}
