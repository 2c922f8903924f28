/*
 * warp.c: the turns of a warp: which of its paths runs next, and for how long.
 *
 * Interface
 *   warp_start, warp_run
 */
#include "device/ops/ops.h"
#include "run.h"

enum { SLICE = 1 << 14 }; /* backward jumps before another path, warp or block gets its turn */

void warp_start(warp *w, const function *f, uint32_t mask)
{
    w->alive = mask;
    w->path_count = 0;
    w->synced = w->fenced = 0;
    w->undefined_count = 0;
    int i = path_new(w);
    w->current = i;
    w->paths[i] = (path){.state = PATH_READY,
                         .mask = mask,
                         .pc = f->code,
                         .parent = -1,
                         .function = f,
                         .registers = w->frames};
}

/* ---- taking turns ---------------------------------------------------------------------------- */

static int next_ready(const warp *w)
{
    for (int i = w->current + 1; i < w->path_count; i++) {
        if (w->paths[i].state == PATH_READY) return i;
    }
    for (int i = 0; i <= w->current && i < w->path_count; i++) {
        if (w->paths[i].state == PATH_READY) return i;
    }
    return -1;
}

/* Lanes that wait for others of their warp go on without them when nothing else can run. */
static bool release_gathering(warp *w)
{
    bool any = false;
    for (int i = 0; i < w->path_count; i++) {
        path *p = &w->paths[i];
        if (p->state != PATH_GATHERING) continue;
        p->state = PATH_READY;
        p->gathered = any = true;
    }
    return any;
}

/* While some lanes spin, those that wait for them where they meet must get on: one of them may hold
 * the lock. They run ahead as a path of their own. */
static void release_waiting(warp *w)
{
    int count = w->path_count;
    for (int i = 0; i < count; i++) {
        path *p = &w->paths[i];
        if (p->state != PATH_JOINING || !(p->mask & w->alive) || p->calls) continue;
        int n = path_new(w);
        p = &w->paths[i];
        w->paths[n] = *p;
        w->paths[n].state = PATH_READY;
        w->paths[n].mask &= w->alive;
        w->paths[n].children = 0;
        if (p->parent >= 0) w->paths[p->parent].children++;
        p->mask = 0;
    }
}

static void out_of_budget(warp *w)
{
    const op *o = path_now(w)->pc;
    if (o->run == run_join) o++; /* the loop's start has the line of what comes before it */
    report(w, o, FINDING_ENDLESS_LOOP, (uint32_t)__builtin_ctz(w->mask), 0,
           "runs without end: the instruction budget is spent");
    launch_stop(w->block->launch, DEVICE_TIMEOUT);
}

static void run_path(warp *w, int index)
{
    if (w->current != index) w->noted = 0;
    w->current = index;
    const path *p = path_now(w);
    w->mask = p->mask;
    w->bank[BANK_REGISTERS] = p->registers;
    const op *o = p->pc;
    while (o && w->undefined_count) o = follow_step(w, o);
    while (o) o = o->run(w, o);
}

bool warp_run(warp *w)
{
    w->slice = SLICE;
    for (;;) {
        int i = next_ready(w);
        if (i < 0 && release_gathering(w)) continue;
        if (i < 0) return false;
        run_path(w, i);
        if (w->budget <= 0) out_of_budget(w);
        if (w->slice > 0 && w->budget > 0 && !w->block->launch->stop) continue;
        release_waiting(w);
        return true;
    }
}
