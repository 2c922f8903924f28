/*
 * order.c: turns and steps, and the works that are past.
 *
 * Interface
 *   device_take_turn, device_settle
 *   order_step, order_find, order_floor, order_add, order_launched
 *   order_forget, order_forget_range, order_close
 *
 * A GPU has an engine that copies to the device, one that copies to the host, and its
 * multiprocessors, and they work side by side as far as the order of the works lets them. Each work
 * takes one step of its engine, however large it is, as soon as all that it comes after is done; an
 * engine takes its works in the order in which they were asked for. The steps that a program takes
 * (its span), against the number of its copies and kernels, say how many of them overlap: a model
 * of the order, no measure of time. A work that is no longer remembered races with none, so none
 * that follows may share its step.
 */
#include <stdlib.h>
#include <string.h>

#include "device/base/arena.h"
#include "global_shadow.h"
#include "order.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint32_t order_oldest(const work_order *o)
{
    return o->past_count > PAST ? o->past_count - PAST : 0;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static bool is_apart(const device_turn *t, const past *p)
{
    return p->lane != t->lane && p->work > t->after[p->lane];
}

static bool some_are_apart(const work_order *o)
{
    for (uint32_t lane = 0; lane < o->lanes; lane++)
        if (lane != o->turn.lane && o->last[lane] > o->turn.after[lane]) return true;
    return false;
}

static void mark_apart(work_order *o)
{
    bool some = some_are_apart(o);
    if (!some && !o->any_apart) return;
    for (uint32_t i = order_oldest(o); i < o->past_count; i++) {
        past *p = &o->past[i % PAST];
        p->apart = is_apart(&o->turn, p);
    }
    o->any_apart = some;
    o->concurrent |= some;
}

/* Whoever gives works falling numbers gets the last one again. */
static uint32_t number_of(const work_order *o, const device_turn *t)
{
    uint32_t count = o->count[t->lane];
    uint32_t last = count ? o->steps[t->lane].work[(count - 1) % STEPS] : 1;
    return t->work > last ? t->work : last;
}

void device_take_turn(device *d, const device_turn *turn)
{
    work_order *o = d->order;
    if (!turn) {
        if (o) o->open = false;
        return;
    }
    if (!o) o = d->order = take(1, sizeof *o);
    global_shadow_renew(d);
    o->turn = *turn;
    o->turn.lane %= DEVICE_LANES;
    o->turn.work = number_of(o, &o->turn);
    o->open = true;
    o->stepped = false;
    mark_apart(o);
}

void device_settle(device *d)
{
    work_order *o = d->order;
    if (!o) return;
    order_forget(d);
    o->concurrent = false;
}

void order_forget(device *d)
{
    work_order *o = d->order;
    if (!o) return;
    for (int i = 0; i < ENGINES; i++) o->idle[i] = o->span;
    o->past_count = 0;
    o->any_apart = false;
    memset(o->last, 0, sizeof o->last);
}

void order_forget_range(device *d, uint64_t offset, uint64_t bytes)
{
    work_order *o = d->order;
    for (uint32_t i = o ? order_oldest(o) : 0; o && i < o->past_count; i++) {
        past *p = &o->past[i % PAST];
        if (!p->kernel && p->offset - offset < bytes) p->bytes = 0;
    }
}

void order_close(device *d)
{
    free(d->order);
    d->order = NULL;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The step in which the works of a lane up to that one are done. */
static uint64_t step_of(const work_order *o, uint32_t lane, uint32_t work)
{
    const steps *s = &o->steps[lane];
    uint32_t end = o->count[lane], first = end > STEPS ? end - STEPS : 0, low = first;
    if (end && s->work[(end - 1) % STEPS] <= work) return s->step[(end - 1) % STEPS];
    while (low < end) {
        uint32_t middle = low + (end - low) / 2;
        if (s->work[middle % STEPS] <= work)
            low = middle + 1;
        else
            end = middle;
    }
    if (low > first) return s->step[(low - 1) % STEPS];
    return first ? s->step[first % STEPS] : 0;
}

void order_step(device *d, engine e)
{
    work_order *o = d->order;
    if (!o || !o->open || o->stepped) return;
    const device_turn *t = &o->turn;
    uint64_t step = o->idle[e];
    if (t->lane >= o->lanes) o->lanes = t->lane + 1;
    for (uint32_t lane = 0; lane < o->lanes; lane++)
        step = later(step, step_of(o, lane, lane == t->lane ? UINT32_MAX : t->after[lane]));
    o->idle[e] = ++step;
    o->span = later(o->span, step);
    uint32_t i = o->count[t->lane]++ % STEPS;
    o->steps[t->lane].work[i] = t->work;
    o->steps[t->lane].step[i] = step;
    o->stepped = true;
    o->step = step;
}

/* ---- works that are past --------------------------------------------------------------------- */

const past *order_find(const device *d, uint32_t event)
{
    const work_order *o = d->order;
    uint32_t first = o ? order_oldest(o) : 0, low = first, end = o ? o->past_count : 0;
    while (low < end) {
        uint32_t middle = low + (end - low) / 2;
        if (o->past[middle % PAST].first_event <= event)
            low = middle + 1;
        else
            end = middle;
    }
    const past *p = low > first ? &o->past[(low - 1) % PAST] : NULL;
    return p && event < p->end_event ? p : NULL;
}

uint32_t order_floor(const device *d, uint32_t none)
{
    const work_order *o = d->order;
    if (!o || !o->open || !o->any_apart) return none;
    for (uint32_t i = order_oldest(o); i < o->past_count; i++) {
        const past *p = &o->past[i % PAST];
        if (p->apart) return p->first_event; /* the oldest has the lowest number */
    }
    return none;
}

/* The one whose place is needed is before all that follow. */
static void forget_oldest(work_order *o)
{
    const past *p = &o->past[o->past_count % PAST];
    for (int i = 0; i < ENGINES; i++) o->idle[i] = later(o->idle[i], p->step);
}

past *order_add(work_order *o)
{
    if (o->past_count >= PAST) forget_oldest(o);
    past *p = &o->past[o->past_count++ % PAST];
    *p = (past){.lane = o->turn.lane, .work = o->turn.work, .step = o->step};
    o->last[p->lane] = p->work;
    if (p->lane >= o->lanes) o->lanes = p->lane + 1;
    return p;
}

void order_launched(const launch *l, uint32_t first_event, uint32_t end_event, bool fenced)
{
    work_order *o = l->device->order;
    if (!o || !o->open) return;
    past *p = order_add(o);
    p->first_event = first_event;
    p->end_event = end_event;
    p->fenced = fenced;
    p->kernel = l->function;
    memcpy(p->grid, l->request->grid, sizeof p->grid);
    memcpy(p->block, l->request->block, sizeof p->block);
}
