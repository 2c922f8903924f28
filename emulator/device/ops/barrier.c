/*
 * barrier.c: block barriers, warp barriers, fences.
 *
 * Interface
 *   run_barrier, run_warp_sync, run_fence
 *   barrier_release, barrier_deadlock     for block.c
 *
 * Lanes that reach a barrier are parked. When nothing in the block can run, whoever waits at a
 * barrier that all live threads have reached (threads that returned do not count) goes on. If they
 * reached it at different places of the program, or if a barrier stays incomplete, that is a
 * finding.
 */
#include <stdio.h>

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
    path *p = &w->paths[w->current];
    p->state = PATH_BARRIER;
    p->pc = o;
    p->mask = w->mask;
    p->barrier = (uint8_t)number;
    p->wanted = wanted;
    return NULL;
}

const op *run_warp_sync(warp *w, const op *o)
{
    uint32_t members = ((uint32_t *)row(w, o->a))[__builtin_ctz(w->mask)];
    if (!path_gather(w, o, members)) return NULL;
    w->synced = shadow_tick(w->block);
    return o + 1;
}

const op *run_fence(warp *w, const op *o)
{
    atomic_thread_fence(memory_order_seq_cst);
    w->fenced = w->block->fenced = shadow_tick(w->block);
    if (w->block->launch->watched) global_shadow_fence(w->block);
    return o + 1;
}

/* ---- who waits ------------------------------------------------------------------------------- */

enum { ANY_BARRIER = -1 };

/* Walks over the paths that wait at a barrier: start with {.block = b}. */
typedef struct walk {
    block *block;
    uint32_t next_warp;
    int next_path;
    warp *warp;
    path *path;
} walk;

static bool next_waiting(walk *k, int number)
{
    for (; k->next_warp < k->block->warp_count; k->next_warp++, k->next_path = 0) {
        k->warp = &k->block->warps[k->next_warp];
        while (k->next_path < k->warp->path_count) {
            k->path = &k->warp->paths[k->next_path++];
            if (k->path->state != PATH_BARRIER) continue;
            if (number == ANY_BARRIER || k->path->barrier == number) return true;
        }
    }
    return false;
}

typedef struct waiting {
    uint32_t threads, wanted;
    const path *first; /* of those that wait */
    warp *first_warp;
    const path *apart; /* one that waits at another place */
    warp *apart_warp;
} waiting;

static waiting count_waiting(block *b, uint32_t number)
{
    waiting s = {.threads = b->arrived[number], .wanted = b->live};
    for (walk k = {.block = b}; next_waiting(&k, (int)number);) {
        s.threads += (uint32_t)__builtin_popcount(k.path->mask);
        if (k.path->wanted) s.wanted = k.path->wanted;
        if (!s.first) {
            s.first = k.path;
            s.first_warp = k.warp;
        } else if (!s.apart && k.path->pc != s.first->pc) {
            s.apart = k.path;
            s.apart_warp = k.warp;
        }
    }
    return s;
}

/* ---- completing a barrier -------------------------------------------------------------------- */

static void answer(warp *w, const path *p, uint32_t set, uint32_t all)
{
    const op *o = p->pc;
    w->bank[BANK_REGISTERS] = p->registers;
    uint32_t *d = row(w, o->d);
    bool yes = o->variant == BARRIER_AND ? set == all : set != 0;
    if (o->variant != BARRIER_POPC) {
        *d = (*d & ~p->mask) | (yes ? p->mask : 0);
        return;
    }
    for (uint32_t m = p->mask; m; m &= m - 1) d[__builtin_ctz(m)] = set;
}

/* bar.red: over all threads that wait, how many have the predicate set, and do all, does any? */
static void reduce(block *b, uint32_t number)
{
    uint32_t set = 0, all = 0;
    for (walk k = {.block = b}; next_waiting(&k, (int)number);) {
        if (k.path->pc->variant < BARRIER_POPC) continue;
        k.warp->bank[BANK_REGISTERS] = k.path->registers;
        uint32_t predicate = *(uint32_t *)row(k.warp, k.path->pc->c);
        set += (uint32_t)__builtin_popcount(predicate & k.path->mask);
        all += (uint32_t)__builtin_popcount(k.path->mask);
    }
    for (walk k = {.block = b}; next_waiting(&k, (int)number);) {
        if (k.path->pc->variant >= BARRIER_POPC) answer(k.warp, k.path, set, all);
    }
}

static uint32_t thread_of(const warp *w, const path *p)
{
    return w->index * LANES + (uint32_t)__builtin_ctz(p->mask);
}

static void report_apart(block *b, const waiting *s)
{
    char text[512], a[48], c[48];
    const char *file;
    uint32_t line = 0;
    file = module_file(s->apart->function->module, s->apart->pc->line, &line);
    (void)file;
    snprintf(text, sizeof text,
             "thread%s waits at this barrier while thread%s waits at another one, at line %u: "
             "__syncthreads() must be reached by all threads of a block or by none",
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
        k.path->state = PATH_READY;
        k.path->pc++;
    }
    b->arrived[number] = 0;
}

/* A barrier of a part of the block orders that part; to tell by which is beyond the shadow, so it
 * is taken for a fence. */
void order_accesses(block *b, bool all)
{
    uint32_t tick = shadow_tick(b);
    if (all) b->epoch_tick = tick;
    for (uint32_t k = 0; !all && k < b->warp_count; k++) b->warps[k].fenced = tick;
    if (!all) b->fenced = tick;
    shadow_refresh(b);
}

bool barrier_release(block *b)
{
    uint32_t used = 0;
    for (walk k = {.block = b}; next_waiting(&k, ANY_BARRIER);) used |= 1u << k.path->barrier;
    bool any = false;
    for (; used; used &= used - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(used);
        waiting s = count_waiting(b, number);
        if (s.threads < s.wanted) continue;
        if (s.apart && !s.first->pc->narrow && b->launch->check_barriers) report_apart(b, &s);
        if (b->live < b->threads && s.wanted == b->live && b->launch->check_returns)
            report_returned(b, &s);
        if (s.first->pc->variant >= BARRIER_POPC) reduce(b, number);
        let_go(b, number);
        order_accesses(b, s.threads >= b->live);
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
        for (int i = 0; i < w->path_count; i++) {
            const path *p = &w->paths[i];
            if (p->state == PATH_BARRIER && p->barrier == number) missing &= ~p->mask;
        }
        if (missing) return k * LANES + (uint32_t)__builtin_ctz(missing);
    }
    return UINT32_MAX;
}

/* The path on which a thread waits at a barrier, or NULL. */
static const path *waiting_path(block *b, uint32_t thread)
{
    for (walk k = {.block = b}; next_waiting(&k, ANY_BARRIER);) {
        if (k.warp->index == thread / LANES && k.path->mask >> thread % LANES & 1) return k.path;
    }
    return NULL;
}

/* Why a barrier stays incomplete. */
static device_finding_kind explain(block *b, const warp *w, const path *p, char *text, size_t room)
{
    waiting s = count_waiting(b, p->barrier);
    uint32_t missing = find_missing(b, p->barrier), line = 0;
    char name[48], other[48];
    thread_name(b, thread_of(w, p), name);
    if (missing == UINT32_MAX) {
        snprintf(text, room,
                 "thread%s waits for ever: %u threads wait at barrier %u, which wants %u", name,
                 s.threads, p->barrier, s.wanted);
        return FINDING_DEADLOCK;
    }
    thread_name(b, missing, other);
    const path *q = waiting_path(b, missing);
    if (q) {
        module_file(q->function->module, q->pc->line, &line);
        snprintf(text, room,
                 "thread%s waits at barrier %u for thread%s, which waits at barrier %u, at line %u",
                 name, p->barrier, other, q->barrier, line);
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
    const path *p = stuck.path;
    char text[512];
    device_finding_kind kind = explain(b, stuck.warp, p, text, sizeof text);
    report_at(b, p->function, p->pc->line, kind, thread_of(stuck.warp, p), 0, text);
    launch_stop(b->launch, DEVICE_DEADLOCK);
}
