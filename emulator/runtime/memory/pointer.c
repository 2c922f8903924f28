/*
 * pointer.c: cudaPointerGetAttributes: whose memory is this?
 */
#include "memory.h"

enum { NO_DEVICE = -2 }; /* what CUDA says of memory that it does not know */

static bool is_allocated(const void *pointer)
{
    device_address base;
    uint64_t bytes;
    device *device = device_at(pointer);

    return device && !device_find(device, address_of(pointer), &base, &bytes);
}

static enum cudaMemoryType type_of(const void *pointer)
{
    enum shared_kind kind = shared_kind_of(pointer);

    if (kind == SHARED_MANAGED || kind == SHARED_VARIABLE) return cudaMemoryTypeManaged;
    if (pinned_contains(pointer)) return cudaMemoryTypeHost;
    return is_allocated(pointer) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
}

static struct cudaPointerAttributes attributes_of(const void *pointer)
{
    enum cudaMemoryType type = type_of(pointer);
    bool known = type != cudaMemoryTypeUnregistered, plain = type == cudaMemoryTypeDevice;

    return (struct cudaPointerAttributes){
        .type = type,
        .device = !known  ? NO_DEVICE
                  : plain ? device_of(pointer)
                          : device_current(),
        .devicePointer = known ? (void *)pointer : NULL,
        .hostPointer = plain ? NULL : (void *)pointer,
    };
}

/** Legal after a fault, as on a GPU. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    if (!attributes) return error_keep(cudaErrorInvalidValue);
    runtime_lock();
    *attributes = attributes_of(pointer);
    runtime_unlock();
    return cudaSuccess;
}
