/*
 * timeline.c: how much of a program's work could run at the same time. Here everything runs at once
 * and in order; a GPU has an engine that copies to the device, one that copies to the host, and its
 * multiprocessors, and they work side by side as far as streams, events and the host let them.
 *
 * Each copy, each fill and each kernel takes one step of its engine, however large it is. It begins
 * when its engine, its stream and the host have come so far; an engine takes its work in the order
 * in which it was submitted. A copy of pageable memory holds up the host until it is done. The
 * steps that the whole program takes, against the number of its copies and kernels, say how many of
 * them overlap: a model of the order, no measure of time. Nodes of a graph come one after the
 * other.
 */
#include "runtime.h"

enum engine { TO_DEVICE, TO_HOST, COMPUTE, ENGINES, NO_ENGINE };

static uint64_t idle[ENGINES]; /* from which step on each has nothing to do */
static uint64_t host;          /* which step the host has waited for */
static uint64_t blocking;      /* ... the streams that the legacy stream waits for are done with */
static uint64_t end;           /* ... all is done with */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool is_on_device(const void *pointer)
{
    return is_device_address(pointer) || shared_kind_of(pointer) == SHARED_MANAGED;
}

static enum engine engine_of_copy(const struct cudaMemcpy3DParms *p)
{
    bool to = is_on_device(p->dstPtr.ptr), from = is_on_device(p->srcPtr.ptr);

    if (to && from) return COMPUTE;
    return to ? TO_DEVICE : from ? TO_HOST : NO_ENGINE;
}

static enum engine engine_of(const struct work *work)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemset: return COMPUTE;
    case cudaGraphNodeTypeMemcpy: return engine_of_copy(&work->copy);
    default: return NO_ENGINE;
    }
}

static bool is_pageable(const struct work *work)
{
    const void *to = work->copy.dstPtr.ptr, *from = work->copy.srcPtr.ptr;

    if (work->is_late) return false;
    return !(is_on_device(to) || pinned_contains(to)) ||
           !(is_on_device(from) || pinned_contains(from));
}

/** The step that a stream's next work comes after. */
static uint64_t ready(const struct CUstream_st *s)
{
    const struct CUstream_st *legacy = stream_find(NULL);

    if (s == legacy) return later(s->step, blocking);
    return s->flags & cudaStreamNonBlocking ? s->step : later(s->step, legacy->step);
}

static void occupy(struct CUstream_st *s, enum engine engine)
{
    s->step = idle[engine] = later(ready(s), later(host, idle[engine])) + 1;
    end = later(end, s->step);
    if (!(s->flags & cudaStreamNonBlocking)) blocking = later(blocking, s->step);
    device_step(runtime.device, s->step);
}

void timeline_add(cudaStream_t stream, const struct work *work)
{
    struct CUstream_st *s = stream_find(stream);
    enum engine engine = engine_of(work);

    if (work->type == cudaGraphNodeTypeEventRecord && event_lives(work->event))
        work->event->step = ready(s);
    if (engine == NO_ENGINE) return;
    occupy(s, engine);
    if (work->type == cudaGraphNodeTypeMemcpy && is_pageable(work)) host = later(host, s->step);
}

void timeline_order(cudaStream_t stream, cudaEvent_t event)
{
    struct CUstream_st *s = stream_find(stream);

    s->step = later(s->step, event->step);
    if (!(s->flags & cudaStreamNonBlocking)) blocking = later(blocking, s->step);
}

void timeline_wait_stream(cudaStream_t stream)
{
    host = later(host, ready(stream_find(stream)));
}

void timeline_wait_event(cudaEvent_t event)
{
    host = later(host, event->step);
}

void timeline_wait_all(void)
{
    host = end;
}

uint64_t timeline_end(void)
{
    return end;
}
