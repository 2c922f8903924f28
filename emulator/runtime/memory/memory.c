/*
 * memory.c: device memory: plain, pitched and stream-ordered. Streams run at once, so a
 * stream-ordered allocation is a plain one.
 */
#include "runtime/core/runtime.h"

#include "softgpu.h"

#include <stdio.h>

bool is_device_memory(const void *pointer)
{
    return is_device_address(pointer) || shared_kind_of(pointer) == SHARED_MANAGED;
}

/** 0 bytes is legal and gives a null pointer, as on a GPU. */
cudaError_t memory_alloc(void **pointer, size_t bytes)
{
    device_address address = 0;
    device_status status = bytes ? device_alloc(runtime.device, bytes, &address) : DEVICE_OK;

    if (!status) *pointer = pointer_to(address);
    if (!status && bytes) allocation_add(address, bytes, false);
    if (!status && bytes) count_allocation(bytes);
    return error_from_device(status);
}

/** What `pointer` is instead of something to free: "16 bytes into a 400-byte buffer allocated at
 *  x.cu:12". */
static void describe_pointer(const void *pointer, char *text, size_t size)
{
    const struct allocation *a = allocation_find(address_of(pointer));
    device *device = device_at(pointer);
    device_address base;
    uint64_t bytes;
    char made[700];

    snprintf(text, size, "the start of no allocation");
    if (a && a->lent) {
        snprintf(text, size, "%s, and not the program's to free", a->name);
    } else if (a && !a->is_freed) {
        snprintf(text, size,
                 a->pinned_host ? "host memory, for cudaFreeHost" : "device memory, for cudaFree");
    } else if (device && !device_find(device, address_of(pointer), &base, &bytes)) {
        allocation_describe(base, bytes, made, sizeof made);
        snprintf(text, size, "%llu bytes into a %llu-byte buffer%s",
                 (unsigned long long)(address_of(pointer) - base), (unsigned long long)bytes, made);
        if (base == address_of(pointer)) snprintf(text, size, "a variable of the program");
    }
}

cudaError_t memory_bad_free(const void *pointer)
{
    const struct allocation *a = allocation_find(address_of(pointer));
    const struct trace here = trace_here();
    char where[800], place[600], line[1500];

    if (check_level(CHECK_FREES) == CHECK_OFF) return cudaErrorInvalidValue;
    trace_place(&here, NULL, place, sizeof place);
    const char *at = *place ? place + 3 : "";
    if (a && a->is_freed) {
        allocation_describe(a->base, a->bytes, where, sizeof where);
        snprintf(line, sizeof line, "double free: frees again a %zu-byte buffer%s:%s", a->bytes,
                 where, at);
    } else {
        describe_pointer(pointer, where, sizeof where);
        snprintf(line, sizeof line, "bad free: frees %p, which is %s:%s", pointer, where, at);
    }
    report_line(CHECK_FREES, line);
    return cudaErrorInvalidValue;
}

/** A null pointer is legal; anything but the start of a live allocation is not. It may be of
 *  another device than the current one. */
cudaError_t memory_free(void *pointer)
{
    device *device = device_at(pointer);
    device_address base;
    uint64_t bytes = 0;

    if (!pointer || shared_free(pointer, SHARED_MANAGED)) return cudaSuccess;
    if (device) device_find(device, address_of(pointer), &base, &bytes);
    if (!device || device_free(device, address_of(pointer))) return memory_bad_free(pointer);
    allocation_freed(address_of(pointer));
    count_free(bytes);
    return cudaSuccess;
}

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

    if (!error) late_waited(); /* as drivers do */
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
    return capture ? alloc_captured(pointer, bytes, capture, stream) : memory_alloc(pointer, bytes);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    if (!pointer) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = alloc_on(pointer, bytes, stream);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaMallocAsync);

static cudaError_t free_on(void *pointer, cudaStream_t stream)
{
    struct work work;

    if (!stream_is_valid(stream)) return cudaErrorInvalidResourceHandle;
    struct capture *capture = capture_of(stream);
    if (!capture) return memory_free(pointer);
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

/** What the host shares always counts as written: nobody sees the host write. */
void softgpu_forget(void *pointer, size_t bytes)
{
    runtime_lock();
    device *device = device_at(pointer);
    if (device) device_forget(device, address_of(pointer), bytes);
    runtime_unlock();
}
