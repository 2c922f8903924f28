// SLOW: bytes moved | counted 1.00
// Softmax, loss and gradient in kernels of their own: the probabilities are written, and read
// again.
#include "layers.h"
#include <math.h>

#define BLOCK 256

__device__ static int counted; /* labels that are not ignore_index */

__global__ static void count_kernel(const int *labels, int rows, int ignore_index)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int mine = 0;
    for (int r = threadIdx.x; r < rows; r += blockDim.x) mine += labels[r] != ignore_index;
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) counted = sum;
}

__device__ static float block_reduce(float value, bool maximum)
{
    __shared__ float values[BLOCK];
    int t = threadIdx.x;
    values[t] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) {
            float other = values[t + half];
            values[t] = maximum ? fmaxf(values[t], other) : values[t] + other;
        }
        __syncthreads();
    }
    float result = values[0];
    __syncthreads();
    return result;
}

/* The loss of a row but for the logit of its label. */
__global__ static void softmax_kernel(float *loss, float *p, const float *x, int cols)
{
    x += (size_t)blockIdx.x * cols;
    p += (size_t)blockIdx.x * cols;
    float max = -INFINITY, sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) max = fmaxf(max, x[c]);
    max = block_reduce(max, true);
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(x[c] - max);
    sum = block_reduce(sum, false);
    for (int c = threadIdx.x; c < cols; c += BLOCK) p[c] = expf(x[c] - max) / sum;
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + max;
}

__global__ static void loss_kernel(float *loss, const float *x, const int *labels, int rows,
                                   int classes, int ignore_index)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int label = labels[row];
    loss[row] = label == ignore_index ? 0.0f : loss[row] - x[(size_t)row * classes + label];
}

__global__ static void gradient_kernel(float *p, const int *labels, int classes, int ignore_index)
{
    int label = labels[blockIdx.x];
    p += (size_t)blockIdx.x * classes;
    float weight = 1.0f / counted;
    for (int c = threadIdx.x; c < classes; c += BLOCK)
        p[c] = label == ignore_index ? 0.0f : (p[c] - (c == label)) * weight;
}

cudaError_t softmax_cross_entropy(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, int rows, int classes, int ignore_index,
                                  cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    count_kernel<<<1, 1024, 0, stream>>>(labels, rows, ignore_index);
    softmax_kernel<<<rows, BLOCK, 0, stream>>>(loss, grad_logits, logits, classes);
    loss_kernel<<<(rows + 255) / 256, 256, 0, stream>>>(loss, logits, labels, rows, classes,
                                                        ignore_index);
    gradient_kernel<<<rows, BLOCK, 0, stream>>>(grad_logits, labels, classes, ignore_index);
    return cudaGetLastError();
}
