/*
 * watch.c: which accesses to global memory must be watched in a launch?
 *
 * Interface
 *   watch_add           for flow.c: here is an access
 *   watch_prepare       for launch.c
 *   watch_polls         for together.c
 *   watch_may_report    for global_race.c
 *   run_watched         the handler that looks before the access
 *
 * Memory that a launch only reads has no races. So an access is watched when it may reach an
 * allocation that the kernel may write: its address and that of some store come from parameters
 * that point into the same allocation, or one of the two is unknown. Accesses that order others
 * (atomic, volatile) are watched with them. A watched access gets another handler before its own;
 * an access that need not be watched costs nothing. Once works of several streams were seen that
 * nothing orders, every access may race with another work's, and all are.
 */
#include "device/base/arena.h"
#include "checks.h"
#include "order.h"

enum { MOST_REPORTS = 1000 }; /* of one access in one launch */

void watch_add(function *f, op *o, uint64_t origin)
{
    f->watches = retake(f->watches, (f->watch_count + 1) * sizeof *f->watches);
    f->watches[f->watch_count++] = (watch){.op = o, .run = o->run, .origin = origin};
    if (!o->inner) o->inner = o->run;
}

static const op *stop(warp *w, const op *o)
{
    (void)w, (void)o;
    return NULL;
}

const op *run_watched(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (!mask || !global_shadow_access(w, o, mask)) return o->inner(w, o);
    const op alone[2] = {*o, {.run = stop}};
    o->inner(w, alone);
    global_shadow_stored(w);
    return go_on(w, o + 1);
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* The functions that a launch can run: the kernel; with calls, any of the module. */
static const function *next_function(const launch *l, uint32_t *i)
{
    const function *kernel = l->function;
    const module *m = kernel->module;
    if (!kernel->calls) return (*i)++ ? NULL : kernel;
    if (*i == m->function_count) return NULL;
    const function *f = m->functions[(*i)++];
    return l->counted ? f->instrumented : f;
}

static bool writes(const watch *k)
{
    return !k->op->is_load && !k->op->is_copy;
}

/* Parameters that are sizes or indices: a pointer into device memory is a large number, wherever it
 * points. */
static uint64_t numbers_of(const launch *l)
{
    uint64_t numbers = 0;
    for (uint32_t i = 0; i < ORIGIN_PARAMS; i++) {
        uint64_t value = 0; /* the last one may be too short for a pointer */
        if (8 * i + 8 <= l->request->param_bytes) memcpy(&value, l->params + 8 * i, sizeof value);
        if (value < DEVICE_BASE / 2 || value > -(DEVICE_BASE / 2)) numbers |= UINT64_C(1) << i;
    }
    return numbers;
}

/* Numbers go into an address beside a pointer. One that is made of numbers alone may lie anywhere.
 */
static uint64_t origin_of(const watch *k, uint64_t numbers)
{
    uint64_t pointers = k->origin & ~numbers;
    return pointers || !k->origin ? pointers : ORIGIN_UNKNOWN;
}

static void unite(const launch *l, uint64_t numbers, uint64_t *stores, uint64_t *loads)
{
    uint32_t i = 0;
    *stores = *loads = 0;
    for (const function *f; (f = next_function(l, &i));) {
        for (uint32_t k = 0; k < f->watch_count; k++) {
            uint64_t *to = writes(&f->watches[k]) ? stores : loads;
            *to |= origin_of(&f->watches[k], numbers);
        }
    }
}

/* The allocation that a parameter points into; UINT64_MAX: none. */
static uint64_t target_of(const launch *l, uint32_t bit)
{
    uint64_t address, base, bytes;
    if (8 * bit + 8 > l->request->param_bytes) return UINT64_MAX;
    memcpy(&address, l->params + 8 * bit, sizeof address);
    return heap_find(&l->device->heap, address - DEVICE_BASE, &base, &bytes) ? base : UINT64_MAX;
}

static bool is_variable(const launch *l, uint64_t base)
{
    return base != UINT64_MAX && module_owner(l->device, DEVICE_BASE + base);
}

/* Origins that may reach what an origin in `stores` reaches. */
static uint64_t reachable(const launch *l, uint64_t stores, uint64_t loads)
{
    if (!stores || stores & ORIGIN_UNKNOWN) return stores ? ~UINT64_C(0) : 0;
    uint64_t all = stores | ORIGIN_UNKNOWN, params = (stores | loads) & (ORIGIN_VARIABLE - 1);
    uint64_t base[ORIGIN_PARAMS];
    for (uint64_t m = params; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(m);
        base[i] = target_of(l, i);
        if (is_variable(l, base[i])) {
            if (stores >> i & 1) all |= ORIGIN_VARIABLE;
            if (stores & ORIGIN_VARIABLE) all |= UINT64_C(1) << i;
        }
    }
    for (uint64_t s = stores & params; s; s &= s - 1) {
        for (uint64_t m = params; m; m &= m - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(m);
            if (base[i] == base[__builtin_ctzll(s)]) all |= UINT64_C(1) << i;
        }
    }
    return all;
}

static void choose(const launch *l, const function *f, uint64_t numbers, uint64_t reached)
{
    for (uint32_t k = 0; k < f->watch_count; k++) {
        watch *x = &f->watches[k];
        bool strong = x->op->strength != STRENGTH_PLAIN;
        bool on = l->watched && (strong || origin_of(x, numbers) & reached);
        x->reports = 0;
        x->op->run = on ? run_watched : x->run;
    }
}

/* A load that was fused with the next one (fused.c) leaves it to itself when that is watched. */
static void part_fused(const function *f)
{
    for (uint32_t k = 0; k < f->watch_count; k++) {
        op *o = f->watches[k].op;
        if (o->run != run_watched && o->run != o->inner && o[1].run == run_watched)
            o->run = o->inner;
    }
}

void watch_prepare(launch *l)
{
    uint64_t stores, loads, numbers = numbers_of(l);
    uint32_t i = 0;
    unite(l, numbers, &stores, &loads);
    uint64_t reached = l->check_races ? reachable(l, stores, loads) : 0;
    if (reached && l->device->order && l->device->order->concurrent) reached = ~UINT64_C(0);
    l->watched = reached && global_shadow_open(l);
    for (const function *f; (f = next_function(l, &i));) {
        choose(l, f, numbers, reached);
        if (l->watched) part_fused(f);
    }
}

bool watch_polls(const launch *l)
{
    uint32_t i = 0;
    for (const function *f; (f = next_function(l, &i));) {
        for (uint32_t k = 0; k < f->watch_count; k++) {
            const op *o = f->watches[k].op;
            if (o->strength != STRENGTH_PLAIN && (o->is_load || o->in_system)) return true;
        }
    }
    return false;
}

bool watch_may_report(launch *l, const op *o)
{
    uint32_t i = 0;
    for (const function *f; (f = next_function(l, &i));) {
        for (uint32_t k = 0; k < f->watch_count; k++) {
            if (f->watches[k].op != o) continue;
            return __atomic_fetch_add(&f->watches[k].reports, 1, __ATOMIC_RELAXED) < MOST_REPORTS;
        }
    }
    return true;
}
