/*
 * barrier.c: block barriers, warp barriers, fences.
 *
 * Interface
 *   run_barrier, run_warp_sync, run_fence
 *   barrier_release, barrier_deadlock     for block.c
 *
 * Lanes that reach a barrier are parked. When nothing in the block can run, the lanes that wait at
 * a barrier that all live threads have reached (threads that returned do not count) go on. If they
 * reached it at different places of the program, or if a barrier stays incomplete, that is a
 * finding.
 */
#include <stdio.h>

#include "device/base/cluster.h"
#include "device/trace/trace.h"
#include "ops.h"

const op *run_barrier(warp *w, const op *o)
{
    block *b = w->block;
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    uint32_t number = ((uint32_t *)row(w, o->a))[lane] % MAX_BARRIERS;
    uint32_t wanted = o->b ? ((uint32_t *)row(w, o->b))[lane] : 0;
    if (o->variant == BARRIER_ARRIVE) {
        b->arrived[number] += (uint32_t)__builtin_popcount(mask);
        return o + 1;
    }
    lane_group *g = &w->groups[w->current];
    g->state = GROUP_BARRIER;
    g->pc = o;
    g->mask = w->mask;
    g->barrier = (uint8_t)number;
    g->wanted = wanted;
    return NULL;
}

/* Lanes may come with different masks, as tiles of a partition do. */
static void check_own_lane(warp *w, const op *o, const uint32_t members[LANES])
{
    uint32_t m = w->mask;
    while (m && members[__builtin_ctz(m)] >> __builtin_ctz(m) & 1) m &= m - 1;
    if (m) report_left_out(w, o, (uint32_t)__builtin_ctz(m), members[__builtin_ctz(m)]);
}

const op *run_warp_sync(warp *w, const op *o)
{
    const uint32_t *members = row(w, o->a);
    if (!group_gather(w, o, members[__builtin_ctz(w->mask)])) return NULL;
    if (w->block->launch->check_lanes) check_own_lane(w, o, members);
    w->synced = shadow_tick(w->block);
    return o + 1;
}

const op *run_fence(warp *w, const op *o)
{
    atomic_thread_fence(memory_order_seq_cst);
    w->fenced = w->block->fenced = shadow_tick(w->block);
    if (o->in_system) w->block->pushed = 0;
    w->published = tick_now(w->block);
    known_share(w->block);
    if (w->block->launch->watched) global_shadow_fence(w->block);
    return o + 1;
}

/* ---- who waits ------------------------------------------------------------------------------- */

enum { ANY_BARRIER = -1 };

/* Walks over the groups that wait at a barrier: start with {.block = b}. */
typedef struct walk {
    block *block;
    uint32_t next_warp;
    int next_group;
    warp *warp;
    lane_group *group;
} walk;

static bool next_waiting(walk *k, int number)
{
    for (; k->next_warp < k->block->warp_count; k->next_warp++, k->next_group = 0) {
        k->warp = &k->block->warps[k->next_warp];
        while (k->next_group < k->warp->group_count) {
            k->group = &k->warp->groups[k->next_group++];
            if (k->group->state != GROUP_BARRIER) continue;
            if (number == ANY_BARRIER || k->group->barrier == number) return true;
        }
    }
    return false;
}

typedef struct waiting {
    uint32_t threads, wanted;
    const lane_group *first; /* of those that wait */
    warp *first_warp;
    const lane_group *apart; /* one that waits at another place */
    warp *apart_warp;
} waiting;

static waiting count_waiting(block *b, uint32_t number)
{
    waiting s = {.threads = b->arrived[number], .wanted = b->live};
    for (walk k = {.block = b}; next_waiting(&k, (int)number);) {
        s.threads += (uint32_t)__builtin_popcount(k.group->mask);
        if (k.group->wanted) s.wanted = k.group->wanted;
        if (!s.first) {
            s.first = k.group;
            s.first_warp = k.warp;
        } else if (!s.apart && k.group->pc != s.first->pc) {
            s.apart = k.group;
            s.apart_warp = k.warp;
        }
    }
    return s;
}

/* ---- completing a barrier -------------------------------------------------------------------- */

static void answer(warp *w, const lane_group *g, uint32_t set, uint32_t all)
{
    const op *o = g->pc;
    w->bank[BANK_REGISTERS] = g->registers;
    uint32_t *d = row(w, o->d);
    bool yes = o->variant == BARRIER_AND ? set == all : set != 0;
    if (o->variant != BARRIER_POPC) {
        *d = (*d & ~g->mask) | (yes ? g->mask : 0);
        return;
    }
    for (uint32_t m = g->mask; m; m &= m - 1) d[__builtin_ctz(m)] = set;
}

/* bar.red: over all threads that wait, how many have the predicate set, and do all, does any? */
static void reduce(block *b, uint32_t number)
{
    uint32_t set = 0, all = 0;
    for (walk k = {.block = b}; next_waiting(&k, (int)number);) {
        if (k.group->pc->variant < BARRIER_POPC) continue;
        k.warp->bank[BANK_REGISTERS] = k.group->registers;
        uint32_t predicate = *(uint32_t *)row(k.warp, k.group->pc->c);
        set += (uint32_t)__builtin_popcount(predicate & k.group->mask);
        all += (uint32_t)__builtin_popcount(k.group->mask);
    }
    for (walk k = {.block = b}; next_waiting(&k, (int)number);) {
        if (k.group->pc->variant >= BARRIER_POPC) answer(k.warp, k.group, set, all);
    }
}

static uint32_t thread_of(const warp *w, const lane_group *g)
{
    return w->index * LANES + (uint32_t)__builtin_ctz(g->mask);
}

static void report_apart(block *b, const waiting *s)
{
    char text[512], a[48], c[48];
    uint32_t line = 0;
    module_file(s->apart->function->module, s->apart->pc->line, &line);
    snprintf(
        text, sizeof text,
        "thread%s waits at this barrier while thread%s waits at another one, at line %u: PTX "
        "allows that and they go on, but the CUDA guide allows __syncthreads() in a branch only "
        "if all threads of the block take it",
        thread_name(b, thread_of(s->first_warp, s->first), a),
        thread_name(b, thread_of(s->apart_warp, s->apart), c), line);
    report_at(b, s->first->function, s->first->pc->line, FINDING_DIVERGENT_BARRIER,
              thread_of(s->first_warp, s->first), 0, text);
}

/* Legal since Volta, and yet a trap for whoever adds a line that all threads are needed for. */
static void report_returned(block *b, const waiting *s)
{
    char text[512];
    snprintf(text, sizeof text,
             "%u of the block's %u threads returned before this barrier: let them skip the work "
             "instead, so that all reach every __syncthreads()",
             b->threads - b->live, b->threads);
    report_at(b, s->first->function, s->first->pc->line, FINDING_EARLY_RETURN,
              thread_of(s->first_warp, s->first), 0, text);
}

static void let_go(block *b, uint32_t number)
{
    for (walk k = {.block = b}; next_waiting(&k, (int)number);) {
        k.group->state = GROUP_READY;
        k.group->pc++;
    }
    b->arrived[number] = 0;
}

/* What one thread knows to be over, all do. */
static void join_cluster(block *b)
{
    cluster *c = b->cluster;
    uint32_t *joined = &c->joined[b->rank];
    for (uint32_t k = 0; k < b->warp_count; k++)
        for (uint32_t i = 0; i < LANES; i++)
            if (c->warp[b->rank][k].waited[i] > *joined) *joined = c->warp[b->rank][k].waited[i];
}

/* A barrier of a part of the block orders that part; to tell by which is beyond the shadow, so it
 * is taken for a fence. */
void order_accesses(block *b, bool all)
{
    uint32_t tick = shadow_tick(b);
    if (all) b->epoch_tick = tick;
    if (all && b->cluster) join_cluster(b);
    for (uint32_t k = 0; !all && k < b->warp_count; k++) b->warps[k].fenced = tick;
    if (!all) b->fenced = tick;
    shadow_refresh(b);
}

bool barrier_release(block *b)
{
    uint32_t used = 0;
    for (walk k = {.block = b}; next_waiting(&k, ANY_BARRIER);) used |= 1u << k.group->barrier;
    bool any = false;
    for (; used; used &= used - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(used);
        waiting s = count_waiting(b, number);
        if (s.threads < s.wanted) continue;
        if (s.apart && !s.first->pc->narrow && b->launch->check_barriers) report_apart(b, &s);
        if (b->live < b->threads && s.wanted == b->live && b->launch->check_returns)
            report_returned(b, &s);
        if (s.first->pc->variant >= BARRIER_POPC) reduce(b, number);
        b->returned = b->threads - b->live;
        b->barrier_line = s.first->pc->line;
        if (b->trace) trace_barrier(b, number);
        let_go(b, number);
        order_accesses(b, s.threads >= b->live);
        b->met = b->rewound + b->tick;
        known_share(b);
        any = true;
    }
    return any;
}

/* ---- barriers that stay incomplete ----------------------------------------------------------- */

/* A live thread of the block that does not wait at that barrier. */
static uint32_t find_missing(block *b, uint32_t number)
{
    for (uint32_t k = 0; k < b->warp_count; k++) {
        const warp *w = &b->warps[k];
        uint32_t missing = w->alive;
        for (int i = 0; i < w->group_count; i++) {
            const lane_group *g = &w->groups[i];
            if (g->state == GROUP_BARRIER && g->barrier == number) missing &= ~g->mask;
        }
        if (missing) return k * LANES + (uint32_t)__builtin_ctz(missing);
    }
    return UINT32_MAX;
}

/* The group on which a thread waits at a barrier, or NULL. */
static const lane_group *waiting_group(block *b, uint32_t thread)
{
    for (walk k = {.block = b}; next_waiting(&k, ANY_BARRIER);) {
        if (k.warp->index == thread / LANES && k.group->mask >> thread % LANES & 1) return k.group;
    }
    return NULL;
}

/* Why a barrier stays incomplete. */
static device_finding_kind explain(block *b, const warp *w, const lane_group *g, char *text,
                                   size_t room)
{
    waiting s = count_waiting(b, g->barrier);
    uint32_t missing = find_missing(b, g->barrier), line = 0;
    char name[48], other[48];
    thread_name(b, thread_of(w, g), name);
    if (missing == UINT32_MAX) {
        snprintf(text, room,
                 "thread%s waits for ever: %u threads wait at barrier %u, which expects %u", name,
                 s.threads, g->barrier, s.wanted);
        return FINDING_DEADLOCK;
    }
    thread_name(b, missing, other);
    const lane_group *q = waiting_group(b, missing);
    if (q) {
        module_file(q->function->module, q->pc->line, &line);
        snprintf(text, room,
                 "thread%s waits at barrier %u for thread%s, which waits at barrier %u, at line %u",
                 name, g->barrier, other, q->barrier, line);
        return FINDING_DEADLOCK;
    }
    snprintf(text, room,
             "thread%s waits at a barrier that thread%s does not reach: %u of %u threads "
             "are there; __syncthreads() must be reached by all threads of a block or by none",
             name, other, s.threads, s.wanted);
    return FINDING_DIVERGENT_BARRIER;
}

void barrier_deadlock(block *b)
{
    walk stuck = {.block = b};
    if (!next_waiting(&stuck, ANY_BARRIER)) return;
    const lane_group *g = stuck.group;
    char text[512];
    device_finding_kind kind = explain(b, stuck.warp, g, text, sizeof text);
    report_at(b, g->function, g->pc->line, kind, thread_of(stuck.warp, g), 0, text);
    launch_stop(b->launch, DEVICE_DEADLOCK);
}
