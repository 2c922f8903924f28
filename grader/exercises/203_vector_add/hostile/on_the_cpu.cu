// HOSTILE: n=1 | no kernel
// Copies to the host, adds there, copies back.
#include "203_vector_add/vector_add.h"

#include <stdlib.h>

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    float *h_a = (float *)malloc(n * 4 + 1), *h_b = (float *)malloc(n * 4 + 1);
    cudaMemcpyAsync(h_a, a, n * 4, cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(h_b, b, n * 4, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (size_t i = 0; i < n; i++) h_a[i] += h_b[i];
    cudaMemcpy(c, h_a, n * 4, cudaMemcpyHostToDevice);
    free(h_a);
    free(h_b);
    return cudaGetLastError();
}
