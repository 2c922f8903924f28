/*
 * settings.c: the settings of a device. Most have no effect here, so they are checked, stored and
 * otherwise ignored.
 */
#include "claims.h"

static unsigned device_flags = cudaDeviceMapHost;

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    unsigned schedule = flags & cudaDeviceScheduleMask; /* at most one way to wait */

    if ((flags & ~(unsigned)cudaDeviceMask) || (schedule & (schedule - 1)))
        return error_keep(cudaErrorInvalidValue);
    device_flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    if (!flags) return error_keep(cudaErrorInvalidValue);
    *flags = device_flags;
    return cudaSuccess;
}

#define LIMITS (cudaLimitPersistingL2CacheSize + 1)

static size_t limits[LIMITS] = {
    [cudaLimitStackSize] = 1 << 10,
    [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimeSyncDepth] = 2,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
};

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (!value || limit >= LIMITS) return error_keep(cudaErrorInvalidValue);
    *value = limits[limit];
    return cudaSuccess;
}

/** Of all devices that are there: a program sets it before its first kernel. */
static cudaError_t limit_heap(size_t value)
{
    cudaError_t error = runtime_enter();

    limits[cudaLimitMallocHeapSize] = value;
    for (int i = 0; i < MAX_DEVICES; i++)
        if (runtime.context[i].device) device_limit_heap(runtime.context[i].device, value);
    return runtime_leave(error);
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if (limit >= LIMITS) return error_keep(cudaErrorInvalidValue);
    if (limit == cudaLimitMallocHeapSize) return limit_heap(value);
    limits[limit] = value;
    return cudaSuccess;
}

static enum cudaFuncCache cache_config = cudaFuncCachePreferNone;

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    if (config > cudaFuncCachePreferEqual) return error_keep(cudaErrorInvalidValue);
    cache_config = config;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    if (!config) return error_keep(cudaErrorInvalidValue);
    *config = cache_config;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    if (!config) return error_keep(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}
