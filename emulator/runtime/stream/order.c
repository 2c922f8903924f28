/*
 * order.c: the order of the program's copies, fills and kernels, which streams, events and the host
 * make. The device learns it with each work (device_take_turn), and says from it how many of them a
 * GPU could overlap, and which of them race.
 *
 * A clock says of each lane which of its works are over. A stream has a lane and a clock, of what
 * its next work comes after; an event has one, and so has the host: what it has waited for comes
 * before all that it asks for later. There are more streams than lanes at times; then some share
 * one. A copy to pageable memory holds up the host until it is done; one from there only until its
 * bytes lie where the GPU fetches them. Nodes of a graph come one after the other, and so do its
 * launches, in whatever streams. Guarded by the runtime's lock.
 */
#include "stream.h"

#include <string.h>

static uint32_t works[DEVICE_LANES]; /* so far */
static unsigned users[DEVICE_LANES]; /* streams */
static uint32_t last_lane = PER_THREAD_LANE;
static uint32_t lanes = PER_THREAD_LANE + 1; /* that anybody has had: the first ones */
static struct clock host;
static struct clock blocking; /* of all streams that the legacy stream waits for */

static void join(struct clock *to, const struct clock *from)
{
    for (uint32_t i = 0; i < lanes; i++)
        if (from->at[i] > to->at[i]) to->at[i] = from->at[i];
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static uint32_t next_lane(uint32_t lane)
{
    return lane + 1 < DEVICE_LANES ? lane + 1 : PER_THREAD_LANE + 1;
}

uint32_t order_take_lane(void)
{
    uint32_t best = next_lane(last_lane);

    for (uint32_t i = next_lane(best); i != next_lane(last_lane); i = next_lane(i))
        if (users[i] < users[best]) best = i;
    users[best]++;
    if (best >= lanes) lanes = best + 1;
    return last_lane = best;
}

void order_leave_lane(uint32_t lane)
{
    users[lane]--;
}

/* ---- work ------------------------------------------------------------------------------------ */

static bool is_device_work(const struct work *work)
{
    return work->type == cudaGraphNodeTypeKernel || work->type == cudaGraphNodeTypeMemset ||
           work->type == cudaGraphNodeTypeMemcpy;
}

bool order_is_staged(const struct cudaMemcpy3DParms *p)
{
    const void *to = p->dstPtr.ptr, *from = p->srcPtr.ptr;

    return is_device_address(to) && !is_device_memory(from) && !pinned_contains(from);
}

/** Copies to pageable memory do, and those from host to host. */
static bool holds_up_host(const struct work *work)
{
    const void *to = work->copy.dstPtr.ptr, *from = work->copy.srcPtr.ptr;

    if (work->type != cudaGraphNodeTypeMemcpy || work->is_async) return false;
    if (order_is_staged(&work->copy)) return false;
    if (!is_device_memory(to) && !is_device_memory(from)) return true;
    return !(is_device_memory(to) || pinned_contains(to)) ||
           !(is_device_memory(from) || pinned_contains(from));
}

static bool is_blocking(const struct CUstream_st *s)
{
    return !(s->flags & cudaStreamNonBlocking);
}

/** What a stream's next work comes after, but for the host. */
static struct clock ready(const struct CUstream_st *s)
{
    const struct CUstream_st *legacy = stream_find(NULL);
    struct clock clock = s->clock;

    if (s == legacy)
        join(&clock, &blocking);
    else if (is_blocking(s))
        join(&clock, &legacy->clock);
    return clock;
}

static void take_turn(struct CUstream_st *s)
{
    device_turn turn = {.lane = s->lane, .work = ++works[s->lane]};

    s->clock = ready(s);
    join(&s->clock, &host);
    memcpy(turn.after, s->clock.at, sizeof turn.after);
    s->clock.at[s->lane] = turn.work;
    if (is_blocking(s)) join(&blocking, &s->clock);
    for (int i = 0; i < MAX_DEVICES; i++) /* a copy may reach another device */
        if (runtime.context[i].device) device_take_turn(runtime.context[i].device, &turn);
}

void order_work(cudaStream_t stream, const struct work *work)
{
    struct CUstream_st *s = stream_find(stream);
    struct clock clock;

    if (!s) return; /* destroyed by another thread, while a callback of the graph ran */
    if (work->type == cudaGraphNodeTypeEventRecord && event_lives(work->event))
        work->event->clock = ready(s);
    if (work->type == cudaGraphNodeTypeWaitEvent && event_lives(work->event))
        order_after(stream, &work->event->clock);
    if (work->type == cudaGraphNodeTypeHost) { /* it may tell the program's threads */
        clock = ready(s);
        join(&host, &clock);
    }
    if (!is_device_work(work)) return;
    take_turn(s);
    if (holds_up_host(work)) join(&host, &s->clock);
}

/* ---- waiting --------------------------------------------------------------------------------- */

void order_after(cudaStream_t stream, const struct clock *clock)
{
    struct CUstream_st *s = stream_find(stream);

    join(&s->clock, clock);
    if (is_blocking(s)) join(&blocking, &s->clock);
}

void order_reached(cudaStream_t stream, struct clock *clock)
{
    const struct CUstream_st *s = stream_find(stream);

    if (s) *clock = ready(s);
}

void order_host_waits_for_stream(cudaStream_t stream)
{
    struct clock clock = ready(stream_find(stream));

    join(&host, &clock);
}

void order_host_waits_for_event(cudaEvent_t event)
{
    join(&host, &event->clock);
}

void order_host_waits_for_all(void)
{
    memcpy(host.at, works, sizeof host.at);
}
