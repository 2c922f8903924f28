/*
 * The frozen baseline of 204: a copy on the device. It moves 8 bytes an element, as a sigmoid must.
 */
#include <cuda_runtime.h>
#include <stddef.h>

extern "C" cudaError_t baseline_device_copy(int op, float *y, const float *a, const float *b,
                                            size_t n, int grid, int block, cudaStream_t stream)
{
    (void)op, (void)b, (void)grid, (void)block;
    return cudaMemcpyAsync(y, a, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
