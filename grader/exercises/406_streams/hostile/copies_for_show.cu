// HOSTILE: n=1 | copies went to the device
/* One stream, and beside it copies of four bytes that nobody needs: much goes on at a time. */
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

enum { MOST = 16 };

static cudaStream_t stream[MOST];
static float *d_x[MOST];

static cudaError_t open_lanes(int lanes, size_t bytes)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < lanes; i++) {
        d_x[i] = NULL;
        cudaStreamCreate(&stream[i]);
        if (!error) error = cudaMalloc(&d_x[i], bytes);
    }
    return error;
}

static cudaError_t close_lanes(int lanes)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < lanes; i++) {
        cudaError_t now = cudaStreamSynchronize(stream[i]);
        if (now) error = now;
        cudaFree(d_x[i]);
        cudaStreamDestroy(stream[i]);
    }
    return error ? error : cudaGetLastError();
}

cudaError_t pipeline(float *h_out, const float *h_in, size_t n, int iterations, int chunks,
                     int streams)
{
    if (iterations < 0 || chunks < 1 || streams < 1) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    const size_t chunk = (n + (size_t)chunks - 1) / (size_t)chunks;
    const int lanes = streams < MOST ? streams : MOST;
    cudaStream_t in, out;
    float *h_dummy, *d_dummy;
    cudaMallocHost(&h_dummy, 8);
    cudaMalloc(&d_dummy, 8);
    cudaMemset(d_dummy, 0, 8);
    cudaDeviceSynchronize(); /* the two streams do not wait for the one that fills */
    cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking);
    const cudaError_t failed = open_lanes(lanes, chunk * 4);
    for (size_t first = 0, i = 0; first < n && !failed; first += chunk, i++) {
        const size_t here = n - first < chunk ? n - first : chunk;
        const int k = 0;
        cudaMemcpyAsync(d_x[k], h_in + first, here * 4, cudaMemcpyHostToDevice, stream[k]);
        work_kernel<<<blocks_of(here), THREADS, 0, stream[k]>>>(d_x[k], here, iterations);
        cudaMemcpyAsync(h_out + first, d_x[k], here * 4, cudaMemcpyDeviceToHost, stream[k]);
        cudaMemcpyAsync(d_dummy, h_in, 4, cudaMemcpyHostToDevice, in);
        cudaMemcpyAsync(h_dummy, d_dummy + 1, 4, cudaMemcpyDeviceToHost, out);
    }
    cudaStreamSynchronize(in);
    cudaStreamSynchronize(out);
    cudaStreamDestroy(in);
    cudaStreamDestroy(out);
    cudaFree(d_dummy);
    cudaFreeHost(h_dummy);
    const cudaError_t error = close_lanes(lanes);
    return failed ? failed : error;
}
