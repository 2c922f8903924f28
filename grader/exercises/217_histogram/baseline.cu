/*
 * The frozen baseline of 217: one atomic on global memory per value.
 */
#include <cuda_runtime.h>
#include <stddef.h>

__global__ static void count_kernel(int *counts, const int *values, size_t n, int bins)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] >= 0 && values[i] < bins) atomicAdd(&counts[values[i]], 1);
}

extern "C" cudaError_t baseline_atomic_per_value(int *counts, const int *values, size_t n, int bins,
                                                 cudaStream_t stream)
{
    cudaMemsetAsync(counts, 0, bins * sizeof(int), stream);
    if (n > 0 && bins > 0) {
        count_kernel<<<(unsigned)((n - 1) / 256 + 1), 256, 0, stream>>>(counts, values, n, bins);
    }
    return cudaGetLastError();
}
