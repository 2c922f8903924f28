/*
 * Frozen: copy all in, work on it, copy all out, one after the other in one stream. The kernel is
 * the solution's, so that the ratio is that of the overlap alone.
 */
#include <cuda_runtime_api.h>
#include <stddef.h>

#define THREADS 256

__global__ static void work_kernel(float *x, size_t n, int iterations)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    for (int k = 0; k < iterations; k++) value -= value * value * value;
    x[i] = value;
}

extern "C" cudaError_t baseline_pipeline(float *h_out, const float *h_in, size_t n, int iterations,
                                         int chunks, int streams)
{
    const unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
    const size_t bytes = n * sizeof(float);
    cudaStream_t stream;
    float *d_x;
    (void)chunks, (void)streams;
    cudaError_t error = cudaStreamCreate(&stream);
    if (!error) error = cudaMalloc(&d_x, bytes);
    if (error) return error;
    cudaMemcpyAsync(d_x, h_in, bytes, cudaMemcpyHostToDevice, stream);
    work_kernel<<<blocks, THREADS, 0, stream>>>(d_x, n, iterations);
    cudaMemcpyAsync(h_out, d_x, bytes, cudaMemcpyDeviceToHost, stream);
    error = cudaStreamSynchronize(stream);
    cudaFree(d_x);
    cudaStreamDestroy(stream);
    return error ? error : cudaGetLastError();
}
