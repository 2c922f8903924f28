/*
 * event.c: events. As work runs at once, an event is done when it is recorded; the time between two
 * is the host's time, which says how long the emulator took and nothing about a GPU. An event that
 * a capturing stream records marks a place in its graph instead.
 */
#include "stream.h"

#include <stdlib.h>
#include <time.h>

static struct handle *events;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static cudaError_t create(cudaEvent_t *event, unsigned flags)
{
    struct CUevent_st *new_event = calloc(1, sizeof *new_event);

    if (!new_event) return cudaErrorMemoryAllocation;
    new_event->flags = flags;
    new_event->ordinal = runtime.ordinal;
    handle_add(&events, &new_event->handle);
    *event = new_event;
    return cudaSuccess;
}

/** An event for another process must not have a time. */
static bool flags_are_legal(unsigned flags)
{
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

    if (flags & ~known) return false;
    return !(flags & cudaEventInterprocess) || (flags & cudaEventDisableTiming);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    if (!event || !flags_are_legal(flags)) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = create(event, flags);
    return runtime_leave(error);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t error = runtime_enter();

    if (!error && !handle_remove(&events, event)) error = cudaErrorInvalidResourceHandle;
    if (!error) free(event->nodes);
    if (!error) free(event);
    return runtime_leave(error);
}

bool event_lives(cudaEvent_t event)
{
    return handle_lives(&events, event);
}

void event_note(cudaEvent_t event)
{
    if (!event_lives(event)) return; /* of a graph that outlives it */
    event->recorded = true;
    event->capture = 0;
    event->milliseconds = now();
}

static cudaError_t submit(cudaStream_t stream, cudaEvent_t event, enum cudaGraphNodeType type)
{
    struct work work = {.type = type, .ordinal = runtime.ordinal};

    work.event = event;
    return stream_submit(stream, &work);
}

/** @param external make a node of it that records when the graph runs */
static cudaError_t record(cudaEvent_t event, cudaStream_t stream, bool external)
{
    if (!event_lives(event) || !stream_is_valid(stream)) return cudaErrorInvalidResourceHandle;
    struct capture *capture = capture_of(stream);
    if (capture && !external) return capture_record(capture, stream, event);
    int ordinal = stream_is_here(stream) ? runtime.ordinal : stream->ordinal;
    if (event->ordinal != ordinal) return cudaErrorInvalidResourceHandle;
    event->stream = stream;
    event->last_async = async_last();
    return submit(stream, event, cudaGraphNodeTypeEventRecord);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    if (flags & ~(unsigned)cudaEventRecordExternal) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = record(event, stream, flags & cudaEventRecordExternal);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaEventRecordWithFlags);

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
PER_THREAD_STREAM(cudaEventRecord);

/** What happened in a capture has no time. */
static cudaError_t check(cudaEvent_t event)
{
    if (!event_lives(event)) return cudaErrorInvalidResourceHandle;
    return event->capture ? cudaErrorCapturedEvent : cudaSuccess;
}

static cudaError_t wait(cudaEvent_t event)
{
    cudaError_t error = runtime_enter();

    if (!error) error = check(event);
    if (!error) async_waited_for_event(event);
    if (!error) order_host_waits_for_event(event);
    return runtime_leave(error);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t error = runtime_enter_unless_capturing();

    if (!error) error = check(event);
    if (!error) async_waited_for_event(event);
    if (!error) order_host_waits_for_event(event);
    return runtime_leave(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return wait(event);
}

static cudaError_t stream_wait(cudaStream_t stream, cudaEvent_t event, bool external)
{
    if (!stream_is_valid(stream) || !event_lives(event)) return cudaErrorInvalidResourceHandle;
    async_ordered();
    if (external) return submit(stream, event, cudaGraphNodeTypeWaitEvent);
    if (!event->capture) order_after(stream, &event->clock);
    return capture_wait(stream, event);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    if (flags & ~(unsigned)cudaEventWaitExternal) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = stream_wait(stream, event, flags & cudaEventWaitExternal);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamWaitEvent);

static bool has_time(cudaEvent_t event)
{
    return event->recorded && !(event->flags & cudaEventDisableTiming);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    if (!milliseconds) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = check(start);
    if (!error) error = check(end);
    if (!error && !(has_time(start) && has_time(end))) error = cudaErrorInvalidResourceHandle;
    if (!error) *milliseconds = (float)(end->milliseconds - start->milliseconds);
    if (!error) order_host_waits_for_event(start); /* who gets a time knows that they are done */
    if (!error) order_host_waits_for_event(end);
    return runtime_leave(error);
}
