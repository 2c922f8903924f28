/*
 * pool.c: memory pools. Memory comes from the device and goes back to it at once, so a pool keeps
 * nothing but the attributes that the program sets.
 */
#include "runtime.h"

#include <stdlib.h>

#define ATTRIBUTES 16

struct CUmemPoolHandle_st {
    struct handle handle;
    uint64_t attributes[ATTRIBUTES]; /* by cudaMemPoolAttr */
};

static struct handle *pools;
static struct CUmemPoolHandle_st default_pool = {
    .attributes = {[cudaMemPoolReuseFollowEventDependencies] = 1,
                   [cudaMemPoolReuseAllowOpportunistic] = 1,
                   [cudaMemPoolReuseAllowInternalDependencies] = 1}};

static bool is_pool(cudaMemPool_t pool)
{
    return pool == &default_pool || handle_lives(&pools, pool);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int ordinal)
{
    if (!pool) return error_keep(cudaErrorInvalidValue);
    if (ordinal != 0) return error_keep(cudaErrorInvalidDevice);
    *pool = &default_pool;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int ordinal)
{
    return cudaDeviceGetDefaultMemPool(pool, ordinal);
}

cudaError_t cudaDeviceSetMemPool(int ordinal, cudaMemPool_t pool)
{
    if (ordinal != 0) return error_keep(cudaErrorInvalidDevice);
    return is_pool(pool) ? cudaSuccess : error_keep(cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    if (!pool || !properties) return error_keep(cudaErrorInvalidValue);
    struct CUmemPoolHandle_st *new_pool = malloc(sizeof *new_pool);
    if (!new_pool) return error_keep(cudaErrorMemoryAllocation);
    *new_pool = default_pool;
    handle_add(&pools, &new_pool->handle);
    *pool = new_pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    if (!handle_remove(&pools, pool)) return error_keep(cudaErrorInvalidValue);
    free(pool);
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    (void)bytes;
    return is_pool(pool) ? cudaSuccess : error_keep(cudaErrorInvalidValue);
}

/** The reuse policies are ints, the rest are 64-bit numbers. */
static bool is_int(enum cudaMemPoolAttr attribute)
{
    return attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    if (!is_pool(pool) || !value || attribute >= ATTRIBUTES)
        return error_keep(cudaErrorInvalidValue);
    pool->attributes[attribute] =
        is_int(attribute) ? (uint64_t)(*(const int *)value) : *(const uint64_t *)value;
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    if (!is_pool(pool) || !value || attribute >= ATTRIBUTES)
        return error_keep(cudaErrorInvalidValue);
    if (is_int(attribute))
        *(int *)value = (int)pool->attributes[attribute];
    else
        *(uint64_t *)value = pool->attributes[attribute];
    return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    if (!is_pool(pool)) return error_keep(cudaErrorInvalidValue);
    return cudaMallocAsync(pointer, bytes, stream);
}
PER_THREAD_STREAM(cudaMallocFromPoolAsync);
