// RIGHT: a wave of chunks at a time: all copied in, all worked on, all copied out; two buffers each
/* Breadth first: the order in which engines with one queue each like their work best. */
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

#include <stdlib.h>

struct lane {
    cudaStream_t stream;
    float *d_x, *d_y; /* [chunk] */
    size_t first, n;  /* of its chunk */
};

static cudaError_t send_wave(lane *l, int lanes, float *h_out, const float *h_in, int iterations)
{
    for (int i = 0; i < lanes; i++)
        cudaMemcpyAsync(l[i].d_x, h_in + l[i].first, l[i].n * 4, cudaMemcpyHostToDevice,
                        l[i].stream);
    for (int i = 0; i < lanes; i++)
        work_kernel<<<blocks_of(l[i].n), THREADS, 0, l[i].stream>>>(l[i].d_y, l[i].d_x, l[i].n,
                                                                    iterations);
    for (int i = 0; i < lanes; i++)
        cudaMemcpyAsync(h_out + l[i].first, l[i].d_y, l[i].n * 4, cudaMemcpyDeviceToHost,
                        l[i].stream);
    return cudaGetLastError();
}

static cudaError_t send_all(lane *l, int streams, float *h_out, const float *h_in, size_t n,
                            size_t chunk, int iterations)
{
    cudaError_t error = cudaSuccess;
    for (size_t first = 0; first < n && !error;) {
        int lanes = 0;
        for (; lanes < streams && first < n; lanes++, first += chunk) {
            l[lanes].first = first;
            l[lanes].n = n - first < chunk ? n - first : chunk;
        }
        error = send_wave(l, lanes, h_out, h_in, iterations);
    }
    return error;
}

cudaError_t pipeline(float *h_out, const float *h_in, size_t n, int iterations, int chunks,
                     int streams)
{
    if (iterations < 0 || chunks < 1 || streams < 1) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    const size_t chunk = (n + (size_t)chunks - 1) / (size_t)chunks;
    lane *l = (lane *)calloc((size_t)streams, sizeof *l);
    cudaError_t error = l ? cudaSuccess : cudaErrorMemoryAllocation;
    for (int i = 0; i < streams && !error; i++) {
        error = cudaStreamCreate(&l[i].stream);
        if (!error) error = cudaMalloc(&l[i].d_x, chunk * 4);
        if (!error) error = cudaMalloc(&l[i].d_y, chunk * 4);
    }
    if (!error) error = send_all(l, streams, h_out, h_in, n, chunk, iterations);
    for (int i = 0; l && i < streams; i++) {
        cudaError_t done = l[i].stream ? cudaStreamSynchronize(l[i].stream) : cudaSuccess;
        if (!error) error = done;
        cudaFree(l[i].d_x);
        cudaFree(l[i].d_y);
        if (l[i].stream) cudaStreamDestroy(l[i].stream);
    }
    free(l);
    return error;
}
