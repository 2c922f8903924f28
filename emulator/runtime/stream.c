/*
 * stream.c: streams. Work runs in order and at once, so a stream is only a name with flags and a
 * priority: it is always idle, and waiting never waits.
 */
#include "runtime.h"

#include <stdlib.h>

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

struct CUstream_st {
    struct handle handle;
    unsigned flags;
    int priority;
    unsigned long long id;
};

static struct handle *streams;
static _Atomic unsigned long long last_id = 2; /* the ids of the default streams come first */

static bool is_default(cudaStream_t stream)
{
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

bool stream_is_valid(cudaStream_t stream)
{
    return is_default(stream) || handle_lives(&streams, stream);
}

static int clamp_priority(int priority)
{
    if (priority > LEAST_PRIORITY) return LEAST_PRIORITY;
    return priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
}

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority)
{
    struct CUstream_st *new_stream = malloc(sizeof *new_stream);

    if (!new_stream) return cudaErrorMemoryAllocation;
    new_stream->flags = flags;
    new_stream->priority = clamp_priority(priority);
    new_stream->id = ++last_id;
    handle_add(&streams, &new_stream->handle);
    *stream = new_stream;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    if (!stream || (flags & ~(unsigned)cudaStreamNonBlocking))
        return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = create(stream, flags, priority);
    return runtime_leave(error);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error && !handle_remove(&streams, stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) free(stream);
    return runtime_leave(error);
}

/** Success when the stream exists and the device has no fault. */
static cudaError_t check(cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error && !stream_is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    return runtime_leave(error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return check(stream);
}
PER_THREAD_STREAM(cudaStreamSynchronize);

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return check(stream);
}
PER_THREAD_STREAM(cudaStreamQuery);

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    if (!flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = check(stream);
    if (!error) *flags = is_default(stream) ? cudaStreamDefault : stream->flags;
    return error;
}
PER_THREAD_STREAM(cudaStreamGetFlags);

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    if (!priority) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = check(stream);
    if (!error) *priority = is_default(stream) ? LEAST_PRIORITY : stream->priority;
    return error;
}
PER_THREAD_STREAM(cudaStreamGetPriority);

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    if (!id) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = check(stream);
    if (!error) *id = is_default(stream) ? 1 + (stream == cudaStreamPerThread) : stream->id;
    return error;
}
PER_THREAD_STREAM(cudaStreamGetId);

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *ordinal)
{
    if (!ordinal) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = check(stream);
    if (!error) *ordinal = 0;
    return error;
}
PER_THREAD_STREAM(cudaStreamGetDevice);

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (!status) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = check(stream);
    if (!error) *status = cudaStreamCaptureStatusNone;
    return error;
}
PER_THREAD_STREAM(cudaStreamIsCapturing);

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return cudaSuccess;
}

/** The callback runs now, on this thread, with no lock held. */
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    if (!function) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = check(stream);
    if (!error) function(data);
    return error;
}
PER_THREAD_STREAM(cudaLaunchHostFunc);

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned int flags)
{
    if (!callback || flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = check(stream);
    if (!error) callback(stream, cudaSuccess, data);
    return error;
}
PER_THREAD_STREAM(cudaStreamAddCallback);
