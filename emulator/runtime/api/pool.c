/*
 * pool.c: memory pools. Memory comes from the device and goes back to it at once, so a pool keeps
 * nothing but the attributes that the program sets; how much is in use is not counted by pool.
 */
#include "api.h"

#include <stdlib.h>

#define ATTRIBUTES 16

struct CUmemPoolHandle_st {
    struct handle handle;
    uint64_t attributes[ATTRIBUTES]; /* by cudaMemPoolAttr */
    struct cudaMemLocation place;
};

#define REUSE                                                                                      \
    {                                                                                              \
        [cudaMemPoolReuseFollowEventDependencies] = 1, [cudaMemPoolReuseAllowOpportunistic] = 1,   \
        [cudaMemPoolReuseAllowInternalDependencies] = 1                                            \
    }

static struct handle *pools;
static struct CUmemPoolHandle_st default_pool[MAX_DEVICES] = {
    [0 ... MAX_DEVICES - 1] = {.attributes = REUSE}};
static cudaMemPool_t current_pool[MAX_DEVICES]; /* NULL: the default one */

static bool is_default(cudaMemPool_t pool)
{
    return pool >= default_pool && pool < default_pool + MAX_DEVICES;
}

static bool is_pool(cudaMemPool_t pool)
{
    return is_default(pool) || handle_lives(&pools, pool);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int ordinal)
{
    if (!pool) return error_keep(cudaErrorInvalidValue);
    if (!device_exists(ordinal)) return error_keep(cudaErrorInvalidDevice);
    *pool = &default_pool[ordinal];
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int ordinal)
{
    cudaError_t error = cudaDeviceGetDefaultMemPool(pool, ordinal);

    if (!error && is_pool(current_pool[ordinal])) *pool = current_pool[ordinal];
    return error;
}

cudaError_t cudaDeviceSetMemPool(int ordinal, cudaMemPool_t pool)
{
    if (!device_exists(ordinal)) return error_keep(cudaErrorInvalidDevice);
    if (!is_pool(pool)) return error_keep(cudaErrorInvalidValue);
    current_pool[ordinal] = pool;
    return cudaSuccess;
}

static bool is_place(const struct cudaMemLocation *place)
{
    return place->type == cudaMemLocationTypeDevice && device_exists(place->id);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
        !is_place(&properties->location))
        return error_keep(cudaErrorInvalidValue);
    if (properties->handleTypes != cudaMemHandleTypeNone) return error_keep(cudaErrorNotSupported);
    struct CUmemPoolHandle_st *new_pool = malloc(sizeof *new_pool);
    if (!new_pool) return error_keep(cudaErrorMemoryAllocation);
    *new_pool = (struct CUmemPoolHandle_st){.attributes = REUSE, .place = properties->location};
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

static int ordinal_of(cudaMemPool_t pool)
{
    return is_default(pool) ? (int)(pool - default_pool) : pool->place.id;
}

/** The device that has the pool, and no other, may touch its memory. */
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 struct cudaMemLocation *place)
{
    if (!flags || !place || !is_pool(pool) || !is_place(place))
        return error_keep(cudaErrorInvalidValue);
    *flags = place->id == ordinal_of(pool) ? cudaMemAccessFlagsProtReadWrite
                                           : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list,
                                 size_t count)
{
    if (!is_pool(pool) || (count && !list)) return error_keep(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        bool own = is_place(&list[i].location) && list[i].location.id == ordinal_of(pool);
        if (!own && list[i].flags != cudaMemAccessFlagsProtNone)
            return error_keep(cudaErrorInvalidDevice);
    }
    return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    if (!is_pool(pool)) return error_keep(cudaErrorInvalidValue);
    if (ordinal_of(pool) == device_current()) return cudaMallocAsync(pointer, bytes, stream);
    int was = device_current();
    device_choose(ordinal_of(pool));
    cudaError_t error = cudaMallocAsync(pointer, bytes, stream);
    device_choose(was);
    return error;
}
PER_THREAD_STREAM(cudaMallocFromPoolAsync);
