/*
 * settings.c: which device is current, and the knobs of a device. There is one device, number 0;
 * most knobs have nothing to turn here, so they are checked, remembered and otherwise ignored.
 */
#include "runtime.h"

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count) return error_keep(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *ordinal)
{
    if (!ordinal) return error_keep(cudaErrorInvalidValue);
    *ordinal = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int ordinal)
{
    return error_keep(ordinal == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaSetValidDevices(int *ordinals, int count)
{
    for (int i = 0; i < count; i++)
        if (ordinals[i] != 0) return error_keep(cudaErrorInvalidDevice);
    return cudaSuccess;
}

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

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if (limit >= LIMITS) return error_keep(cudaErrorInvalidValue);
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

/** A device is no peer of itself, and there is no other. */
cudaError_t cudaDeviceCanAccessPeer(int *can, int ordinal, int peer)
{
    if (!can) return error_keep(cudaErrorInvalidValue);
    if (ordinal != 0 || peer != 0) return error_keep(cudaErrorInvalidDevice);
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)flags;
    return error_keep(peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return error_keep(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
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
