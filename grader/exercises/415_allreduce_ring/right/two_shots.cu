// RIGHT: no ring: each GPU sums its chunk of all buffers in one kernel, and fetches the others
/* Two steps for any number of GPUs, and as many bytes as the ring; each GPU reads from all others,
 * in copies by kernels. Events are made by the call, and are none of the plan. */
#include "415_allreduce_ring/allreduce_ring.h"

#include <stdlib.h>

#define MOST 64

struct allreduce {
    int gpus;
};

struct all_buffers {
    float *of[MOST];
};

static cudaError_t see_all_others(int me, int gpus)
{
    for (int other = 0; other < gpus; other++) {
        if (other == me) continue;
        const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled)
            (void)cudaGetLastError();
        else if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

cudaError_t allreduce_open(allreduce **a, int gpus)
{
    int there, at;
    cudaError_t error;
    *a = NULL;
    if (gpus <= 0) return cudaErrorInvalidValue;
    if ((error = cudaGetDeviceCount(&there)) != cudaSuccess) return error;
    if (gpus > there || gpus > MOST) return cudaErrorInvalidDevice;
    if ((error = cudaGetDevice(&at)) != cudaSuccess) return error;
    for (int g = 0; g < gpus && error == cudaSuccess; g++) {
        error = cudaSetDevice(g);
        if (error == cudaSuccess) error = see_all_others(g, gpus);
    }
    cudaSetDevice(at);
    if (error != cudaSuccess) return error;
    *a = (allreduce *)malloc(sizeof **a);
    if (!*a) return cudaErrorMemoryAllocation;
    (*a)->gpus = gpus;
    return cudaSuccess;
}

cudaError_t allreduce_close(allreduce *a)
{
    free(a);
    return cudaSuccess;
}

static size_t begin_of(size_t n, int gpus, int chunk)
{
    return n / gpus * chunk + n % gpus * chunk / gpus;
}

__global__ static void sum_chunk(all_buffers b, int gpus, int me, size_t begin, size_t end,
                                 bool mean)
{
    const size_t i = begin + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= end) return;
    float sum = 0.0f;
    for (int g = 0; g < gpus; g++) sum += b.of[g][i];
    b.of[me][i] = mean ? sum / gpus : sum;
}

__global__ static void fetch_chunk(float *mine, const float *its, size_t begin, size_t end)
{
    const size_t i = begin + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end) mine[i] = its[i];
}

static unsigned blocks_for(size_t count)
{
    return (unsigned)((count + 511) / 512);
}

/* All wait for all. */
static cudaError_t meet(int gpus, const cudaStream_t *streams)
{
    cudaEvent_t events[MOST] = {NULL};
    cudaError_t error = cudaSuccess;
    for (int g = 0; g < gpus && error == cudaSuccess; g++) {
        error = cudaSetDevice(g);
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&events[g], cudaEventDisableTiming);
        if (error == cudaSuccess) error = cudaEventRecord(events[g], streams[g]);
    }
    for (int g = 0; g < gpus; g++)
        for (int other = 0; other < gpus && error == cudaSuccess; other++)
            if (other != g) error = cudaStreamWaitEvent(streams[g], events[other], 0);
    for (int g = 0; g < gpus; g++)
        if (events[g]) cudaEventDestroy(events[g]);
    return error;
}

static cudaError_t two_shots(const all_buffers &b, size_t n, int gpus, bool mean,
                             const cudaStream_t *streams)
{
    cudaError_t error = meet(gpus, streams);
    for (int g = 0; g < gpus && error == cudaSuccess; g++) {
        const size_t begin = begin_of(n, gpus, g), end = begin_of(n, gpus, g + 1);
        if (begin == end) continue;
        if ((error = cudaSetDevice(g)) != cudaSuccess) return error;
        sum_chunk<<<blocks_for(end - begin), 512, 0, streams[g]>>>(b, gpus, g, begin, end, mean);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) error = meet(gpus, streams);
    for (int g = 0; g < gpus && error == cudaSuccess; g++) {
        if ((error = cudaSetDevice(g)) != cudaSuccess) return error;
        for (int k = 1; k < gpus; k++) {
            const int other = (g + k) % gpus;
            const size_t begin = begin_of(n, gpus, other), end = begin_of(n, gpus, other + 1);
            if (begin == end) continue;
            fetch_chunk<<<blocks_for(end - begin), 512, 0, streams[g]>>>(b.of[g], b.of[other],
                                                                         begin, end);
            if ((error = cudaGetLastError()) != cudaSuccess) return error;
        }
    }
    return error == cudaSuccess ? meet(gpus, streams) : error;
}

cudaError_t allreduce_ring(const allreduce *a, float *const *buffers, size_t n, allreduce_op op,
                           const cudaStream_t *streams)
{
    all_buffers b;
    int at;
    if (n == 0 || a->gpus == 1) return cudaSuccess;
    for (int g = 0; g < a->gpus; g++) b.of[g] = buffers[g];
    cudaError_t error = cudaGetDevice(&at);
    if (error == cudaSuccess) error = two_shots(b, n, a->gpus, op == ALLREDUCE_MEAN, streams);
    cudaSetDevice(at);
    return error;
}
