/*
 * pointer.c: cudaPointerGetAttributes: whose memory is this?
 */
#include "runtime.h"

enum { NO_DEVICE = -2 }; /* what CUDA says of memory that it does not know */

static bool is_allocated(const void *pointer)
{
    device_address base;
    uint64_t bytes;

    return runtime.device && is_device_address(pointer) &&
           !device_find(runtime.device, address_of(pointer), &base, &bytes);
}

static enum cudaMemoryType type_of(const void *pointer)
{
    enum managed_kind kind = managed_kind_of(pointer);

    if (kind == MANAGED_MEMORY) return cudaMemoryTypeManaged;
    if (kind == MANAGED_PINNED_HOST || pinned_contains(pointer)) return cudaMemoryTypeHost;
    return is_allocated(pointer) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
}

/** Legal after a fault, as on a GPU. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    if (!attributes) return error_keep(cudaErrorInvalidValue);
    runtime_lock();
    enum cudaMemoryType type = type_of(pointer);
    bool on_device = is_device_address(pointer) && type != cudaMemoryTypeUnregistered;
    bool on_host = type != cudaMemoryTypeDevice;
    runtime_unlock();

    *attributes = (struct cudaPointerAttributes){
        .type = type,
        .device = type == cudaMemoryTypeUnregistered ? NO_DEVICE : 0,
        .devicePointer = on_device ? (void *)pointer : NULL,
        .hostPointer = on_host ? (void *)pointer : NULL,
    };
    return cudaSuccess;
}
