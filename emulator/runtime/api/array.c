/*
 * array.c: CUDA arrays of one and two dimensions, for textures to read. A program cannot see how an
 * array lies in memory; here it is rows without gaps, and copies are those of plain memory.
 */
#include "array.h"

#include <stdlib.h>

static struct handle *arrays;

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/** One, two or four channels of one size. */
uint32_t texel_channels(const struct cudaChannelFormatDesc *d)
{
    bool known = d->f <= cudaChannelFormatKindFloat;
    bool sized = d->x == 32 || d->x == 16 || (d->x == 8 && d->f != cudaChannelFormatKindFloat);
    uint32_t channels = !d->y ? 1 : !d->z ? 2 : 4;

    if (!known || !sized || (channels > 1 && d->y != d->x)) return 0;
    if (channels < 4) return d->z || d->w ? 0 : channels;
    return d->z == d->x && d->w == d->x ? channels : 0;
}

const struct cudaArray *array_find(cudaArray_const_t array)
{
    return handle_lives(&arrays, array) ? array : NULL;
}

size_t array_rows(const struct cudaArray *a)
{
    return a->height ? a->height : 1;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned flags)
{
    if (!array || !desc || !width) return error_keep(cudaErrorInvalidValue);
    uint32_t channels = texel_channels(desc);
    if (!channels) return error_keep(cudaErrorInvalidChannelDescriptor);
    if (flags & ~(unsigned)(cudaArraySurfaceLoadStore | cudaArrayTextureGather))
        return error_keep(cudaErrorInvalidValue);
    struct cudaArray *a = calloc(1, sizeof *a);
    if (!a) return error_keep(cudaErrorMemoryAllocation);
    *a = (struct cudaArray){.desc = *desc, .width = width, .height = height, .flags = flags};
    a->pitch = width * channels * (size_t)desc->x / 8;

    cudaError_t error = cudaMalloc(&a->base, a->pitch * array_rows(a));
    if (!error) handle_add(&arrays, &a->handle);
    if (!error) *array = a;
    if (error) free(a);
    return error;
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (!array) return cudaSuccess;
    if (!handle_remove(&arrays, array)) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = cudaFree(array->base);
    free(array);
    return error;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned *flags, cudaArray_t array)
{
    const struct cudaArray *a = array_find(array);

    if (!a) return error_keep(cudaErrorInvalidValue);
    if (desc) *desc = a->desc;
    if (extent) *extent = (struct cudaExtent){a->width, a->height, 0};
    if (flags) *flags = a->flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    const struct cudaArray *a = array_find(array);

    if (!a || !desc) return error_keep(cudaErrorInvalidValue);
    *desc = a->desc;
    return cudaSuccess;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/** Where the byte `x` of row `y` lies, if `width` bytes of `height` rows follow; NULL: they do not,
 *  or it is no array. */
static void *corner(const struct cudaArray *a, size_t x, size_t y, size_t width, size_t height)
{
    bool fits = a && x <= a->pitch && width <= a->pitch - x && y <= array_rows(a) &&
                height <= array_rows(a) - y;

    return fits ? (char *)a->base + y * a->pitch + x : NULL;
}

/** The same of bytes that go on in the next row. */
static void *stretch(const struct cudaArray *a, size_t x, size_t y, size_t bytes)
{
    bool fits =
        a && x < a->pitch && y < array_rows(a) && bytes <= (array_rows(a) - y) * a->pitch - x;

    return fits ? (char *)a->base + y * a->pitch + x : NULL;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x, size_t y, const void *from,
                                size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    void *to = corner(array_find(array), x, y, width, height);

    if (!to) return error_keep(cudaErrorInvalidValue);
    return cudaMemcpy2D(to, array->pitch, from, pitch, width, height, kind);
}
PER_THREAD_MEMORY(cudaMemcpy2DToArray);

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t array, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *to = corner(array_find(array), x, y, width, height);

    if (!to) return error_keep(cudaErrorInvalidValue);
    return cudaMemcpy2DAsync(to, array->pitch, from, pitch, width, height, kind, stream);
}
PER_THREAD_STREAM(cudaMemcpy2DToArrayAsync);

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t array, size_t x,
                                  size_t y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    const void *from = corner(array_find(array), x, y, width, height);

    if (!from) return error_keep(cudaErrorInvalidValue);
    return cudaMemcpy2D(to, pitch, from, array->pitch, width, height, kind);
}
PER_THREAD_MEMORY(cudaMemcpy2DFromArray);

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t array, size_t x,
                                       size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const void *from = corner(array_find(array), x, y, width, height);

    if (!from) return error_keep(cudaErrorInvalidValue);
    return cudaMemcpy2DAsync(to, pitch, from, array->pitch, width, height, kind, stream);
}
PER_THREAD_STREAM(cudaMemcpy2DFromArrayAsync);

cudaError_t cudaMemcpyToArray(cudaArray_t array, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind)
{
    void *to = stretch(array_find(array), x, y, bytes);

    return to ? cudaMemcpy(to, from, bytes, kind) : error_keep(cudaErrorInvalidValue);
}
PER_THREAD_MEMORY(cudaMemcpyToArray);

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t array, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *to = stretch(array_find(array), x, y, bytes);

    return to ? cudaMemcpyAsync(to, from, bytes, kind, stream) : error_keep(cudaErrorInvalidValue);
}
PER_THREAD_STREAM(cudaMemcpyToArrayAsync);

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t array, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind)
{
    const void *from = stretch(array_find(array), x, y, bytes);

    return from ? cudaMemcpy(to, from, bytes, kind) : error_keep(cudaErrorInvalidValue);
}
PER_THREAD_MEMORY(cudaMemcpyFromArray);

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t array, size_t x, size_t y,
                                     size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const void *from = stretch(array_find(array), x, y, bytes);

    return from ? cudaMemcpyAsync(to, from, bytes, kind, stream)
                : error_keep(cudaErrorInvalidValue);
}
PER_THREAD_STREAM(cudaMemcpyFromArrayAsync);
