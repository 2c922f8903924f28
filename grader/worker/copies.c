/*
 * copies.c: counts the copies between host and device that a call makes, and the memory that it
 * does not free. A library's calls of
 * cudaMemcpy and its siblings come here, because a program's own symbols go before those of the
 * libraries that it is linked with, and go on to the runtime. On softgpu the device itself counts
 * as well, and is what the grader believes; here is known what memory of the host took part.
 */
#ifdef WITH_CUDA
#include "worker.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <string.h>

static bool counting;
static wire_copies copies;

typedef enum side { DEVICE_SIDE, PAGEABLE_SIDE, PINNED_SIDE } side;

static side side_of(const void *pointer)
{
    struct cudaPointerAttributes a;
    if (!pointer || cudaPointerGetAttributes(&a, pointer) != cudaSuccess) return PAGEABLE_SIDE;
    if (a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged) return DEVICE_SIDE;
    return a.type == cudaMemoryTypeHost ? PINNED_SIDE : PAGEABLE_SIDE;
}

static void count(const void *to, const void *from, size_t bytes)
{
    if (!counting || bytes == 0) return;
    const side a = side_of(to), b = side_of(from);
    if ((a == DEVICE_SIDE) == (b == DEVICE_SIDE)) return;
    copies.count++;
    copies.pinned += a == PINNED_SIDE || b == PINNED_SIDE;
    copies.bytes += bytes;
}

void copies_start(void)
{
    memset(&copies, 0, sizeof copies);
    counting = true;
}

wire_copies copies_stop(void)
{
    counting = false;
    return copies;
}

/* The runtime's function of this name. The tail calls below leave no frame behind: softgpu's
 * findings name the line of the library. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name)

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    NEXT(cudaMemcpy);
    count(to, from, bytes);
    return next(to, from, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t on)
{
    NEXT(cudaMemcpyAsync);
    count(to, from, bytes);
    return next(to, from, bytes, kind, on);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    NEXT(cudaMemcpy2D);
    count(to, from, width * height);
    return next(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t on)
{
    NEXT(cudaMemcpy2DAsync);
    count(to, from, width * height);
    return next(to, to_pitch, from, from_pitch, width, height, kind, on);
}

#ifndef WITH_SOFTGPU /* where the device knows, and a frame of ours would stand in its findings */
static cudaError_t keep(cudaError_t error, int32_t more)
{
    if (counting && !error) copies.kept += more;
    return error;
}

/* Of 0 bytes there is nothing to be freed. */
static cudaError_t keep_new(cudaError_t error, void *const *pointer)
{
    return keep(error, !error && *pointer ? 1 : 0);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    NEXT(cudaMalloc);
    return keep_new(next(pointer, bytes), pointer);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t on)
{
    NEXT(cudaMallocAsync);
    return keep_new(next(pointer, bytes, on), pointer);
}

cudaError_t cudaFree(void *pointer)
{
    NEXT(cudaFree);
    return keep(next(pointer), pointer ? -1 : 0);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t on)
{
    NEXT(cudaFreeAsync);
    return keep(next(pointer, on), pointer ? -1 : 0);
}
#endif
#endif
