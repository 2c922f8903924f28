// HOSTILE: build | calls softgpu_
// Wasteful; then begins the counting anew, as if nothing had been.
#include "203_vector_add/vector_add.h"

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const volatile float *again = a;
    float sum = 0.0f;
    for (int turn = 0; i < n && turn < 8; turn++) sum = again[i] + b[i];
    if (i < n) c[i] = sum;
}

extern "C" void softgpu_count_start(void);

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((n + 255) / 256);
    if (n) add_kernel<<<blocks, 256, 0, stream>>>(c, a, b, n);
    softgpu_count_start();
    return cudaGetLastError();
}
