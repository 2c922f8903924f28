/*
 * event.c: events. As work runs at once, an event is done when it is recorded; the time between two
 * is the host's time, which says how long the emulator took and nothing about a GPU.
 */
#include "runtime.h"

#include <stdlib.h>
#include <time.h>

struct CUevent_st {
    struct handle handle;
    unsigned flags;
    bool recorded;
    double milliseconds;
};

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
    handle_add(&events, &new_event->handle);
    *event = new_event;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

    if (!event || (flags & ~known)) return error_keep(cudaErrorInvalidValue);
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
    if (!error) free(event);
    return runtime_leave(error);
}

static cudaError_t check(cudaEvent_t event)
{
    return handle_lives(&events, event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error) error = check(event);
    if (!error && !stream_is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) event->recorded = true;
    if (!error) event->milliseconds = now();
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaEventRecord);

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}
PER_THREAD_STREAM(cudaEventRecordWithFlags);

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t error = runtime_enter();

    if (!error) error = check(event);
    return runtime_leave(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return cudaEventQuery(event);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    (void)flags;
    if (!stream_is_valid(stream)) return error_keep(cudaErrorInvalidResourceHandle);
    return cudaEventQuery(event);
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
    return runtime_leave(error);
}
