/*
 * The frozen baselines of 305 and 405, with a block of 256 threads per row that walks along it two
 * or three times, 4 bytes a thread, and reduces by halving in shared memory: the rung of 304.
 *
 * 305: cross-entropy from separate operations, as a library of single layers computes it. The
 * softmax writes the probabilities, a second kernel gathers the losses, a third reads the
 * probabilities again and turns them into the gradient. Another counts the labels.
 *
 * 405: baseline_*_rows are its three functions; baseline_*_copy take the same arguments and copy x
 * to y: the roof.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>

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

__global__ static void softmax_kernel(float *p, const float *x, int cols)
{
    x += (size_t)blockIdx.x * cols;
    p += (size_t)blockIdx.x * cols;
    float max = -INFINITY, sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) max = fmaxf(max, x[c]);
    max = block_reduce(max, true);
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(x[c] - max);
    sum = block_reduce(sum, false);
    for (int c = threadIdx.x; c < cols; c += BLOCK) p[c] = expf(x[c] - max) / sum;
}

__global__ static void loss_kernel(float *loss, const float *p, const int *labels, int rows,
                                   int classes, int ignore_index)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int label = labels[row];
    loss[row] = label == ignore_index ? 0.0f : -logf(p[(size_t)row * classes + label]);
}

__global__ static void gradient_kernel(float *p, const int *labels, int classes, int ignore_index)
{
    int label = labels[blockIdx.x];
    p += (size_t)blockIdx.x * classes;
    float weight = 1.0f / counted;
    for (int c = threadIdx.x; c < classes; c += BLOCK)
        p[c] = label == ignore_index ? 0.0f : (p[c] - (c == label)) * weight;
}

extern "C" cudaError_t baseline_softmax_cross_entropy(float *loss, float *grad_logits,
                                                      const float *logits, const int *labels,
                                                      int rows, int classes, int ignore_index,
                                                      cudaStream_t stream)
{
    count_kernel<<<1, 1024, 0, stream>>>(labels, rows, ignore_index);
    softmax_kernel<<<rows, BLOCK, 0, stream>>>(grad_logits, logits, classes);
    loss_kernel<<<(rows + 255) / 256, 256, 0, stream>>>(loss, grad_logits, labels, rows, classes,
                                                        ignore_index);
    gradient_kernel<<<rows, BLOCK, 0, stream>>>(grad_logits, labels, classes, ignore_index);
    return cudaGetLastError();
}

/* ---- 405 ---------------------------------------------------------------------------------------
 */

/* Without beta, rmsnorm: the mean is taken for 0. */
__global__ static void norm_kernel(float *y, const float *x, const float *gamma, const float *beta,
                                   int cols, float eps)
{
    x += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    float mean = 0.0f, squares = 0.0f;
    if (beta != NULL) {
        for (int c = threadIdx.x; c < cols; c += BLOCK) mean += x[c];
        mean = block_reduce(mean, false) / cols;
    }
    for (int c = threadIdx.x; c < cols; c += BLOCK) squares += (x[c] - mean) * (x[c] - mean);
    float rstd = 1.0f / sqrtf(block_reduce(squares, false) / cols + eps);
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        y[c] = (x[c] - mean) * rstd * gamma[c] + (beta != NULL ? beta[c] : 0.0f);
}

extern "C" cudaError_t baseline_softmax_rows(float *y, const float *x, int rows, int cols,
                                             cudaStream_t stream)
{
    softmax_kernel<<<rows, BLOCK, 0, stream>>>(y, x, cols);
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_layernorm_rows(float *y, const float *x, const float *gamma,
                                               const float *beta, int rows, int cols, float eps,
                                               cudaStream_t stream)
{
    norm_kernel<<<rows, BLOCK, 0, stream>>>(y, x, gamma, beta, cols, eps);
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_rmsnorm_rows(float *y, const float *x, const float *gamma, int rows,
                                             int cols, float eps, cudaStream_t stream)
{
    norm_kernel<<<rows, BLOCK, 0, stream>>>(y, x, gamma, NULL, cols, eps);
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_softmax_copy(float *y, const float *x, int rows, int cols,
                                             cudaStream_t stream)
{
    return cudaMemcpyAsync(y, x, (size_t)rows * cols * sizeof *y, cudaMemcpyDeviceToDevice, stream);
}

extern "C" cudaError_t baseline_layernorm_copy(float *y, const float *x, const float *gamma,
                                               const float *beta, int rows, int cols, float eps,
                                               cudaStream_t stream)
{
    (void)gamma, (void)beta, (void)eps;
    return cudaMemcpyAsync(y, x, (size_t)rows * cols * sizeof *y, cudaMemcpyDeviceToDevice, stream);
}
