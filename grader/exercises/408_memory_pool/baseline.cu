/* baseline.cu: what 408 is timed against: each block of a script from cudaMalloc, back to
 * cudaFree. */
#include "pool_script.h"
#include <cuda_runtime_api.h>

static cudaError_t carry_out(void *slots[POOL_SLOTS], const pool_step *step)
{
    if (step->verb == POOL_ALLOC) return cudaMalloc(&slots[step->slot], step->bytes);
    return step->verb == POOL_FREE ? cudaFree(slots[step->slot]) : cudaErrorInvalidValue;
}

extern "C" cudaError_t baseline_pool_drive(void *pool, const pool_step *script, pool_outcome *log,
                                           int count)
{
    static void *slots[POOL_SLOTS];
    cudaError_t error = cudaSuccess;
    (void)pool;
    for (int i = 0; i < count && error == cudaSuccess; i++) {
        error = carry_out(slots, &script[i]);
        log[i].address = (unsigned long long)slots[script[i].slot];
        log[i].error = error;
    }
    return error;
}
