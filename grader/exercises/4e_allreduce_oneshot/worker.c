/* worker.c: sums of 4e in a row, and parts in another order than that of the GPUs. */
#ifdef WITH_CUDA
#include "worker/worker.h"

#include <cuda_runtime_api.h>

enum { GPUS_MOST = 8 };

typedef cudaError_t all_function(void *, float *const *, size_t, int, const cudaStream_t *);
typedef cudaError_t part_function(void *, int, float *, size_t, int, cudaStream_t);

/* Of all elements, of the second third of them, at other addresses, and of all again. The device
 * that is the current one before, and shall be afterwards, is the last one for means, else 0. */
static cudaError_t oneshot_in_a_row(void *o, float *const *buffers, size_t n, int op,
                                    const cudaStream_t *streams, int gpus, int *h_current)
{
    float *second[GPUS_MOST];
    all_function *all = (all_function *)code_function("allreduce_oneshot");
    if (!all) return cudaErrorSymbolNotFound;
    for (int g = 0; g < gpus; g++) second[g] = buffers[g] + n / 3;
    cudaError_t error = cudaSetDevice(op ? gpus - 1 : 0);
    if (!error) error = all(o, buffers, n, op, streams);
    if (!error) error = all(o, second, n / 3, op, streams);
    if (!error) error = all(o, buffers, n, op, streams);
    if (!error) error = cudaGetDevice(h_current);
    return error;
}

WORKER_FUNCTION(oneshot_in_a_row);

/* Each sum begins with the GPU with which the one before has ended: it is ahead of all others. */
static cudaError_t oneshot_ahead(void *o, float *const *buffers, size_t n, int op,
                                 const cudaStream_t *streams, int gpus, int sums)
{
    part_function *part = (part_function *)code_function("allreduce_oneshot_part");
    cudaError_t error = part ? cudaSuccess : cudaErrorSymbolNotFound;
    for (int s = 0; s < sums; s++)
        for (int i = 0; i < gpus && !error; i++) {
            const int g = s % 2 ? gpus - 1 - i : i;
            error = part(o, g, buffers[g], n, op, streams[g]);
        }
    return error;
}

WORKER_FUNCTION(oneshot_ahead);

/* @param current the device that is the current one before, and shall be afterwards */
static cudaError_t oneshot_open_from(void **o, int gpus, int current, int *h_current)
{
    cudaError_t (*open)(void **, int) = (cudaError_t(*)(void **, int))code_function("oneshot_open");
    if (!open) return cudaErrorSymbolNotFound;
    cudaError_t error = cudaSetDevice(current);
    if (!error) error = open(o, gpus);
    const cudaError_t got = cudaGetDevice(h_current);
    return error ? error : got;
}

WORKER_FUNCTION(oneshot_open_from);
#endif
