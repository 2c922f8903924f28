/*
 * copy.c: copies: what is legal, and the bytes moved.
 *
 * Every form is a box of rows, as cudaMemcpy3D describes it: a plain copy has one row, a 2-D copy
 * one layer. The side that the copy's kind calls "device" must be memory that a device knows; where
 * the other side lies is seen from its address, as CUDA does with unified addressing.
 */
#include "memory.h"

#include "runtime/profile/profile.h"

#include <string.h>

/* ---- checks ---------------------------------------------------------------------------------- */

static bool on_device(const void *pointer)
{
    return is_device_address(pointer) || is_shared_address(pointer) || pinned_contains(pointer);
}

static bool names_device(const void *to, const void *from, enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToHost: return true;
    case cudaMemcpyHostToDevice: return on_device(to);
    case cudaMemcpyDeviceToHost: return on_device(from);
    case cudaMemcpyDeviceToDevice: return on_device(to) && on_device(from);
    case cudaMemcpyDefault: return true;
    }
    return false;
}

size_t copy_bytes(const struct cudaMemcpy3DParms *p)
{
    return p->extent.width * p->extent.height * p->extent.depth;
}

/** Arrays are what textures read: the device has none. */
cudaError_t copy_check(const struct cudaMemcpy3DParms *p)
{
    size_t width = p->extent.width;
    bool rows = p->extent.height * p->extent.depth > 1;

    if (p->srcArray || p->dstArray) return cudaErrorNotSupported;
    if (!copy_bytes(p)) return cudaSuccess;
    if (p->kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (rows && (p->dstPtr.pitch < width || p->srcPtr.pitch < width))
        return cudaErrorInvalidPitchValue;
    if (!p->dstPtr.ptr || !p->srcPtr.ptr || !names_device(p->dstPtr.ptr, p->srcPtr.ptr, p->kind))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* ---- one row --------------------------------------------------------------------------------- */

/** May the host touch the range? Its own memory is its own business. */
static bool host_may(const void *pointer, size_t bytes)
{
    return !is_shared_address(pointer) || shared_holds(pointer, bytes);
}

/** Move bytes in whatever direction the two addresses say. */
static cudaError_t move(void *to, const void *from, size_t bytes)
{
    device *target = device_at(to), *source = device_at(from);
    bool to_device = is_device_address(to), from_device = is_device_address(from);

    if (to_device ? !target : !host_may(to, bytes)) return cudaErrorInvalidValue;
    if (from_device ? !source : !host_may(from, bytes)) return cudaErrorInvalidValue;
    if (to_device && from_device && target != source)
        return error_from_device(
            device_copy_peer(target, address_of(to), source, address_of(from), bytes));
    if (to_device && from_device)
        return error_from_device(device_copy(target, address_of(to), address_of(from), bytes));
    if (to_device) return error_from_device(device_write(target, address_of(to), from, bytes));
    if (from_device) return error_from_device(device_read(source, to, address_of(from), bytes));
    memmove(to, from, bytes);
    return cudaSuccess;
}

/* ---- a box ----------------------------------------------------------------------------------- */

static unsigned char *row_of(const struct cudaPitchedPtr *p, const struct cudaPos *at, size_t layer,
                             size_t row)
{
    size_t layer_step = p->pitch * p->ysize;

    return (unsigned char *)p->ptr + (at->z + layer) * layer_step + (at->y + row) * p->pitch +
           at->x;
}

cudaError_t copy_run(const struct cudaMemcpy3DParms *p)
{
    cudaError_t error = cudaSuccess;

    if (!p->extent.width) return cudaSuccess;
    for (size_t layer = 0; layer < p->extent.depth; layer++)
        for (size_t row = 0; row < p->extent.height && !error; row++)
            error = move(row_of(&p->dstPtr, &p->dstPos, layer, row),
                         row_of(&p->srcPtr, &p->srcPos, layer, row), p->extent.width);
    if (!error)
        count_copy(is_device_memory(p->dstPtr.ptr), is_device_memory(p->srcPtr.ptr), copy_bytes(p));
    return error;
}

struct cudaMemcpy3DParms copy_row(void *to, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)from, bytes, bytes, 1},
                                      .dstPtr = {to, bytes, bytes, 1},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}
