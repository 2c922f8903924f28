// HOSTILE: build | calls softgpu_
// Reads what nobody wrote, and asks softgpu not to tell.
#include "203_vector_add/vector_add.h"

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && c[i] != 12345.0f) c[i] = a[i] + b[i];
}

extern "C" void softgpu_on_finding(void (*hook)(const char *, void *), void *context);

static void ignore(const char *, void *)
{
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    softgpu_on_finding(ignore, NULL);
    const unsigned blocks = (unsigned)((n + 255) / 256);
    if (n) add_kernel<<<blocks, 256, 0, stream>>>(c, a, b, n);
    return cudaGetLastError();
}
