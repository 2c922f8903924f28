// SLOW: bytes allocated / two chunks per stream | counted 2.67
/* Memory for the whole array, in and out: no stream has to wait for a buffer, and the array must
 * fit. */
#include "406_streams/streams.h"

#define THREADS 256

__global__ static void work_kernel(float *y, const float *x, size_t n, int iterations)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    for (int k = 0; k < iterations; k++) value -= value * value * value;
    y[i] = value;
}

static unsigned blocks_of(size_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

enum { MOST = 16 };

cudaError_t pipeline(float *h_out, const float *h_in, size_t n, int iterations, int chunks,
                     int streams)
{
    if (iterations < 0 || chunks < 1 || streams < 1) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    const size_t chunk = (n + (size_t)chunks - 1) / (size_t)chunks;
    const int lanes = streams < MOST ? streams : MOST;
    cudaStream_t stream[MOST];
    float *d_x, *d_y;
    cudaError_t error = cudaMalloc(&d_x, n * 4);
    if (error) return error;
    error = cudaMalloc(&d_y, n * 4);
    for (int i = 0; i < lanes; i++) cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
    for (size_t at = 0, i = 0; at < n && !error; at += chunk, i++) {
        const size_t here = n - at < chunk ? n - at : chunk;
        cudaStream_t s = stream[i % (size_t)lanes];
        cudaMemcpyAsync(d_x + at, h_in + at, here * 4, cudaMemcpyHostToDevice, s);
        work_kernel<<<blocks_of(here), THREADS, 0, s>>>(d_y + at, d_x + at, here, iterations);
        cudaMemcpyAsync(h_out + at, d_y + at, here * 4, cudaMemcpyDeviceToHost, s);
    }
    for (int i = 0; i < lanes; i++) {
        cudaStreamSynchronize(stream[i]);
        cudaStreamDestroy(stream[i]);
    }
    cudaFree(d_x);
    cudaFree(d_y);
    return error ? error : cudaGetLastError();
}
