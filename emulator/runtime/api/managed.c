/*
 * managed.c: managed memory: one address, valid on both sides (shared.c). The place of its pages
 * does not matter here, so advice and prefetching are checked and ignored.
 */
#include "api.h"

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags)
{
    if (!pointer || !bytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter_unless_capturing();
    if (!error) error = shared_alloc(pointer, bytes, SHARED_MANAGED, flags);
    return runtime_leave(error);
}

static bool is_managed(const void *pointer, size_t bytes)
{
    enum shared_kind kind = shared_kind_of(pointer);

    return (kind == SHARED_MANAGED || kind == SHARED_VARIABLE) && shared_holds(pointer, bytes);
}

static cudaError_t check_managed(const void *pointer, size_t bytes)
{
    cudaError_t error = runtime_enter();

    if (!error && !is_managed(pointer, bytes)) error = cudaErrorInvalidValue;
    return runtime_leave(error);
}

static bool is_place(struct cudaMemLocation location)
{
    return location.type != cudaMemLocationTypeDevice || device_exists(location.id);
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return error_keep(cudaErrorInvalidValue);
    if (!is_place(location)) return error_keep(cudaErrorInvalidDevice);
    return check_managed(pointer, bytes);
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream)
{
    if (flags) return error_keep(cudaErrorInvalidValue);
    if (!is_place(location)) return error_keep(cudaErrorInvalidDevice);
    if (!stream_is_valid(stream)) return error_keep(cudaErrorInvalidResourceHandle);
    return check_managed(pointer, bytes);
}
PER_THREAD_STREAM(cudaMemPrefetchAsync);

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned int flags)
{
    unsigned known = cudaMemAttachGlobal | cudaMemAttachHost | cudaMemAttachSingle;

    if (flags & ~known) return error_keep(cudaErrorInvalidValue);
    if (!stream_is_valid(stream)) return error_keep(cudaErrorInvalidResourceHandle);
    return check_managed(pointer, bytes);
}
PER_THREAD_STREAM(cudaStreamAttachMemAsync);
