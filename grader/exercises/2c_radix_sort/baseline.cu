/*
 * The frozen baseline of 2c: a bitonic sort, not stable, whose every step goes over all pairs. The
 * larger one of two always goes up, as if all keys beyond n were infinite, so n may be any number.
 */
#include <cuda_runtime.h>
#include <stddef.h>

__global__ static void step_kernel(unsigned *keys, unsigned *values, size_t n, size_t mask)
{
    const size_t low = (size_t)blockIdx.x * blockDim.x + threadIdx.x, high = low ^ mask;
    if (high <= low || high >= n || keys[low] <= keys[high]) return;
    const unsigned key = keys[low], value = values[low];
    keys[low] = keys[high], values[low] = values[high];
    keys[high] = key, values[high] = value;
}

extern "C" cudaError_t baseline_bitonic(unsigned *out_keys, unsigned *out_values,
                                        const unsigned *keys, const unsigned *values, size_t n,
                                        cudaStream_t stream)
{
    const size_t bytes = n * sizeof *keys;
    cudaMemcpyAsync(out_keys, keys, bytes, cudaMemcpyDeviceToDevice, stream);
    cudaMemcpyAsync(out_values, values, bytes, cudaMemcpyDeviceToDevice, stream);
    const unsigned blocks = (unsigned)((n + 255) / 256);
    for (size_t half = 1; half < n; half *= 2) {
        step_kernel<<<blocks, 256, 0, stream>>>(out_keys, out_values, n, 2 * half - 1);
        for (size_t mask = half / 2; mask > 0; mask /= 2)
            step_kernel<<<blocks, 256, 0, stream>>>(out_keys, out_values, n, mask);
    }
    return cudaGetLastError();
}
