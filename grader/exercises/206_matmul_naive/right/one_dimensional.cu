// RIGHT: a one-dimensional grid of fixed size strides over the elements of c; four sums a thread
#include "206_matmul_naive/matmul_naive.h"

__device__ static float dot(const float *a, const float *b, int n, int k)
{
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int i = 0;
    for (; i + 4 <= k; i += 4) {
        for (int u = 0; u < 4; u++) sum[u] = fmaf(a[i + u], b[(size_t)(i + u) * n], sum[u]);
    }
    for (; i < k; i++) sum[0] = fmaf(a[i], b[(size_t)i * n], sum[0]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

__global__ static void matmul_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    size_t size = (size_t)m * n, stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) {
        c[i] = dot(a + i / n * k, b + i % n, n, k);
    }
}

cudaError_t matmul_naive(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    matmul_kernel<<<1056, 256, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
