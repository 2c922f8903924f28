// HOSTILE: instructions per warp | counted
// A block a row, which is in more registers than a multiprocessor has.
#include "405_row_kernels/row_kernels.h"
#include "417_softmax_cluster/softmax_cluster.h"
#include <math.h>

#define THREADS 1024
#define KEPT    128

template <bool LARGEST> __device__ static float over_block(float x)
{
    __shared__ float parts[32];
    for (int from = threadIdx.x, round = 0; round < 2; round++, from %= 32) {
        for (int d = 16; d; d /= 2) {
            const float other = __shfl_xor_sync(~0u, x, d);
            x = LARGEST ? fmaxf(x, other) : x + other;
        }
        if (round == 0 && from % 32 == 0) parts[from / 32] = x;
        __syncthreads();
        x = round == 0 ? parts[from % 32] : x;
    }
    return x;
}

__global__ static void row_kernel(float *y, const float *x, int cols)
{
    const size_t at = (size_t)blockIdx.x * cols;
    float v[KEPT], top = -INFINITY, sum = 0.0f;
#pragma unroll
    for (int i = 0, c = threadIdx.x; i < KEPT; i++, c += THREADS)
        top = fmaxf(top, v[i] = c < cols ? x[at + c] : -INFINITY);
    top = over_block<true>(top);
#pragma unroll
    for (int i = 0; i < KEPT; i++) sum += v[i] = __expf(v[i] - (top == -INFINITY ? 0.0f : top));
    sum = over_block<false>(sum);
#pragma unroll
    for (int i = 0, c = threadIdx.x; i < KEPT; i++, c += THREADS)
        if (c < cols) y[at + c] = sum == 0.0f ? 0.0f : v[i] / sum;
}

cudaError_t softmax_cluster(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    if (cols <= 1024 || cols > THREADS * KEPT) return softmax_rows(y, x, rows, cols, stream);
    if (rows > 0) row_kernel<<<rows, THREADS, 0, stream>>>(y, x, cols);
    return cudaGetLastError();
}
