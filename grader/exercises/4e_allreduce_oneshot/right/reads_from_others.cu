// RIGHT: each GPU shows its array to the others, which read it; volatile flags behind fences
/* The other direction: who reads over a link waits for every answer, so it is slower. A GPU writes
 * nothing to another one but a flag for each block. */
#include "4e_allreduce_oneshot/allreduce_oneshot.h"

#include <stdlib.h>
#include <string.h>

#define WIDE 256
#define HIGH 16

/* In the memory of one GPU. */
struct box {
    float half[2][ONESHOT_FLOATS];
    volatile unsigned seen[ONESHOT_GPUS][HIGH]; /* by whose array is shown */
};

struct boxes {
    box *of[ONESHOT_GPUS];
};

struct oneshot {
    boxes all;
    int gpus;
    unsigned epoch[ONESHOT_GPUS];
};

__global__ static void show_and_sum(float *x, size_t n, bool mean, int me, int gpus, boxes all,
                                    unsigned epoch);

static cudaError_t make_box(oneshot *o, int gpu)
{
    cudaError_t error = cudaSetDevice(gpu);
    for (int peer = 0; peer < o->gpus; peer++) {
        if (error != cudaSuccess) return error;
        if (peer == gpu) continue;
        error = cudaDeviceEnablePeerAccess(peer, 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled) {
            (void)cudaGetLastError();
            error = cudaSuccess;
        }
    }
    if (error == cudaSuccess) error = cudaMalloc((void **)&o->all.of[gpu], sizeof(box));
    if (error == cudaSuccess)
        error = cudaMemset((void *)o->all.of[gpu]->seen, 0, sizeof o->all.of[gpu]->seen);
    cudaFuncAttributes loaded; /* not by a launch, which would wait for kernels that wait */
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&loaded, (const void *)show_and_sum);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

cudaError_t oneshot_close(oneshot *o)
{
    cudaError_t first = cudaSuccess;
    if (o == NULL) return first;
    for (int g = 0; g < ONESHOT_GPUS; g++) {
        if (o->all.of[g] == NULL) continue;
        const cudaError_t error = cudaFree(o->all.of[g]);
        if (first == cudaSuccess) first = error;
    }
    free(o);
    return first;
}

cudaError_t oneshot_open(oneshot **result, int gpus)
{
    int there = 0, before = 0;
    *result = NULL;
    if (gpus <= 0 || gpus > ONESHOT_GPUS) return cudaErrorInvalidValue;
    cudaError_t error = cudaGetDeviceCount(&there);
    if (error != cudaSuccess) return error;
    if (there < gpus) return cudaErrorInvalidDevice;
    if ((error = cudaGetDevice(&before)) != cudaSuccess) return error;
    oneshot *o = (oneshot *)malloc(sizeof *o);
    if (o == NULL) return cudaErrorMemoryAllocation;
    memset(o, 0, sizeof *o);
    o->gpus = gpus;
    for (int g = 0; g < gpus && error == cudaSuccess; g++) error = make_box(o, g);
    const cudaError_t restored = cudaSetDevice(before);
    if (error == cudaSuccess) error = restored;
    if (error == cudaSuccess)
        *result = o;
    else
        oneshot_close(o);
    return error;
}

/* Block k of a GPU reads what blocks k of the others have shown. */
__global__ static void show_and_sum(float *x, size_t n, bool mean, int me, int gpus, boxes all,
                                    unsigned epoch)
{
    const size_t each = (n + gridDim.x - 1) / gridDim.x, begin = each * blockIdx.x;
    const size_t end = begin + each < n ? begin + each : n;
    float *shown = all.of[me]->half[epoch & 1];
    for (size_t i = begin + threadIdx.x; i < end; i += WIDE) shown[i] = x[i];
    __threadfence_system();
    __syncthreads();
    for (int g = threadIdx.x; g < gpus; g += WIDE) {
        if (g == me) continue;
        all.of[g]->seen[me][blockIdx.x] = epoch;
        while ((int)(epoch - all.of[me]->seen[g][blockIdx.x]) > 0) {
        }
        __threadfence_system();
    }
    __syncthreads();
    for (size_t i = begin + threadIdx.x; i < end; i += WIDE) {
        float sum = all.of[0]->half[epoch & 1][i];
        for (int g = 1; g < gpus; g++) sum += all.of[g]->half[epoch & 1][i];
        x[i] = mean ? sum / gpus : sum;
    }
}

cudaError_t allreduce_oneshot_part(oneshot *o, int gpu, float *buffer, size_t n, allreduce_op op,
                                   cudaStream_t stream)
{
    int before = 0;
    if (gpu < 0 || gpu >= o->gpus || n > ONESHOT_FLOATS) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    cudaError_t error = cudaGetDevice(&before);
    if (error == cudaSuccess) error = cudaSetDevice(gpu);
    if (error != cudaSuccess) return error;
    const size_t full = (n + WIDE - 1) / WIDE, blocks = full > HIGH ? HIGH : full;
    o->epoch[gpu]++;
    show_and_sum<<<(unsigned)blocks, WIDE, 0, stream>>>(buffer, n, op == ALLREDUCE_MEAN, gpu,
                                                        o->gpus, o->all, o->epoch[gpu]);
    error = cudaGetLastError();
    const cudaError_t restored = cudaSetDevice(before);
    return error == cudaSuccess ? restored : error;
}

cudaError_t allreduce_oneshot(oneshot *o, float *const *buffers, size_t n, allreduce_op op,
                              const cudaStream_t *streams)
{
    for (int g = 0; g < o->gpus; g++) {
        const cudaError_t error = allreduce_oneshot_part(o, g, buffers[g], n, op, streams[g]);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
