// RIGHT: a warp per row, online log-sum-exp, scratch from cudaMallocAsync, votes counted
#include "305_cross_entropy/cross_entropy.h"
#include <math.h>

__global__ static void count_kernel(int *counted, const int *labels, int rows, int ignore_index)
{
    for (int first = blockIdx.x * blockDim.x; first < rows; first += gridDim.x * blockDim.x) {
        int r = first + threadIdx.x;
        unsigned votes = __ballot_sync(0xffffffffu, r < rows && labels[r] != ignore_index);
        if (threadIdx.x % 32 == 0) atomicAdd(counted, __popc(votes));
    }
}

__global__ static void row_kernel(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, const int *counted, int rows, int classes,
                                  int ignore_index)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float *x = logits + (size_t)row * classes;
    float *grad = grad_logits + (size_t)row * classes;
    bool ignored = labels[row] == ignore_index;

    float max = -INFINITY, sum = 0.0f; /* of the columns of this lane so far */
    for (int c = lane; c < classes && !ignored; c += 32) {
        if (x[c] == -INFINITY) continue; /* no weight */
        float larger = fmaxf(max, x[c]);
        sum = sum * expf(max - larger) + expf(x[c] - larger);
        max = larger;
    }
    for (int d = 16; d > 0; d /= 2) {
        float other_max = __shfl_xor_sync(0xffffffffu, max, d);
        float other_sum = __shfl_xor_sync(0xffffffffu, sum, d);
        float larger = fmaxf(max, other_max);
        if (larger == -INFINITY) { /* of nothing, or of a NaN */
            sum += other_sum;
            continue;
        }
        sum = sum * expf(max - larger) + other_sum * expf(other_max - larger);
        max = larger;
    }

    float weight = ignored ? 0.0f : 1.0f / *counted;
    for (int c = lane; c < classes; c += 32)
        grad[c] = ignored ? 0.0f : (expf(x[c] - max) / sum - (c == labels[row])) * weight;
    if (lane == 0) loss[row] = ignored ? 0.0f : logf(sum) + (max - x[labels[row]]);
}

cudaError_t softmax_cross_entropy(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, int rows, int classes, int ignore_index,
                                  cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    int *d_counted;
    cudaError_t error = cudaMallocAsync((void **)&d_counted, sizeof(int), stream);
    if (error != cudaSuccess) return error;
    cudaMemsetAsync(d_counted, 0, sizeof(int), stream);
    count_kernel<<<8, 128, 0, stream>>>(d_counted, labels, rows, ignore_index);
    row_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(loss, grad_logits, logits, labels, d_counted,
                                                   rows, classes, ignore_index);
    cudaFreeAsync(d_counted, stream);
    return cudaGetLastError();
}
