/*
 * together.c: launches of several devices in flight at once, for kernels that wait for each other
 * by flags in memory that they share.
 *
 * Interface
 *   together_may_wait, together_launch     for launch.c
 *   together_between                       for block.c: a warp has had its turn
 *   device_finish
 *
 * A launch that waits for another device's cannot end before that one begins, and the program goes
 * on to ask for it. So the device lets go of a launch of which all blocks stand still (still.c): it
 * stays in flight, its blocks as they are. The next launch takes turns with it. Without a seed the
 * others get a turn after each warp's; with one, when the new launch stands still: so another
 * device is close behind in one order, and as late as it can be in the other.
 *
 * Of launches that were in flight at once the device does not know what flags have ordered: turns
 * show by their results what came too early, and what was before is over when they are.
 */
#include <stdlib.h>
#include <string.h>

#include "device/checks/order.h"
#include "device/counts/count.h"
#include "run.h"

enum { PATIENT = 1 << 12 }; /* rounds of a launch that computes, before the program goes on */

/* ---- the others ------------------------------------------------------------------------------ */

/* Of the devices whose memory this one touches, and of those that touch its own. */
static launch *other_in_flight(const launch *l, uint32_t *i)
{
    const device *d = l->device;
    while (*i < d->peer_count + d->guest_count) {
        const uint32_t at = (*i)++;
        device *other = at < d->peer_count ? d->peers[at] : d->guests[at - d->peer_count];
        if (other->in_flight && other->in_flight != l) return other->in_flight;
    }
    return NULL;
}

static void meet(launch *l)
{
    uint32_t i = 0;
    for (launch *other; (other = other_in_flight(l, &i));) l->met = other->met = true;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static bool is_over(const launch *l)
{
    return l->stop || l->ended == l->blocks;
}

static void begin(launch *l, uint64_t i)
{
    block *b = l->resident[i];
    block_prepare(b, l);
    if (l->counted) counters_prepare(b);
    block_start(b, l->order ? l->order[i] : i);
    still_start(b);
    b->over = false;
}

/* No flag tells others that it is there. */
static void report_pushed(block *b)
{
    const launch *l = b->launch;
    report_at(b, l->function, b->pushed, FINDING_RACE, 0, 0,
              "writes to the memory of another device, which runs at the same time, and sets no "
              "flag afterwards");
}

static void end(block *b)
{
    launch *l = b->launch;
    if (b->pushed && l->met && !l->stop) report_pushed(b);
    if (l->counted) counters_fold(b);
    b->over = true;
    l->ended++;
}

/* @return could it have changed anything? */
static bool turn(block *b)
{
    bool more = true;
    for (b->spent = false; more && !b->spent && !b->launch->stop;) more = block_turn(b);
    if (!more) end(b);
    return !more || !still_again(b);
}

static bool round_of(launch *l)
{
    bool moved = false;
    for (uint64_t i = 0; i < l->blocks && !l->stop; i++)
        if (!l->resident[i]->over) moved |= turn(l->resident[i]);
    return moved;
}

static bool round_of_others(launch *l)
{
    uint32_t i = 0;
    bool moved = false;
    for (launch *other; (other = other_in_flight(l, &i));) moved |= round_of(other);
    return moved;
}

void together_between(launch *l)
{
    if (l->device->seed || l->passes || is_over(l)) return;
    uint32_t i = 0;
    for (launch *other; (other = other_in_flight(l, &i));) {
        if (other->passes || is_over(other)) continue;
        l->passes = other->passes = true;
        round_of(other);
        l->passes = other->passes = false;
    }
}

/* @return has it ended? Else nobody in flight could change anything, or it takes long */
static bool take_turns(launch *l, uint32_t rounds)
{
    while (!is_over(l) && rounds--) {
        if (round_of(l) || is_over(l) || round_of_others(l)) continue;
        break;
    }
    return is_over(l);
}

/* ---- a launch -------------------------------------------------------------------------------- */

bool together_may_wait(const launch *l)
{
    const device *d = l->device;
    return (d->peer_count || d->guest_count) && !l->grid && l->blocks <= DEVICE_RESIDENT &&
           watch_polls(l);
}

/* What outlives the call that asks for it. */
static launch *keep(const launch *l)
{
    struct kept {
        launch launch;
        device_launch_request request;
        uint8_t params[];
    } *k = malloc(sizeof *k + l->request->param_bytes + 64);
    if (!k) abort();
    k->launch = *l;
    k->request = *l->request;
    memcpy(k->params, l->params, l->request->param_bytes + 64);
    k->request.params = k->params;
    k->launch.params = k->params;
    k->launch.request = &k->request;
    return &k->launch;
}

/* Whatever was on these devices is over. */
static void forget(const launch *l)
{
    const device *d = l->device;
    order_forget(l->device);
    for (uint32_t i = 0; i < d->peer_count; i++)
        if (!d->peers[i]->in_flight) order_forget(d->peers[i]);
}

static device_status land(launch *l)
{
    device *d = l->device;
    d->in_flight = NULL;
    if (d->order) d->order->open = l->in_turn;
    device_status status = launch_over(l);
    if (l->met) forget(l);
    free(l);
    return status;
}

device_status together_launch(launch *asked)
{
    device *d = asked->device;
    launch *l = d->in_flight = keep(asked);
    l->in_turn = d->order && d->order->open;
    launch_begin(l);
    l->resident = pool_seat(d->pool, l->blocks);
    for (uint64_t i = 0; i < l->blocks; i++) begin(l, i);
    meet(l);
    if (take_turns(l, PATIENT)) return land(l);
    peers_end(l);
    return DEVICE_UNFINISHED;
}

device_status device_finish(device *d)
{
    launch *l = d->in_flight;
    if (!l) return DEVICE_OK;
    if (!take_turns(l, UINT32_MAX)) still_report(l);
    return land(l);
}
