/*
 * stream.c: streams. Work runs in order and at once, so a stream is a name with flags and a
 * priority: it is always idle, and waiting never waits. Only a stream that captures keeps its work,
 * for a graph (capture.c).
 */
#include "stream.h"

#include <stdlib.h>

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5, LEGACY_ID = 1, PER_THREAD_ID = 2 };

static struct handle *streams;
static _Atomic unsigned long long last_id = PER_THREAD_ID;
static struct CUstream_st legacy = {.id = LEGACY_ID, .lane = LEGACY_LANE};
static _Thread_local struct CUstream_st per_thread = {.id = PER_THREAD_ID, .lane = PER_THREAD_LANE};

bool stream_is_legacy(cudaStream_t stream)
{
    return !stream || stream == cudaStreamLegacy;
}

cudaStream_t stream_find(cudaStream_t stream)
{
    if (stream_is_legacy(stream)) return &legacy;
    if (stream == cudaStreamPerThread) return &per_thread;
    return handle_lives(&streams, stream) ? stream : NULL;
}

bool stream_is_valid(cudaStream_t stream)
{
    return stream_find(stream) != NULL;
}

/** The default streams are those of the current device. */
bool stream_is_here(cudaStream_t stream)
{
    const struct CUstream_st *s = stream_find(stream);

    return s && (s->id <= PER_THREAD_ID || s->ordinal == runtime.ordinal);
}

static cudaError_t run(cudaStream_t stream, const struct work *work)
{
    const bool is_kernel = work->type == cudaGraphNodeTypeKernel;

    if (is_kernel) async_device_writes();
    cudaError_t error = work_run(stream, work);
    if (is_kernel) async_device_wrote();
    return error;
}

cudaError_t stream_submit(cudaStream_t stream, const struct work *work)
{
    if (work->type != cudaGraphNodeTypeEventRecord) async_arrive();
    if (work->type == cudaGraphNodeTypeHost)
        async_waited(); /* who waits for the callback has too */
    if (stream_is_legacy(stream)) async_ordered();
    if (!capture_any()) return run(stream, work);
    struct capture *capture = capture_of(stream);
    if (capture) return capture_add(capture, stream, work);
    cudaError_t error = stream_is_legacy(stream) ? capture_check_legacy() : cudaSuccess;
    return error ? error : run(stream, work);
}

/* ---- making and ending ----------------------------------------------------------------------- */

static int clamp_priority(int priority)
{
    if (priority > LEAST_PRIORITY) return LEAST_PRIORITY;
    return priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
}

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority)
{
    struct CUstream_st *new_stream = calloc(1, sizeof *new_stream);

    if (!new_stream) return cudaErrorMemoryAllocation;
    new_stream->flags = flags;
    new_stream->priority = clamp_priority(priority);
    new_stream->ordinal = runtime.ordinal;
    new_stream->id = ++last_id;
    new_stream->lane = order_take_lane();
    new_stream->policy = cudaSyncPolicyAuto;
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

static void destroy(cudaStream_t stream)
{
    capture_lose(stream);
    handle_remove(&streams, stream);
    order_leave_lane(stream->lane);
    free(stream->frontier);
    free(stream);
}

/** The default streams are not the program's to destroy. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error && !handle_lives(&streams, stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) destroy(stream);
    return runtime_leave(error);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/** A stream that captures has nothing to wait for, and to wait for the legacy stream is to wait for
 *  those. */
static cudaError_t check_idle(cudaStream_t stream)
{
    if (!stream_is_valid(stream)) return cudaErrorInvalidResourceHandle;
    struct capture *capture = capture_of(stream);
    if (capture) return capture_spoil(capture, cudaErrorStreamCaptureUnsupported);
    return stream_is_legacy(stream) ? capture_check_legacy() : cudaSuccess;
}

static cudaError_t wait(cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error) error = check_idle(stream);
    if (!error) async_waited_for_stream(stream);
    if (!error) order_host_waits_for_stream(stream);
    return runtime_leave(error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return wait(stream);
}
PER_THREAD_STREAM(cudaStreamSynchronize);

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return wait(stream);
}
PER_THREAD_STREAM(cudaStreamQuery);

/* ---- what is known of it --------------------------------------------------------------------- */

/** @return with the lock, as runtime_enter does; *stream is what the handle stands for. */
static cudaError_t enter_with(cudaStream_t *stream)
{
    cudaError_t error = runtime_enter();

    if (error) return error;
    *stream = stream_find(*stream);
    return *stream ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    if (!flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(&stream);
    if (!error) *flags = stream->flags;
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamGetFlags);

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    if (!priority) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(&stream);
    if (!error) *priority = stream->priority;
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamGetPriority);

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    if (!id) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(&stream);
    if (!error) *id = stream->id;
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamGetId);

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *ordinal)
{
    if (!ordinal) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(&stream);
    if (!error) *ordinal = stream->id <= PER_THREAD_ID ? runtime.ordinal : stream->ordinal;
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamGetDevice);

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return cudaSuccess;
}

static cudaError_t get_attribute(cudaStream_t stream, cudaLaunchAttributeID which,
                                 cudaLaunchAttributeValue *value)
{
    switch (which) {
    case cudaLaunchAttributeAccessPolicyWindow: value->accessPolicyWindow = stream->window; break;
    case cudaLaunchAttributeSynchronizationPolicy: value->syncPolicy = stream->policy; break;
    case cudaLaunchAttributePriority: value->priority = stream->priority; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID which,
                                   cudaLaunchAttributeValue *value)
{
    if (!value) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(&stream);
    if (!error) error = get_attribute(stream, which, value);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamGetAttribute);

/** Hints about caches and waiting: remembered. */
static cudaError_t set_attribute(cudaStream_t stream, cudaLaunchAttributeID which,
                                 const cudaLaunchAttributeValue *value)
{
    switch (which) {
    case cudaLaunchAttributeAccessPolicyWindow: stream->window = value->accessPolicyWindow; break;
    case cudaLaunchAttributeSynchronizationPolicy: stream->policy = value->syncPolicy; break;
    case cudaLaunchAttributePriority: stream->priority = clamp_priority(value->priority); break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID which,
                                   const cudaLaunchAttributeValue *value)
{
    if (!value) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(&stream);
    if (!error) error = set_attribute(stream, which, value);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamSetAttribute);

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    cudaError_t error = enter_with(&to);

    from = stream_find(from);
    if (!error && !from) error = cudaErrorInvalidResourceHandle;
    if (!error) to->window = from->window;
    if (!error) to->policy = from->policy;
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamCopyAttributes);

/* ---- callbacks ------------------------------------------------------------------------------- */

static cudaError_t call(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    struct work work = {.type = cudaGraphNodeTypeHost};
    cudaError_t error = runtime_enter();

    work.host = (struct cudaHostNodeParams){function, data};
    work.ordinal = runtime.ordinal;
    if (!error && !stream_is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) error = stream_submit(stream, &work);
    return runtime_leave(error);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    return function ? call(stream, function, data) : error_keep(cudaErrorInvalidValue);
}
PER_THREAD_STREAM(cudaLaunchHostFunc);

struct callback {
    cudaStream_t stream;
    cudaStreamCallback_t function;
    void *data;
};

static void forward(void *data)
{
    const struct callback *c = data;

    c->function(c->stream, cudaSuccess, c->data);
}

/** The older form, which a graph cannot hold. */
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data,
                                  unsigned int flags)
{
    struct callback callback = {stream, function, data};

    if (!function || flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = wait(stream);
    return error ? error : call(stream, forward, &callback);
}
PER_THREAD_STREAM(cudaStreamAddCallback);
