/*
 * 406_streams.cu: an array goes to the device, through a kernel and back, a chunk in each stream.
 *
 * The idea: a GPU has an engine that copies to it, one that copies from it, and its
 * multiprocessors. Copy, kernel, copy, one after the other, leaves two of the three idle at any
 * time. In chunks, chunk 2 can be copied in while chunk 1 is worked on and chunk 0 is copied out.
 * Work in one stream is in order, work in different streams is not: so a chunk's three steps share
 * a stream, and a stream has a buffer of its own, whose next chunk waits for the last one because
 * it comes after it in the same stream. No event is needed.
 *
 * What it removes: the time of the two shorter steps of the three. What it leaves: the longest
 * step; the first chunk's way in and the last one's way out, when nothing else runs; a few
 * microseconds for each copy and launch, so that tiny chunks lose what the overlap gains.
 */
#include "406_streams/streams.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"

#include <stdlib.h>

#define THREADS 256

/** f, `iterations` times, on each of n elements in place. */
__global__ static void work_kernel(float *x, size_t n, int iterations)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    for (int k = 0; k < iterations; k++) value -= value * value * value;
    x[i] = value;
}

/** A stream, and the buffer that only its work uses. Zeros: neither is there yet. */
typedef struct lane {
    cudaStream_t stream;
    float *d_x; /* [chunk] */
} lane;

/** l is all zeros at first. The caller calls lane_close after an error too. */
static cudaError_t lane_open(lane *l, size_t chunk)
{
    /* SOLUTION: a stream that does not wait for the legacy one, and the buffer (about 2 lines). */
    cudaError_t error = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
    return error ? error : cudaMalloc(&l->d_x, chunk * sizeof(float));
    /* END SOLUTION */
}

/** @return the first error, of the lane's work or of freeing it. */
static cudaError_t lane_close(lane *l)
{
    /* SOLUTION: wait for the stream, if there is one, and free what lane_open made, which may be
       incomplete after an error (about 5 lines). */
    cudaError_t error = l->stream ? cudaStreamSynchronize(l->stream) : cudaSuccess;
    cudaError_t freed = cudaFree(l->d_x);
    cudaError_t destroyed = l->stream ? cudaStreamDestroy(l->stream) : cudaSuccess;
    if (error) return error;
    return freed ? freed : destroyed;
    /* END SOLUTION */
}

/** One chunk: h_out[n] from h_in[n]. Waits for nothing. */
static cudaError_t send(const lane *l, float *h_out, const float *h_in, size_t n, int iterations)
{
    const unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
    const size_t bytes = n * sizeof(float);
    /* SOLUTION: copy the chunk in, work on it, copy it out: three calls that return at once, each
       with its error, all in the lane's stream (about 6 lines). */
    cudaError_t error = cudaMemcpyAsync(l->d_x, h_in, bytes, cudaMemcpyHostToDevice, l->stream);
    if (error) return error;
    work_kernel<<<blocks, THREADS, 0, l->stream>>>(l->d_x, n, iterations);
    error = cudaGetLastError();
    if (error) return error;
    return cudaMemcpyAsync(h_out, l->d_x, bytes, cudaMemcpyDeviceToHost, l->stream);
    /* END SOLUTION */
}

cudaError_t pipeline(float *h_out, const float *h_in, size_t n, int iterations, int chunks,
                     int streams)
{
    if (iterations < 0 || chunks < 1 || streams < 1) return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    const size_t chunk = (n + (size_t)chunks - 1) / (size_t)chunks;

    /* SOLUTION: an array of lanes; open them, send chunk i through lane i % streams as long as all
       goes well, and close the lanes whether it did or not, keeping the first error (about 12
       lines). */
    lane *lanes = (lane *)calloc((size_t)streams, sizeof *lanes);
    if (!lanes) return cudaErrorMemoryAllocation;
    for (int i = 0; i < streams && !error; i++) error = lane_open(&lanes[i], chunk);
    for (size_t first = 0, i = 0; first < n && !error; first += chunk, i++) {
        const size_t here = n - first < chunk ? n - first : chunk;
        error = send(&lanes[i % (size_t)streams], h_out + first, h_in + first, here, iterations);
    }
    for (int i = 0; i < streams; i++) {
        cudaError_t closed = lane_close(&lanes[i]);
        if (!error) error = closed;
    }
    free(lanes);
    /* END SOLUTION */
    return error;
}
