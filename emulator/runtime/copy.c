/*
 * copy.c: cudaMemcpy and cudaMemset in all their forms.
 *
 * Every form is a box of rows: a plain copy has one row, a 2-D copy one layer. The side that the
 * copy's kind calls "device" must be device memory; where the other side lies is seen from its
 * address, as CUDA does with unified addressing.
 */
#include "runtime.h"

#include <string.h>

/** One side of a copy: where its rows lie. Steps are in bytes. */
struct side {
    unsigned char *start;
    size_t row_step, layer_step;
};

struct box {
    size_t width, height, depth; /* bytes, rows, layers */
};

static bool names_device(const void *to, const void *from, enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToHost: return true;
    case cudaMemcpyHostToDevice: return is_device_address(to);
    case cudaMemcpyDeviceToHost: return is_device_address(from);
    case cudaMemcpyDeviceToDevice: return is_device_address(to) && is_device_address(from);
    case cudaMemcpyDefault: return true;
    }
    return false;
}

static cudaError_t check_kind(const void *to, const void *from, enum cudaMemcpyKind kind)
{
    if (kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!to || !from || !names_device(to, from, kind)) return cudaErrorInvalidValue;
    return cudaSuccess;
}

/** Move bytes in whatever direction the two addresses say. */
static device_status move(void *to, const void *from, size_t bytes)
{
    bool to_device = is_device_address(to), from_device = is_device_address(from);
    device_status status = DEVICE_OK;

    if (from_device) managed_push(address_of(from), bytes);
    if (to_device) managed_push(address_of(to), bytes);
    if (to_device && from_device)
        status = device_copy(runtime.device, address_of(to), address_of(from), bytes);
    else if (to_device)
        status = device_write(runtime.device, address_of(to), from, bytes);
    else if (from_device)
        status = device_read(runtime.device, to, address_of(from), bytes);
    else
        memmove(to, from, bytes);
    if (to_device) managed_pull(address_of(to), bytes);
    return status;
}

cudaError_t copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if (!bytes) return cudaSuccess;
    cudaError_t error = check_kind(to, from, kind);
    return error ? error : error_from_device(move(to, from, bytes));
}

static cudaError_t copy_box(struct side to, struct side from, struct box box,
                            enum cudaMemcpyKind kind)
{
    cudaError_t error = cudaSuccess;

    for (size_t layer = 0; layer < box.depth; layer++)
        for (size_t row = 0; row < box.height && !error; row++)
            error = copy_bytes(to.start + layer * to.layer_step + row * to.row_step,
                               from.start + layer * from.layer_step + row * from.row_step,
                               box.width, kind);
    return error;
}

static struct side side_at(const void *start, size_t row_step, size_t layer_step)
{
    return (struct side){(unsigned char *)start, row_step, layer_step};
}

static cudaError_t copy(struct side to, struct side from, struct box box, enum cudaMemcpyKind kind,
                        cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error && !stream_is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error && box.height * box.depth > 1 &&
        (to.row_step < box.width || from.row_step < box.width))
        error = cudaErrorInvalidPitchValue;
    if (!error) error = copy_box(to, from, box, kind);
    if (!error) count_copy(to.start, from.start, box.width * box.height * box.depth);
    return runtime_leave(error);
}

static cudaError_t copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy(side_at(to, 0, 0), side_at(from, 0, 0), (struct box){bytes, 1, 1}, kind, stream);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_row(to, from, bytes, kind, 0);
}
PER_THREAD_MEMORY(cudaMemcpy);

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy_row(to, from, bytes, kind, stream);
}
PER_THREAD_STREAM(cudaMemcpyAsync);

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, 0);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    if (to_device || from_device) return error_keep(cudaErrorInvalidDevice);
    return copy_row(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    if (to_pitch < width || from_pitch < width) return error_keep(cudaErrorInvalidPitchValue);
    return copy(side_at(to, to_pitch, 0), side_at(from, from_pitch, 0),
                (struct box){width, height, 1}, kind, stream);
}
PER_THREAD_STREAM(cudaMemcpy2DAsync);

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, 0);
}
PER_THREAD_MEMORY(cudaMemcpy2D);

static struct side pitched_side(struct cudaPitchedPtr p, struct cudaPos at)
{
    size_t layer_step = p.pitch * p.ysize;

    return side_at((unsigned char *)p.ptr + at.z * layer_step + at.y * p.pitch + at.x, p.pitch,
                   layer_step);
}

/** Pitched pointers only: the device has no CUDA arrays. */
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    if (!p) return error_keep(cudaErrorInvalidValue);
    if (p->srcArray || p->dstArray) return error_keep(cudaErrorNotSupported);
    return copy(pitched_side(p->dstPtr, p->dstPos), pitched_side(p->srcPtr, p->srcPos),
                (struct box){p->extent.width, p->extent.height, p->extent.depth}, p->kind, stream);
}
PER_THREAD_STREAM(cudaMemcpy3DAsync);

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return cudaMemcpy3DAsync(p, 0);
}
PER_THREAD_MEMORY(cudaMemcpy3D);

static cudaError_t fill_row(unsigned char *to, int value, size_t bytes)
{
    if (!bytes) return cudaSuccess;
    if (!is_device_address(to)) return cudaErrorInvalidValue;
    managed_push(address_of(to), bytes);
    device_status status = device_fill(runtime.device, address_of(to), (uint8_t)value, 1, bytes);
    managed_pull(address_of(to), bytes);
    return error_from_device(status);
}

static cudaError_t fill(struct side to, int value, struct box box, cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error && !stream_is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error && box.height * box.depth > 1 && to.row_step < box.width)
        error = cudaErrorInvalidValue;
    for (size_t layer = 0; layer < box.depth; layer++)
        for (size_t row = 0; row < box.height && !error; row++)
            error =
                fill_row(to.start + layer * to.layer_step + row * to.row_step, value, box.width);
    if (!error) count_fill(box.width * box.height * box.depth);
    return runtime_leave(error);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill(side_at(to, 0, 0), value, (struct box){bytes, 1, 1}, stream);
}
PER_THREAD_STREAM(cudaMemsetAsync);

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return cudaMemsetAsync(to, value, bytes, 0);
}
PER_THREAD_MEMORY(cudaMemset);

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return fill(side_at(to, pitch, 0), value, (struct box){width, height, 1}, stream);
}
PER_THREAD_STREAM(cudaMemset2DAsync);

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(to, pitch, value, width, height, 0);
}
PER_THREAD_MEMORY(cudaMemset2D);

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    return fill(pitched_side(to, (struct cudaPos){0, 0, 0}), value,
                (struct box){extent.width, extent.height, extent.depth}, stream);
}
PER_THREAD_STREAM(cudaMemset3DAsync);

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return cudaMemset3DAsync(to, value, extent, 0);
}
PER_THREAD_MEMORY(cudaMemset3D);
