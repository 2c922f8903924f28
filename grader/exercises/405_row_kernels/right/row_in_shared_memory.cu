// RIGHT: a block per row, which stays in shared memory up to 48 KB; longer ones are read twice:
// an online softmax, and sums of squares around the first element
#include "405_row_kernels/row_kernels.h"
#include <math.h>

#define THREADS 256
#define ROOM    (47 * 256) /* floats */

__device__ static float total(float x, bool largest)
{
    __shared__ float of_warps[THREADS / 32];
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_xor_sync(~0u, x, d);
        x = largest ? fmaxf(x, other) : x + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = x;
    __syncthreads();
    x = of_warps[0];
    for (int w = 1; w < THREADS / 32; w++) x = largest ? fmaxf(x, of_warps[w]) : x + of_warps[w];
    return x;
}

/* What all threads read now they wrote themselves: element c belongs to thread c % THREADS. */
__device__ static const float *fetched(const float *x, int cols)
{
    extern __shared__ float row[];
    if (cols > ROOM) return x;
    for (int c = threadIdx.x; c < cols; c += THREADS) row[c] = x[c];
    return row;
}

__global__ static void softmax_kernel(float *y, const float *x, int cols)
{
    y += (size_t)blockIdx.x * cols;
    const float *row = fetched(x + (size_t)blockIdx.x * cols, cols);
    float max = -INFINITY, sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        float v = row[c], larger = fmaxf(max, v);
        if (larger > max) sum *= expf(max - larger);
        max = larger;
        if (v != -INFINITY) sum += expf(v - max);
    }
    float all = total(max, true);
    sum = total(max == all || sum != sum ? sum : sum * expf(max - all), false);
    for (int c = threadIdx.x; c < cols; c += THREADS)
        y[c] = sum == 0.0f ? 0.0f : expf(row[c] - all) / sum;
}

__global__ static void norm_kernel(float *y, const float *x, const float *gamma, const float *beta,
                                   int cols, float eps)
{
    y += (size_t)blockIdx.x * cols;
    const float *row = fetched(x + (size_t)blockIdx.x * cols, cols);
    float mean = 0.0f, squares = 0.0f;
    if (beta != NULL) {
        const float origin = x[(size_t)blockIdx.x * cols];
        for (int c = threadIdx.x; c < cols; c += THREADS) mean += row[c] - origin;
        mean = origin + total(mean, false) / cols;
    }
    for (int c = threadIdx.x; c < cols; c += THREADS)
        squares = fmaf(row[c] - mean, row[c] - mean, squares);
    const float factor = 1.0f / sqrtf(total(squares, false) / cols + eps);
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        float v = (row[c] - mean) * factor * gamma[c];
        y[c] = beta != NULL ? v + beta[c] : v;
    }
}

static size_t bytes_of(int cols)
{
    return cols > ROOM ? 0 : cols * sizeof(float);
}

cudaError_t softmax_rows(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    if (rows != 0 && cols != 0)
        softmax_kernel<<<rows, THREADS, bytes_of(cols), stream>>>(y, x, cols);
    return cudaGetLastError();
}

cudaError_t layernorm_rows(float *y, const float *x, const float *gamma, const float *beta,
                           int rows, int cols, float eps, cudaStream_t stream)
{
    if (rows != 0 && cols != 0)
        norm_kernel<<<rows, THREADS, bytes_of(cols), stream>>>(y, x, gamma, beta, cols, eps);
    return cudaGetLastError();
}

cudaError_t rmsnorm_rows(float *y, const float *x, const float *gamma, int rows, int cols,
                         float eps, cudaStream_t stream)
{
    if (rows != 0 && cols != 0)
        norm_kernel<<<rows, THREADS, bytes_of(cols), stream>>>(y, x, gamma, NULL, cols, eps);
    return cudaGetLastError();
}
