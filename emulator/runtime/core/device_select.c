/*
 * device_select.c: how many devices there are and which of them a thread uses. They share no
 * memory: no device is a peer of another; the devices copy between them.
 */
#include "runtime.h"

bool device_exists(int ordinal)
{
    return ordinal >= 0 && ordinal < option_devices();
}

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count) return error_keep(cudaErrorInvalidValue);
    *count = option_devices();
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *ordinal)
{
    if (!ordinal) return error_keep(cudaErrorInvalidValue);
    *ordinal = device_current();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int ordinal)
{
    if (!device_exists(ordinal)) return error_keep(cudaErrorInvalidDevice);
    device_choose(ordinal);
    return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int *ordinals, int count)
{
    if (!ordinals && count) return error_keep(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++)
        if (!device_exists(ordinals[i])) return error_keep(cudaErrorInvalidDevice);
    if (count) device_choose(ordinals[0]);
    return cudaSuccess;
}

/** A device is no peer of itself. */
cudaError_t cudaDeviceCanAccessPeer(int *can, int ordinal, int peer)
{
    if (!can) return error_keep(cudaErrorInvalidValue);
    if (!device_exists(ordinal) || !device_exists(peer)) return error_keep(cudaErrorInvalidDevice);
    *can = 0;
    return cudaSuccess;
}

static bool is_other(int peer)
{
    return device_exists(peer) && peer != device_current();
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    if (flags) return error_keep(cudaErrorInvalidValue);
    return error_keep(is_other(peer) ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return error_keep(is_other(peer) ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

/** Nothing can be done between two devices but copying. */
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    if (!value || attribute < cudaDevP2PAttrPerformanceRank)
        return error_keep(cudaErrorInvalidValue);
    if (!device_exists(from) || !device_exists(to) || from == to)
        return error_keep(cudaErrorInvalidDevice);
    *value = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
                                               const enum cudaAtomicOperation *operations,
                                               unsigned int count, int from, int to)
{
    if (!capabilities || !operations || !count) return error_keep(cudaErrorInvalidValue);
    if (!device_exists(from) || !device_exists(to)) return error_keep(cudaErrorInvalidDevice);
    for (unsigned i = 0; i < count; i++) capabilities[i] = 0;
    return cudaSuccess;
}
