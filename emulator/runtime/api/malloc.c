/*
 * malloc.c: device memory: plain, pitched and stream-ordered. Streams run at once, so a
 * stream-ordered allocation is a plain one, but what other streams do with it may be a race.
 */
#include "api.h"

#include "runtime/claims/claims.h"

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    if (!pointer) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter_unless_capturing();
    if (!error) error = memory_alloc(pointer, bytes);
    return runtime_leave(error);
}

cudaError_t cudaFree(void *pointer)
{
    cudaError_t error = runtime_enter_unless_capturing();

    if (!error) async_waited(); /* as drivers do */
    if (!error) error = memory_free(pointer);
    if (!error && pointer) order_host_waits_for_all(); /* a GPU's driver waits before it lets go */
    return runtime_leave(error);
}

static size_t pitch_of(size_t width)
{
    return (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
}

/** Rows start at multiples of the pitch, which is `width` bytes rounded up. */
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    if (!pointer || !pitch) return error_keep(cudaErrorInvalidValue);
    *pitch = pitch_of(width);
    return cudaMalloc(pointer, *pitch * height);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
    if (!pitched) return error_keep(cudaErrorInvalidValue);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width,
                           extent.height * extent.depth);
}

/** In a capture it becomes a node, and the memory the graph's. */
static cudaError_t alloc_captured(void **pointer, size_t bytes, struct capture *capture,
                                  cudaStream_t stream)
{
    struct work work;
    cudaError_t error = graph_memory_work(&work, bytes);

    if (error) return capture_spoil(capture, error);
    *pointer = work.memory->pointer;
    error = capture_add(capture, stream, &work);
    if (error) graph_memory_undo(&work);
    return error;
}

static cudaError_t alloc_on(void **pointer, size_t bytes, cudaStream_t stream)
{
    if (!stream_is_valid(stream)) return cudaErrorInvalidResourceHandle;
    struct capture *capture = capture_of(stream);
    if (capture) return alloc_captured(pointer, bytes, capture, stream);
    cudaError_t error = memory_alloc(pointer, bytes);
    return error || !bytes ? error : turn_use(stream, *pointer, bytes, DEVICE_ALLOCATES);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    if (!pointer) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = alloc_on(pointer, bytes, stream);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaMallocAsync);

/** Who has used it in another stream must be done by then. */
static cudaError_t free_now(void *pointer, cudaStream_t stream)
{
    device_address base;
    uint64_t bytes;
    bool here = device_at(pointer) == runtime.device &&
                !device_find(runtime.device, address_of(pointer), &base, &bytes);
    cudaError_t error = here ? turn_use(stream, pointer, bytes, DEVICE_FREES) : cudaSuccess;
    cudaError_t freed = memory_free(pointer);

    return freed ? freed : error;
}

static cudaError_t free_on(void *pointer, cudaStream_t stream)
{
    struct work work;

    if (!stream_is_valid(stream)) return cudaErrorInvalidResourceHandle;
    struct capture *capture = capture_of(stream);
    if (!capture) return free_now(pointer, stream);
    cudaError_t error = graph_memory_end(&work, capture_graph(capture), pointer);
    return error ? capture_spoil(capture, error) : capture_add(capture, stream, &work);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error) error = free_on(pointer, stream);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaFreeAsync);

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    uint64_t left = 0, all = 0;
    cudaError_t error = runtime_enter();

    if (!error) device_memory(runtime.device, &left, &all);
    if (!error && free_bytes) *free_bytes = left;
    if (!error && total_bytes) *total_bytes = all;
    return runtime_leave(error);
}
