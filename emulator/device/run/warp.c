/*
 * warp.c: the turns of a warp: which of its groups runs next, and for how long.
 *
 * Interface
 *   warp_start, warp_run
 */
#include "device/ops/ops.h"
#include "run.h"

/* Backward jumps before another group, warp or block gets its turn. The first warp of a block that
 * runs gets half of the time: where no loop ends, it has spent its budget long before all have. */
enum { SLICE = 1 << 14, SHORT = 1 << 6 /* of a launch that others of its kind wait for */ };

void warp_start(warp *w, const function *f, uint32_t mask)
{
    w->alive = mask;
    w->group_count = 0;
    w->synced = w->fenced = w->published = 0;
    w->undefined_count = 0;
    w->vain = 0;
    int i = group_new(w);
    w->current = i;
    w->groups[i] = (lane_group){.state = GROUP_READY,
                                .mask = mask,
                                .pc = f->code,
                                .parent = -1,
                                .function = f,
                                .registers = w->frames};
}

/* ---- taking turns ---------------------------------------------------------------------------- */

static int next_ready(const warp *w)
{
    for (int i = w->current + 1; i < w->group_count; i++) {
        if (w->groups[i].state == GROUP_READY) return i;
    }
    for (int i = 0; i <= w->current && i < w->group_count; i++) {
        if (w->groups[i].state == GROUP_READY) return i;
    }
    return -1;
}

/* Lanes that wait for others of their warp go on without them when nothing else can run. */
static bool release_gathering(warp *w)
{
    bool any = false;
    for (int i = 0; i < w->group_count; i++) {
        lane_group *g = &w->groups[i];
        if (g->state != GROUP_GATHERING) continue;
        g->state = GROUP_READY;
        g->gathered = any = true;
    }
    return any;
}

/* While some lanes spin, those that wait for them where they meet must get on: one of them may hold
 * the lock. They run ahead as a group of their own. */
static void release_waiting(warp *w)
{
    int count = w->group_count;
    for (int i = 0; i < count; i++) {
        lane_group *g = &w->groups[i];
        if (g->state != GROUP_JOINING || !(g->mask & w->alive) || g->calls) continue;
        int n = group_new(w);
        g = &w->groups[i];
        w->groups[n] = *g;
        w->groups[n].state = GROUP_READY;
        w->groups[n].mask &= w->alive;
        w->groups[n].children = 0;
        if (g->parent >= 0) w->groups[g->parent].children++;
        g->mask = 0;
    }
}

static void out_of_budget(warp *w)
{
    const op *o = group_now(w)->pc;
    if (o->run == run_join) o++; /* the loop's start has the line of what comes before it */
    report(w, o, FINDING_ENDLESS_LOOP, (uint32_t)__builtin_ctz(w->mask), 0,
           w->block->device->interrupted ? "is still at this line when its time is over"
           : still_waits_for_host(group_now(w))
               ? "runs without end: it waits for the host, but on softgpu the host goes on only "
                 "after the launch"
               : "runs without end: the instruction budget is spent");
    launch_stop(w->block->launch, DEVICE_TIMEOUT);
}

static void run_group(warp *w, int index)
{
    if (w->current != index) w->noted = 0;
    w->current = index;
    const lane_group *g = group_now(w);
    w->mask = g->mask;
    w->bank[BANK_REGISTERS] = g->registers;
    const op *o = g->pc;
    while (o && (w->undefined_count || w->block->rests)) {
        if (w->block->rests) still_note(w, o);
        o = w->undefined_count ? follow_step(w, o) : o->run(w, o);
    }
    while (o) o = o->run(w, o);
}

bool warp_run(warp *w, bool is_first)
{
    w->slice = is_first ? SLICE * (int32_t)w->block->warp_count : SLICE;
    if (w->block->launch->may_wait) w->slice = SHORT;
    w->yields = false;
    for (;;) {
        int i = next_ready(w);
        if (i < 0 && release_gathering(w)) continue;
        if (i < 0) return false;
        run_group(w, i);
        if (w->budget <= 0 || (w->slice <= 0 && w->block->device->interrupted)) out_of_budget(w);
        if (w->slice > 0 && w->budget > 0 && !w->block->launch->stop) continue;
        if (!w->yields || w->vain >= PATIENCE) release_waiting(w);
        return true;
    }
}
