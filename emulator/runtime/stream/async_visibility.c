/*
 * async_visibility.c: what a program may not rely on before it has waited. A GPU copies from and to
 * pinned memory while the program goes on; here a copy is done at once, but
 *
 *   - what it brings to pinned memory of the host arrives late: when the program waits, or asks for
 *     other work, which may need it;
 *   - until the program has waited, what it takes from pinned memory may only be changed by the
 *     device: a write of the host is a stream race, and seen when the program waits;
 *   - until the program has waited for the stream, freeing that memory is a finding.
 *
 * That is memory of cudaMallocHost; copies in a graph are done when it runs.
 * Where it is not certain that a copy is still under way, because streams wait for each other, any
 * waiting counts. Only the last KEPT copies are remembered. Guarded by the runtime's lock.
 */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 64 };

struct async_work {
    struct async_work *next;
    cudaStream_t stream;
    bool ordered;              /* other streams wait for this one: any waiting counts */
    unsigned long long number; /* counted from 1 */
    unsigned char *host;       /* pinned */
    void *bytes;               /* on their way there, or NULL */
    size_t size;
    uint64_t sum; /* of what is taken from there; 0: nothing is */
    struct trace asked;
};

static struct async_work *all; /* the last one first */
static unsigned long long last_number;

/* ---- what the copies read -------------------------------------------------------------------- */

static uint64_t sum_of(const unsigned char *bytes, size_t size)
{
    uint64_t sum = size, word;

    for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    for (; size; size--) sum = (sum ^ *bytes++) * 0x9e3779b97f4a7c15u;
    return sum | 1;
}

/** Reported once. */
static void check_source(struct async_work *l)
{
    char asked[600];

    if (!l->sum || l->sum == sum_of(l->host, l->size)) return;
    l->sum = 0;
    trace_place(&l->asked, NULL, asked, sizeof asked);
    report_host(
        CHECK_RACES, FINDING_STREAM_RACE, RELATION_NONE,
        "the host writes to pinned memory while a copy of %zu bytes from there may still be "
        "under way: nothing had waited for its stream%s%s",
        l->size, *asked ? ":" : "", *asked ? asked + 3 : "");
}

void async_device_writes(void)
{
    for (struct async_work *l = all; l; l = l->next) check_source(l);
}

void async_device_wrote(void)
{
    for (struct async_work *l = all; l; l = l->next)
        if (l->sum) l->sum = sum_of(l->host, l->size);
}

/* ---- what they bring ------------------------------------------------------------------------- */

static void arrive(struct async_work *l)
{
    if (l->bytes) memcpy(l->host, l->bytes, l->size);
    free(l->bytes);
    l->bytes = NULL;
}

static bool any_comes(void)
{
    const struct async_work *l = all;

    while (l && !l->bytes) l = l->next;
    return l != NULL;
}

void async_arrive(void)
{
    if (!any_comes()) return;
    async_device_writes();
    for (struct async_work *l = all; l; l = l->next) arrive(l);
    async_device_wrote();
}

/** The copies for which `is_done` are no longer under way. */
static void forget(bool (*is_done)(const struct async_work *, const void *), const void *context)
{
    async_arrive();
    for (struct async_work **at = &all; *at;) {
        struct async_work *l = *at;
        if (!is_done(l, context)) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        check_source(l);
        free(l);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool any(const struct async_work *l, const void *context)
{
    (void)l, (void)context;
    return true;
}

static bool on_stream(const struct async_work *l, const void *stream)
{
    return l->ordered || l->stream == stream;
}

static bool before_event(const struct async_work *l, const void *context)
{
    const struct CUevent_st *event = context;

    if (l->stream == event->stream) return l->number <= event->last_async;
    return l->ordered;
}

void async_waited(void)
{
    forget(any, NULL);
}

void async_waited_for_stream(cudaStream_t stream)
{
    if (stream_is_legacy(stream))
        async_waited();
    else
        forget(on_stream, stream);
}

void async_waited_for_event(cudaEvent_t event)
{
    forget(before_event, event);
}

unsigned long long async_last(void)
{
    return last_number;
}

void async_ordered(void)
{
    for (struct async_work *l = all; l; l = l->next) l->ordered = true;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool is_one_row(const struct cudaMemcpy3DParms *p)
{
    return p->extent.height == 1 && p->extent.depth == 1 && !p->dstPos.x && !p->srcPos.x;
}

static bool is_pinned(const void *pointer, size_t bytes)
{
    return shared_kind_of(pointer) == SHARED_PINNED && shared_holds(pointer, bytes);
}

/** The side of a copy between a device and pinned memory that is the host's, or NULL. */
static unsigned char *pinned_side(const struct cudaMemcpy3DParms *p)
{
    void *to = p->dstPtr.ptr, *from = p->srcPtr.ptr;

    if (is_device_address(to) && is_pinned(from, p->extent.width)) return from;
    if (is_device_address(from) && is_pinned(to, p->extent.width)) return to;
    return NULL;
}

static void remember(struct async_work *l)
{
    struct async_work **end = &all;
    int count = 0;

    l->number = ++last_number;
    l->next = all;
    all = l;
    while (*end && count++ < KEPT) end = &(*end)->next;
    if (!*end) return;
    arrive(*end);
    free(*end);
    *end = NULL;
}

cudaError_t async_copy(cudaStream_t stream, struct work *work)
{
    struct cudaMemcpy3DParms *p = &work->copy;
    unsigned char *host = is_one_row(p) && !capture_any() ? pinned_side(p) : NULL;
    struct async_work *l = host ? calloc(1, sizeof *l) : NULL;

    if (!l) return stream_submit(stream, work);
    *l = (struct async_work){.stream = stream,
                             .ordered = stream_is_legacy(stream),
                             .host = host,
                             .size = p->extent.width,
                             .asked = trace_here()};
    if (host == p->dstPtr.ptr) l->bytes = malloc(l->size);
    if (l->bytes) p->dstPtr.ptr = l->bytes;
    async_arrive(); /* what it takes may have been on its way */
    if (host == p->srcPtr.ptr) l->sum = sum_of(host, l->size);
    work->is_async = true;
    cudaError_t error = stream_submit(stream, work);
    if (error) {
        free(l->bytes);
        free(l);
        return error;
    }
    remember(l);
    return cudaSuccess;
}

/* ---- freeing --------------------------------------------------------------------------------- */

static bool touches(const struct async_work *l, const void *start)
{
    const unsigned char *s = start;

    return l->host >= s && shared_holds(s, (size_t)(l->host - s) + 1);
}

static void report(const struct async_work *l)
{
    const struct trace here = trace_here();
    char asked[600], place[600];

    trace_place(&l->asked, NULL, asked, sizeof asked);
    trace_place(&here, NULL, place, sizeof place);
    report_host(CHECK_FREES, FINDING_FREED_EARLY, RELATION_NONE,
                "frees pinned memory while the copy%s of %zu bytes may still be under way: nothing "
                "has waited for its stream%s%s",
                asked, l->size, *place ? ":" : "", *place ? place + 3 : "");
}

void async_freeing(const void *start)
{
    for (const struct async_work *l = all; l; l = l->next) {
        if (!touches(l, start)) continue;
        report(l);
        break;
    }
    forget(touches, start);
}
