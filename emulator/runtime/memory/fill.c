/*
 * fill.c: cudaMemset in all its forms. Every form is a box of rows, of elements of 1, 2 or 4 bytes.
 */
#include "runtime/core/runtime.h"

cudaError_t fill_check(const struct fill_work *f)
{
    const struct cudaMemsetParams *p = &f->plane;
    unsigned size = p->elementSize;
    bool rows = p->height * f->depth > 1;

    if (size != 1 && size != 2 && size != 4) return cudaErrorInvalidValue;
    if (!p->width || !p->height || !f->depth) return cudaSuccess;
    if (rows && p->pitch < p->width * size) return cudaErrorInvalidValue;
    if (!is_device_address(p->dst) && !is_shared_address(p->dst) && !pinned_contains(p->dst))
        return cudaErrorInvalidValue;
    return address_of(p->dst) % size ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t fill_host(unsigned char *to, const struct cudaMemsetParams *p)
{
    size_t bytes = p->width * p->elementSize;

    if (is_shared_address(to) && !shared_holds(to, bytes)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)(p->value >> i % p->elementSize * 8);
    return cudaSuccess;
}

static cudaError_t fill_row(unsigned char *to, const struct cudaMemsetParams *p)
{
    device *device = device_at(to);

    if (!is_device_address(to)) return fill_host(to, p);
    if (!device) return cudaErrorInvalidValue;
    return error_from_device(
        device_fill(device, address_of(to), p->value, p->elementSize, p->width));
}

cudaError_t fill_run(const struct fill_work *f)
{
    const struct cudaMemsetParams *p = &f->plane;
    unsigned char *to = p->dst;
    cudaError_t error = cudaSuccess;

    if (!p->width) return cudaSuccess;
    for (size_t layer = 0; layer < f->depth; layer++)
        for (size_t row = 0; row < p->height && !error; row++)
            error = fill_row(to + layer * f->layer_step + row * p->pitch, p);
    if (!error) count_fill(p->width * p->elementSize * p->height * f->depth);
    return error;
}

static cudaError_t submit(const struct fill_work *f, cudaStream_t stream)
{
    struct work work = {.type = cudaGraphNodeTypeMemset};
    const struct cudaMemsetParams *p = &f->plane;
    cudaError_t error = runtime_enter();

    work.fill = *f;
    work.ordinal = runtime.ordinal;
    if (!error && !stream_is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) error = fill_check(f);
    if (!error && p->width && p->height && f->depth) error = stream_submit(stream, &work);
    return runtime_leave(error);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    struct fill_work f = {.plane = {.dst = to.ptr,
                                    .pitch = to.pitch,
                                    .value = (uint8_t)value,
                                    .elementSize = 1,
                                    .width = extent.width,
                                    .height = extent.height},
                          .depth = extent.depth,
                          .layer_step = to.pitch * to.ysize};

    return submit(&f, stream);
}
PER_THREAD_STREAM(cudaMemset3DAsync);

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    struct cudaPitchedPtr plane = {to, pitch, width, height};

    return cudaMemset3DAsync(plane, value, (struct cudaExtent){width, height, 1}, stream);
}
PER_THREAD_STREAM(cudaMemset2DAsync);

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
}
PER_THREAD_STREAM(cudaMemsetAsync);

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return cudaMemsetAsync(to, value, bytes, 0);
}
PER_THREAD_MEMORY(cudaMemset);

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(to, pitch, value, width, height, 0);
}
PER_THREAD_MEMORY(cudaMemset2D);

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return cudaMemset3DAsync(to, value, extent, 0);
}
PER_THREAD_MEMORY(cudaMemset3D);
