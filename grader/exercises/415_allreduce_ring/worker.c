/* worker.c: two sums of 415 in a row, from another current device: what one process sees. */
#ifdef WITH_CUDA
#include "worker/worker.h"

#include <cuda_runtime_api.h>

typedef cudaError_t ring_function(const void *, float *const *, size_t, int, const cudaStream_t *);

/* @param current the device that is the current one before, and shall be afterwards */
static cudaError_t allreduce_twice(const void *a, float *const *buffers, size_t n, int op,
                                   const cudaStream_t *streams, int current, int *h_current)
{
    ring_function *ring = (ring_function *)code_function("allreduce_ring");
    if (!ring) return cudaErrorSymbolNotFound;
    cudaError_t error = cudaSetDevice(current);
    if (!error) error = ring(a, buffers, n, op, streams);
    if (!error) error = ring(a, buffers, n, op, streams);
    if (!error) error = cudaGetDevice(h_current);
    return error;
}

WORKER_FUNCTION(allreduce_twice);

/* @param current as above */
static cudaError_t allreduce_open_from(void **a, int gpus, int current, int *h_current)
{
    cudaError_t (*open)(void **, int) =
        (cudaError_t(*)(void **, int))code_function("allreduce_open");
    if (!open) return cudaErrorSymbolNotFound;
    cudaError_t error = cudaSetDevice(current);
    if (!error) error = open(a, gpus);
    const cudaError_t got = cudaGetDevice(h_current);
    return error ? error : got;
}

WORKER_FUNCTION(allreduce_open_from);
#endif
