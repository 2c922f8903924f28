/*
 * pinned.c: page-locked host memory. Here any host memory copies at the same speed; what counts is
 * that the host need not wait for copies of it (order.c), and that kernels can touch it: what
 * cudaMallocHost gives lies in shared.c's memory, and what the program registers is admitted at its
 * own address, unless the device is in another process.
 */
#include "runtime/core/runtime.h"

#include <stdlib.h>

/* Memory of the program's own that it has registered. */
struct registered {
    struct registered *next;
    void *start;
    size_t bytes;
    unsigned flags;
};

static struct registered *all;

static struct registered *around(const void *pointer)
{
    for (struct registered *p = all; p; p = p->next)
        if ((uintptr_t)pointer - (uintptr_t)p->start < p->bytes) return p;
    return NULL;
}

bool pinned_contains(const void *pointer)
{
    return around(pointer) || shared_kind_of(pointer) == SHARED_PINNED;
}

/** To be copied it need not be admitted. */
static cudaError_t show(device *device, const struct registered *p)
{
    if (!device) return cudaSuccess;
    device_status status = device_admit(device, address_of(p->start), p->bytes);
    if (status == DEVICE_UNSUPPORTED && !(p->flags & cudaHostRegisterMapped)) return cudaSuccess;
    return error_from_device(status);
}

void pinned_show_all(device *device)
{
    for (const struct registered *p = all; p; p = p->next) show(device, p);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;

    if (!pointer || (flags & ~known)) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter_unless_capturing();
    if (!error) *pointer = NULL;
    if (!error && bytes) error = shared_alloc(pointer, bytes, SHARED_PINNED, flags);
    return runtime_leave(error);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *pointer)
{
    cudaError_t error = runtime_enter_unless_capturing();

    if (!error && pointer) late_freeing(pointer);
    if (!error && pointer && !shared_free(pointer, SHARED_PINNED)) error = memory_bad_free(pointer);
    return runtime_leave(error);
}

static cudaError_t remember(void *start, size_t bytes, unsigned flags)
{
    struct registered *p = malloc(sizeof *p);
    cudaError_t error = cudaSuccess;

    if (!p) return cudaErrorMemoryAllocation;
    *p = (struct registered){all, start, bytes, flags};
    for (int i = 0; i < option_devices() && !error; i++) error = show(runtime.context[i].device, p);
    if (error)
        free(p);
    else
        all = p;
    return error;
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;

    if (!pointer || !bytes || is_device_address(pointer)) return error_keep(cudaErrorInvalidValue);
    if (flags & cudaHostRegisterIoMemory) return error_keep(cudaErrorNotSupported);
    if (flags & ~known) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter_unless_capturing();
    if (!error && pinned_contains(pointer)) error = cudaErrorHostMemoryAlreadyRegistered;
    if (!error) error = remember(pointer, bytes, flags);
    return runtime_leave(error);
}

/** @return whether memory that was registered from `start` on was found and let go. */
static bool forget(const void *start)
{
    for (struct registered **at = &all; *at; at = &(*at)->next) {
        struct registered *p = *at;
        if (p->start != start) continue;
        for (int i = 0; i < option_devices(); i++) {
            device *device = runtime.context[i].device;
            if (device) device_dismiss(device, address_of(start));
        }
        *at = p->next;
        free(p);
        return true;
    }
    return false;
}

cudaError_t cudaHostUnregister(void *pointer)
{
    cudaError_t error = pointer ? runtime_enter_unless_capturing() : cudaErrorInvalidValue;

    if (!pointer) return error_keep(error);
    if (!error && !forget(pointer)) error = cudaErrorHostMemoryNotRegistered;
    return runtime_leave(error);
}

/** With unified addressing both sides use the same address. */
cudaError_t cudaHostGetDevicePointer(void **device_pointer, void *host_pointer, unsigned int flags)
{
    if (!device_pointer || !host_pointer || flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !pinned_contains(host_pointer)) error = cudaErrorInvalidValue;
    if (!error) *device_pointer = host_pointer;
    return runtime_leave(error);
}

/** Memory that was registered has flags of its own, which cudaHostAlloc's do not resemble. */
cudaError_t cudaHostGetFlags(unsigned int *flags, void *pointer)
{
    if (!flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    const struct registered *p = around(pointer);
    if (!error && shared_kind_of(pointer) == SHARED_PINNED)
        *flags = shared_flags(pointer) | cudaHostAllocMapped;
    else if (!error && p)
        *flags = p->flags | cudaHostRegisterMapped;
    else if (!error)
        error = cudaErrorInvalidValue;
    return runtime_leave(error);
}
