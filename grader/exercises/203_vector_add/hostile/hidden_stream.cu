// HOSTILE: DRAM bytes / minimum | counted 3.3
// Does its wasteful work on a stream of its own.
#include "203_vector_add/vector_add.h"

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const volatile float *again = a;
    float sum = 0.0f;
    for (int turn = 0; i < n && turn < 8; turn++) sum = again[i] + b[i];
    if (i < n) c[i] = sum;
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((n + 255) / 256);
    cudaStream_t hidden;
    cudaEvent_t ready, done;
    cudaStreamCreateWithFlags(&hidden, cudaStreamNonBlocking);
    cudaEventCreate(&ready);
    cudaEventCreate(&done);
    cudaEventRecord(ready, stream);
    cudaStreamWaitEvent(hidden, ready, 0);
    if (n) add_kernel<<<blocks, 256, 0, hidden>>>(c, a, b, n);
    cudaEventRecord(done, hidden);
    cudaStreamWaitEvent(stream, done, 0);
    cudaEventDestroy(ready);
    cudaEventDestroy(done);
    cudaStreamDestroy(hidden);
    return cudaGetLastError();
}
