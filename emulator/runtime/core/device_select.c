/*
 * device_select.c: how many devices there are, which of them a thread uses, and whose memory the
 * kernels of a device may touch: any other device can become its peer.
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
    *can = ordinal != peer;
    return cudaSuccess;
}

static bool is_other(int peer)
{
    return device_exists(peer) && peer != device_current();
}

/** @return whether kernels of the current device may touch that one's memory */
static bool is_peer(int peer)
{
    return runtime.context[runtime.ordinal].peers >> peer & 1;
}

static cudaError_t let(int peer, bool on)
{
    device *other = runtime_open(peer);

    if (!other) return cudaErrorInitializationError;
    const cudaError_t error = error_from_device(device_peer(runtime.device, other, on));
    if (!error) runtime.context[runtime.ordinal].peers ^= 1u << peer;
    return error;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    if (flags) return error_keep(cudaErrorInvalidValue);
    if (!is_other(peer)) return error_keep(cudaErrorInvalidDevice);
    cudaError_t error = runtime_enter();
    if (!error) error = is_peer(peer) ? cudaErrorPeerAccessAlreadyEnabled : let(peer, true);
    return runtime_leave(error);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    if (!is_other(peer)) return error_keep(cudaErrorInvalidDevice);
    cudaError_t error = runtime_enter();
    if (!error) error = is_peer(peer) ? let(peer, false) : cudaErrorPeerAccessNotEnabled;
    return runtime_leave(error);
}

/** No link is better than another, and atomics are none between devices. */
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    if (!value || attribute < cudaDevP2PAttrPerformanceRank)
        return error_keep(cudaErrorInvalidValue);
    if (!device_exists(from) || !device_exists(to) || from == to)
        return error_keep(cudaErrorInvalidDevice);
    *value = attribute == cudaDevP2PAttrAccessSupported;
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
