/*
 * memcpy.c: cudaMemcpy in all its forms. Every form is a box of rows: memory/copy.c.
 */
#include "api.h"

cudaError_t copy_submit(const struct cudaMemcpy3DParms *p, cudaStream_t stream, bool waits)
{
    struct work work = {.type = cudaGraphNodeTypeMemcpy};
    cudaError_t error = waits ? runtime_enter_unless_capturing() : runtime_enter();

    work.copy = *p;
    work.ordinal = runtime.ordinal;
    if (!error && !stream_is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) error = copy_check(p);
    if (!error && waits && order_is_staged(p)) order_host_waits_for_stream(stream);
    if (!error && copy_bytes(p))
        error = waits ? stream_submit(stream, &work) : async_copy(stream, &work);
    if (!error && waits) async_waited();
    if (!error && waits && !order_is_staged(p)) order_host_waits_for_stream(stream);
    return runtime_leave(error);
}

/* ---- the API --------------------------------------------------------------------------------- */

static struct cudaPitchedPtr pitched(const void *pointer, size_t pitch, size_t height)
{
    return (struct cudaPitchedPtr){(void *)pointer, pitch, pitch, height};
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = copy_row(to, from, bytes, kind);

    return copy_submit(&p, 0, true);
}
PER_THREAD_MEMORY(cudaMemcpy);

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    struct cudaMemcpy3DParms p = copy_row(to, from, bytes, kind);

    return copy_submit(&p, stream, false);
}
PER_THREAD_STREAM(cudaMemcpyAsync);

static cudaError_t copy_plane(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream, bool waits)
{
    struct cudaMemcpy3DParms p = {.srcPtr = pitched(from, from_pitch, height),
                                  .dstPtr = pitched(to, to_pitch, height),
                                  .extent = {width, height, 1},
                                  .kind = kind};

    if (to_pitch < width || from_pitch < width) return error_keep(cudaErrorInvalidPitchValue);
    return copy_submit(&p, stream, waits);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_plane(to, to_pitch, from, from_pitch, width, height, kind, 0, true);
}
PER_THREAD_MEMORY(cudaMemcpy2D);

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return copy_plane(to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}
PER_THREAD_STREAM(cudaMemcpy2DAsync);

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return p ? copy_submit(p, 0, true) : error_keep(cudaErrorInvalidValue);
}
PER_THREAD_MEMORY(cudaMemcpy3D);

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return p ? copy_submit(p, stream, false) : error_keep(cudaErrorInvalidValue);
}
PER_THREAD_STREAM(cudaMemcpy3DAsync);

/* ---- between devices ------------------------------------------------------------------------- */

/** Where memory lies is seen from its address; the program must say the same. */
static bool is_on(const void *pointer, int ordinal)
{
    return !is_device_address(pointer) || device_of(pointer) == ordinal;
}

static cudaError_t check_peers(const void *to, int to_device, const void *from, int from_device)
{
    if (!device_exists(to_device) || !device_exists(from_device)) return cudaErrorInvalidDevice;
    return is_on(to, to_device) && is_on(from, from_device) ? cudaSuccess : cudaErrorInvalidValue;
}

/** One that waits does so for all work of the devices, in whatever streams. */
static cudaError_t submit_peer(const struct cudaMemcpy3DParms *p, cudaStream_t stream, bool waits)
{
    runtime_lock();
    if (waits) order_host_waits_for_all();
    runtime_unlock();
    return copy_submit(p, stream, waits);
}

static cudaError_t copy_peer(void *to, int to_device, const void *from, int from_device,
                             size_t bytes, cudaStream_t stream, bool waits)
{
    struct cudaMemcpy3DParms p = copy_row(to, from, bytes, cudaMemcpyDeviceToDevice);
    cudaError_t error = check_peers(to, to_device, from, from_device);

    return error ? error_keep(error) : submit_peer(&p, stream, waits);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return copy_peer(to, to_device, from, from_device, bytes, 0, true);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    return copy_peer(to, to_device, from, from_device, bytes, stream, false);
}

static cudaError_t copy_peer_box(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream,
                                 bool waits)
{
    if (!p) return error_keep(cudaErrorInvalidValue);
    struct cudaMemcpy3DParms box = {.srcArray = p->srcArray,
                                    .srcPos = p->srcPos,
                                    .srcPtr = p->srcPtr,
                                    .dstArray = p->dstArray,
                                    .dstPos = p->dstPos,
                                    .dstPtr = p->dstPtr,
                                    .extent = p->extent,
                                    .kind = cudaMemcpyDeviceToDevice};
    cudaError_t error = check_peers(p->dstPtr.ptr, p->dstDevice, p->srcPtr.ptr, p->srcDevice);
    return error ? error_keep(error) : submit_peer(&box, stream, waits);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return copy_peer_box(p, 0, true);
}
PER_THREAD_MEMORY(cudaMemcpy3DPeer);

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy_peer_box(p, stream, false);
}
PER_THREAD_STREAM(cudaMemcpy3DPeerAsync);

/** Many copies in one call: they run one after the other, up to the first that fails. */
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes,
                                 size_t count, struct cudaMemcpyAttributes *attributes,
                                 size_t *attribute_indices, size_t attribute_count,
                                 cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;

    (void)attributes, (void)attribute_indices, (void)attribute_count;
    if (!to || !from || !bytes || !count || !stream) return error_keep(cudaErrorInvalidValue);
    for (size_t i = 0; i < count && !error; i++)
        error = cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, stream);
    return error;
}
PER_THREAD_STREAM(cudaMemcpyBatchAsync);
