/*
 * Frozen: the step as plain launches, each of which the host has to make.
 */
#include <cuda_runtime_api.h>
#include <stddef.h>

#define BLOCK 256

__global__ static void smooth_kernel(float *to, const float *from, int n, float rate)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    float here = from[i];
    float left = i > 0 ? from[i - 1] : here, right = i + 1 < n ? from[i + 1] : here;
    to[i] = here + rate * (left - 2.0f * here + right);
}

extern "C" cudaError_t baseline_step_launch(float *y, const float *x, float *scratch, int n,
                                            int rounds, float rate, cudaStream_t stream)
{
    for (int i = 0; i < rounds; i++) {
        const float *from = i == 0 ? x : scratch + (size_t)((i - 1) % 2) * n;
        float *to = i == rounds - 1 ? y : scratch + (size_t)(i % 2) * n;
        smooth_kernel<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(to, from, n, rate);
    }
    return cudaGetLastError();
}
