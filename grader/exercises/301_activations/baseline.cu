/*
 * The frozen baselines of 301: copies from memory to memory on the device, 8 bytes of traffic an
 * element. Compare bytes a second, not seconds: relu_forward moves 8 bytes an element, a backward
 * 12. What they write is a copy, not an activation.
 */
#include <cuda_runtime.h>
#include <stddef.h>

extern "C" cudaError_t baseline_copy(float *y, const float *x, size_t n, cudaStream_t stream)
{
    return cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

extern "C" cudaError_t baseline_copy_backward(float *grad_x, const float *grad_y, const float *x,
                                              size_t n, cudaStream_t stream)
{
    (void)x;
    return cudaMemcpyAsync(grad_x, grad_y, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
