/*
 * host_memory.c: page-locked memory of the host: allocated, or registered (memory/pinned.c).
 */
#include "api.h"

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

    if (!error && pointer) async_freeing(pointer);
    if (!error && pointer && !shared_free(pointer, SHARED_PINNED)) error = memory_bad_free(pointer);
    return runtime_leave(error);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;

    if (!pointer || !bytes || is_device_address(pointer)) return error_keep(cudaErrorInvalidValue);
    if (flags & cudaHostRegisterIoMemory) return error_keep(cudaErrorNotSupported);
    if (flags & ~known) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter_unless_capturing();
    if (!error && pinned_contains(pointer)) error = cudaErrorHostMemoryAlreadyRegistered;
    if (!error) error = pinned_register(pointer, bytes, flags);
    return runtime_leave(error);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    cudaError_t error = pointer ? runtime_enter_unless_capturing() : cudaErrorInvalidValue;

    if (!pointer) return error_keep(error);
    if (!error && !pinned_unregister(pointer)) error = cudaErrorHostMemoryNotRegistered;
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
    if (!error && shared_kind_of(pointer) == SHARED_PINNED)
        *flags = shared_flags(pointer) | cudaHostAllocMapped;
    else if (!error && pinned_flags(pointer, flags))
        *flags |= cudaHostRegisterMapped;
    else if (!error)
        error = cudaErrorInvalidValue;
    return runtime_leave(error);
}
