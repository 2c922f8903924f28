/*
 * memset.c: cudaMemset in all its forms. Every form is a box of rows: memory/fill.c.
 */
#include "api.h"

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
