/*
 * The frozen baseline of 203: the copy engine's own kernel, memory to memory on the device.
 *
 * It reads 4 bytes and writes 4 bytes an element where vector_add reads 8 and writes 4: compare
 * bytes a second, not seconds (work 12 against 8). b is not read and c is not a sum.
 */
#include <cuda_runtime.h>
#include <stddef.h>

extern "C" cudaError_t baseline_copy(float *c, const float *a, const float *b, size_t n,
                                     cudaStream_t stream)
{
    (void)b;
    return cudaMemcpyAsync(c, a, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
