// RIGHT: a stream for each stage; events hand a ring of buffers from one to the next and back
/* A buffer is filled again when it was copied out: an event that was never recorded is no obstacle.
 */
#include "406_streams/streams.h"

#define THREADS 256

__global__ static void work_kernel(float *x, size_t n, int iterations)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    for (int k = 0; k < iterations; k++) value -= value * value * value;
    x[i] = value;
}

static unsigned blocks_of(size_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

#include <stdlib.h>

struct buffer {
    float *d_x; /* [chunk] */
    cudaEvent_t in, worked, out;
};

struct stages {
    cudaStream_t in, work, out;
};

static cudaError_t send(stages s, const buffer *b, float *h_out, const float *h_in, size_t n,
                        int iterations)
{
    cudaStreamWaitEvent(s.in, b->out, 0); /* what was here before is out */
    cudaMemcpyAsync(b->d_x, h_in, n * 4, cudaMemcpyHostToDevice, s.in);
    cudaEventRecord(b->in, s.in);
    cudaStreamWaitEvent(s.work, b->in, 0);
    work_kernel<<<blocks_of(n), THREADS, 0, s.work>>>(b->d_x, n, iterations);
    cudaEventRecord(b->worked, s.work);
    cudaStreamWaitEvent(s.out, b->worked, 0);
    cudaMemcpyAsync(h_out, b->d_x, n * 4, cudaMemcpyDeviceToHost, s.out);
    cudaEventRecord(b->out, s.out);
    return cudaGetLastError();
}

static cudaError_t open_buffer(buffer *b, size_t bytes)
{
    cudaEventCreateWithFlags(&b->in, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&b->worked, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&b->out, cudaEventDisableTiming);
    return cudaMalloc(&b->d_x, bytes);
}

static void close_buffer(buffer *b)
{
    cudaFree(b->d_x);
    if (b->in) cudaEventDestroy(b->in);
    if (b->worked) cudaEventDestroy(b->worked);
    if (b->out) cudaEventDestroy(b->out);
}

cudaError_t pipeline(float *h_out, const float *h_in, size_t n, int iterations, int chunks,
                     int streams)
{
    if (iterations < 0 || chunks < 1 || streams < 1) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    const size_t chunk = (n + (size_t)chunks - 1) / (size_t)chunks;
    buffer *b = (buffer *)calloc((size_t)streams, sizeof *b);
    stages s;
    cudaError_t error = b ? cudaSuccess : cudaErrorMemoryAllocation;
    cudaStreamCreateWithFlags(&s.in, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&s.work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&s.out, cudaStreamNonBlocking);
    for (int i = 0; i < streams && !error; i++) error = open_buffer(&b[i], chunk * 4);
    for (size_t first = 0, i = 0; first < n && !error; first += chunk, i++) {
        const size_t here = n - first < chunk ? n - first : chunk;
        error = send(s, &b[i % (size_t)streams], h_out + first, h_in + first, here, iterations);
    }
    cudaError_t done = cudaStreamSynchronize(s.out);
    if (!error) error = done;
    for (int i = 0; b && i < streams; i++) close_buffer(&b[i]);
    cudaStreamDestroy(s.in);
    cudaStreamDestroy(s.work);
    cudaStreamDestroy(s.out);
    free(b);
    return error;
}
