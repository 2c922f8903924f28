/*
 * pinned.c: page-locked host memory. Here any host memory copies at the same speed, so it is plain
 * memory and a note of where it lies, for those who ask. Kernels cannot touch it, except when it
 * was allocated with cudaHostAllocMapped; then it is managed memory.
 */
#include "runtime.h"

#include <stdlib.h>

struct pinned {
    struct pinned *next;
    void *start;
    size_t bytes;
    unsigned flags;
    bool registered; /* the program's own memory, only pinned by us */
};

static struct pinned *all;

static struct pinned *around(const void *pointer)
{
    for (struct pinned *p = all; p; p = p->next)
        if ((uintptr_t)pointer - (uintptr_t)p->start < p->bytes) return p;
    return NULL;
}

bool pinned_contains(const void *pointer)
{
    return around(pointer) != NULL;
}

static cudaError_t remember(void *start, size_t bytes, unsigned flags, bool registered)
{
    struct pinned *pinned = malloc(sizeof *pinned);

    if (!pinned) return cudaErrorMemoryAllocation;
    *pinned = (struct pinned){all, start, bytes, flags, registered};
    all = pinned;
    return cudaSuccess;
}

/** @return whether a note that starts at `start` was found and thrown away. */
static bool forget(const void *start, bool registered)
{
    for (struct pinned **at = &all; *at; at = &(*at)->next) {
        struct pinned *pinned = *at;
        if (pinned->start != start || pinned->registered != registered) continue;
        *at = pinned->next;
        free(pinned);
        return true;
    }
    return false;
}

static cudaError_t allocate(void **pointer, size_t bytes, unsigned flags)
{
    *pointer = NULL;
    if (!bytes) return cudaSuccess;
    if (flags & cudaHostAllocMapped) return managed_alloc(pointer, bytes, true);
    void *memory = malloc(bytes);
    if (!memory || remember(memory, bytes, flags, false)) {
        free(memory);
        return cudaErrorMemoryAllocation;
    }
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;

    if (!pointer || (flags & ~known)) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = allocate(pointer, bytes, flags);
    return runtime_leave(error);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

static cudaError_t release(void *pointer)
{
    if (!pointer) return cudaSuccess;
    if (managed_kind_of(pointer) == MANAGED_PINNED_HOST && managed_forget(pointer))
        return error_from_device(device_free(runtime.device, address_of(pointer)));
    if (!forget(pointer, false)) return cudaErrorInvalidValue;
    free(pointer);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *pointer)
{
    cudaError_t error = runtime_enter();

    if (!error) error = release(pointer);
    return runtime_leave(error);
}

/** cudaHostRegisterMapped cannot be honoured: the device does not see the host's memory. */
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    if (!pointer || !bytes || is_device_address(pointer)) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && (flags & cudaHostRegisterMapped)) error = cudaErrorNotSupported;
    if (!error && around(pointer)) error = cudaErrorHostMemoryAlreadyRegistered;
    if (!error) error = remember(pointer, bytes, flags, true);
    return runtime_leave(error);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    cudaError_t error = runtime_enter();

    if (!error && !forget(pointer, true)) error = cudaErrorHostMemoryNotRegistered;
    return runtime_leave(error);
}

/** @return cudaErrorNotSupported for pinned memory that was not allocated as mapped. */
cudaError_t cudaHostGetDevicePointer(void **device_pointer, void *host_pointer, unsigned int flags)
{
    if (!device_pointer || flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && managed_kind_of(host_pointer) != MANAGED_PINNED_HOST)
        error = around(host_pointer) ? cudaErrorNotSupported : cudaErrorInvalidValue;
    if (!error) *device_pointer = host_pointer;
    return runtime_leave(error);
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *pointer)
{
    if (!flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    const struct pinned *pinned = around(pointer);
    if (!error && managed_kind_of(pointer) == MANAGED_PINNED_HOST)
        *flags = cudaHostAllocMapped;
    else if (!error && pinned)
        *flags = pinned->flags;
    else if (!error)
        error = cudaErrorInvalidValue;
    return runtime_leave(error);
}
