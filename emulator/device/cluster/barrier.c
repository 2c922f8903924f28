/*
 * barrier.c: the barrier of a cluster: a thread arrives, and later waits for all others.
 *
 * Interface
 *   run_cluster_arrive, run_cluster_wait
 *   cluster_release, cluster_deadlock     for run/cluster.c
 *
 * All threads that are live must arrive. A waiting thread is parked until they have.
 */
#include <stdio.h>

#include "barrier.h"
#include "device/ops/ops.h"

static cluster_warp *place_of(const warp *w)
{
    return &w->block->cluster->warp[w->block->rank][w->index];
}

/* ---- arriving -------------------------------------------------------------------------------- */

/* Without a release, what a fence has published is. */
static void release(warp *w, cluster_warp *at, uint32_t phase, bool relaxed)
{
    uint32_t before = at->released[(phase + PHASES - 1) % PHASES], tick = w->published;
    shadow_tick(w->block);
    if (!relaxed) tick = tick_now(w->block);
    at->released[phase % PHASES] = tick > before ? tick : before;
}

static const op *misuse(warp *w, const op *o, uint32_t lane, const char *text)
{
    report(w, o, FINDING_DEADLOCK, lane, 0, "%s", text);
    launch_stop(w->block->launch, DEVICE_DEADLOCK);
    return NULL;
}

const op *run_cluster_arrive(warp *w, const op *o)
{
    cluster *c = w->block->cluster;
    cluster_warp *at = place_of(w);
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        if (at->arrived[i] != at->waited[i])
            return misuse(w, o, i,
                          "arrives again at the barrier of its cluster, and has not waited since "
                          "the last time: each barrier.cluster.arrive needs a wait");
        at->arrived[i]++;
    }
    release(w, at, c->phase, o->variant);
    c->arrivals = true;
    c->relaxed |= o->variant;
    return o + 1;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static const op *park(warp *w, const op *o)
{
    lane_group *g = group_now(w);
    g->state = GROUP_CLUSTER;
    g->pc = o;
    g->mask = w->mask;
    return NULL;
}

const op *run_cluster_wait(warp *w, const op *o)
{
    const cluster *c = w->block->cluster;
    cluster_warp *at = place_of(w);
    const uint32_t mask = active(w, o);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        if (at->arrived[i] == at->waited[i])
            return misuse(w, o, i,
                          "waits at the barrier of its cluster, and has not arrived there: each "
                          "wait needs a barrier.cluster.arrive before it");
        if (at->arrived[i] > c->phase) return park(w, o);
    }
    for (uint32_t m = mask; m; m &= m - 1) at->waited[__builtin_ctz(m)]++;
    return o + 1;
}

/* ---- all have arrived ------------------------------------------------------------------------ */

/* Lanes of a warp that have not arrived. */
static uint32_t missing_lanes(const warp *w)
{
    const cluster_warp *at = place_of(w);
    uint32_t missing = 0;
    for (uint32_t m = w->alive; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        if (at->arrived[i] <= w->block->cluster->phase) missing |= 1u << i;
    }
    return missing;
}

/* A live thread that has not arrived; NULL: there is none. */
static warp *find_missing(cluster *c, uint32_t *lane)
{
    for (uint32_t r = 0; r < c->count; r++) {
        block *b = c->block[r];
        for (uint32_t k = 0; b->live && k < b->warp_count; k++) {
            uint32_t missing = missing_lanes(&b->warps[k]);
            if (!missing) continue;
            *lane = (uint32_t)__builtin_ctz(missing);
            return &b->warps[k];
        }
    }
    return NULL;
}

/* Who has ended is not waited for, and what it did is over. */
static void release_ended(block *b)
{
    for (uint32_t k = 0; k < b->warp_count; k++)
        if (!b->warps[k].alive)
            place_of(&b->warps[k])->released[b->cluster->phase % PHASES] = tick_now(b) + 1;
}

static void let_go(block *b)
{
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp *w = &b->warps[k];
        for (int i = 0; i < w->group_count; i++)
            if (w->groups[i].state == GROUP_CLUSTER) w->groups[i].state = GROUP_READY;
    }
}

bool cluster_release(cluster *c)
{
    uint32_t lane;
    if (!c->arrivals || find_missing(c, &lane)) return false;
    for (uint32_t r = 0; r < c->count; r++) {
        release_ended(c->block[r]);
        let_go(c->block[r]);
        c->block[r]->met = tick_now(c->block[r]) + 1;
        if (c->block[r]->live && !c->relaxed) order_accesses(c->block[r], true);
        known_share(c->block[r]);
    }
    c->phase++;
    c->arrivals = c->relaxed = false;
    return true;
}

/* ---- not all will ---------------------------------------------------------------------------- */

static const lane_group *group_in(const warp *w, group_state state, uint32_t lanes)
{
    for (int i = 0; i < w->group_count; i++)
        if (w->groups[i].state == state && w->groups[i].mask & lanes) return &w->groups[i];
    return NULL;
}

static bool find_waiting(const cluster *c, const warp **w, const lane_group **g)
{
    for (uint32_t r = 0; r < c->count; r++)
        for (uint32_t k = 0; k < c->block[r]->warp_count; k++) {
            *w = &c->block[r]->warps[k];
            *g = group_in(*w, GROUP_CLUSTER, ~0u);
            if (*g) return true;
        }
    return false;
}

static void report_missing(const warp *w, const lane_group *g, const warp *missing, uint32_t lane)
{
    block *b = w->block;
    const lane_group *at = group_in(missing, GROUP_BARRIER, 1u << lane);
    char me[48], other[48], where[64] = "", text[400];
    uint32_t line = 0, thread = w->index * LANES + (uint32_t)__builtin_ctz(g->mask);
    if (at) module_file(at->function->module, at->pc->line, &line);
    if (at) snprintf(where, sizeof where, ", which waits at the barrier of line %u", line);
    snprintf(text, sizeof text,
             "thread%s of block %u of a cluster waits at a barrier of the cluster that thread%s of "
             "block %u does not reach%s: all threads of all its blocks must, or none",
             thread_name(b, thread, me), b->rank,
             thread_name(b, missing->index * LANES + lane, other), missing->block->rank, where);
    report_at(b, g->function, g->pc->line, FINDING_DIVERGENT_BARRIER, thread, 0, text);
}

void cluster_deadlock(cluster *c)
{
    const warp *w;
    const lane_group *g;
    uint32_t lane = 0;
    const warp *missing = find_missing(c, &lane);
    if (missing && find_waiting(c, &w, &g)) {
        report_missing(w, g, missing, lane);
        launch_stop(c->launch, DEVICE_DEADLOCK);
    }
    for (uint32_t r = 0; r < c->count && !c->launch->stop; r++)
        if (c->block[r]->live) barrier_deadlock(c->block[r]);
    launch_stop(c->launch, DEVICE_DEADLOCK);
}
