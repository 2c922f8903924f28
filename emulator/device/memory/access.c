/*
 * access.c: which memory a load or store of a warp touches, and whether it may.
 *
 * Interface
 *   run_load, run_store, with variants for what is known beforehand
 *
 * An access is cut into runs: neighbouring lanes whose addresses rise by the size of the element,
 * or stay equal. A coalesced access is one run, so is a broadcast; a warp that covers two rows of
 * a 16 x 16 block makes two. A run is checked and moved as a whole; lanes that are scattered beyond
 * that one by one, in a tight loop. Only an access that does not pass is checked lane by lane, to
 * find and name the culprit; a forbidden load yields 0, a forbidden store is dropped.
 */
#include <stdio.h>

#include "device/base/bits.h"
#include "device/checks/shadow.h"
#include "memory.h"

/* ---- runs ------------------------------------------------------------------------------------ */

#define INLINE static inline __attribute__((always_inline))

/* Do `lanes` addresses rise by `bytes`, or stay equal? The step, or -1. */
#define DEFINE_STEP(name, T)                                                                       \
    INLINE int64_t name(const T *a, uint32_t lanes, uint32_t bytes)                                \
    {                                                                                              \
        T step = lanes > 1 ? (T)(a[1] - a[0]) : (T)bytes, rises = -(T)(step != 0), off = 0;        \
        if (step != 0 && step != bytes) return -1;                                                 \
        for (uint32_t i = 0; i < lanes; i++) off |= a[i] ^ (a[0] + ((T)i * bytes & rises));        \
        return off ? -1 : (int64_t)step;                                                           \
    }
DEFINE_STEP(step_32, uint32_t)
DEFINE_STEP(step_64, uint64_t)

/* The same for each half of a warp, both at once. */
#define DEFINE_STEPS(name, T)                                                                      \
    INLINE bool name(const T *a, uint32_t bytes, uint32_t step[2])                                 \
    {                                                                                              \
        const T *b = a + HALF;                                                                     \
        T low = (T)(a[1] - a[0]), high = (T)(b[1] - b[0]), off = 0;                                \
        T rises = -(T)(low != 0), climbs = -(T)(high != 0);                                        \
        if ((low != 0 && low != bytes) || (high != 0 && high != bytes)) return false;              \
        for (uint32_t i = 0; i < HALF; i++) {                                                      \
            off |= a[i] ^ (a[0] + ((T)i * bytes & rises));                                         \
            off |= b[i] ^ (b[0] + ((T)i * bytes & climbs));                                        \
        }                                                                                          \
        step[0] = (uint32_t)low;                                                                   \
        step[1] = (uint32_t)high;                                                                  \
        return off == 0;                                                                           \
    }
enum { HALF = LANES / 2 };
DEFINE_STEPS(steps_32, uint32_t)
DEFINE_STEPS(steps_64, uint64_t)

INLINE uint64_t address_at(const warp *w, const op *o, bool narrow, uint32_t lane)
{
    const void *a = row(w, o->a);
    if (narrow) return (uint32_t)(((const uint32_t *)a)[lane] + (uint64_t)o->offset);
    return ((const uint64_t *)a)[lane] + (uint64_t)o->offset;
}

/* A full warp: one run, or one for each half, or 0: scattered. */
INLINE uint32_t cut_full(const warp *w, const op *o, bool narrow, uint32_t bytes, run runs[2])
{
    const void *a = row(w, o->a);
    uint32_t step[2];
    if (!(narrow ? steps_32(a, bytes, step) : steps_64(a, bytes, step))) return 0;
    uint64_t low = address_at(w, o, narrow, 0), high = address_at(w, o, narrow, HALF);
    bool whole = step[0] == step[1] && high - low == HALF * step[0];
    runs[0] = (run){low, 0, whole ? LANES : HALF, bytes, step[0]};
    runs[1] = (run){high, HALF, HALF, bytes, step[1]};
    return whole ? 1 : 2;
}

/* @return how many runs, 0 when the lanes are scattered. */
INLINE uint32_t cut(warp *w, const op *o, uint32_t mask, bool narrow, run runs[2])
{
    uint32_t bytes = (uint32_t)o->size * o->count;
    if (is_all(mask)) return cut_full(w, o, narrow, bytes, runs);
    uint32_t first = (uint32_t)__builtin_ctz(mask), lanes = (uint32_t)__builtin_popcount(mask);
    if (mask >> first != (1u << lanes) - 1) return 0;
    const void *a = row(w, o->a);
    int64_t step = narrow ? step_32((const uint32_t *)a + first, lanes, bytes)
                          : step_64((const uint64_t *)a + first, lanes, bytes);
    if (step < 0) return 0;
    runs[0] = (run){address_at(w, o, narrow, first), first, lanes, bytes, (uint32_t)step};
    return 1;
}

/* ---- what lies behind a run ------------------------------------------------------------------ */

INLINE uint8_t *reach_global(const warp *w, const run *r, access_kind how)
{
    device *d = w->block->device;
    uint64_t offset = r->address - DEVICE_BASE, span = (r->lanes - 1) * r->step + r->bytes;
    if (offset >= DEVICE_BYTES) return NULL;
    if (bits_all(d->initialised, offset, span)) return d->bytes + offset;
    if (how != ACCESS_STORE || !owned_all(d->owned, offset, span)) return NULL;
    bits_set(d->initialised, offset, span);
    return d->bytes + offset;
}

INLINE uint8_t *reach_shared(warp *w, const op *o, const run *r, access_kind how)
{
    uint64_t span = (r->lanes - 1) * r->step + r->bytes, room = w->block->shared_bytes;
    if (r->address >= room || span > room - r->address) return NULL;
    bool may = how == ACCESS_LOAD ? shadow_load(w, o, r) : shadow_may_store(w, o, r);
    return may ? w->block->shared + r->address : NULL;
}

/* NULL: not as a whole. `step`: bytes from lane to lane in host memory. */
INLINE uint8_t *reach_run(warp *w, const op *o, run *r, space where, access_kind how, int64_t *step)
{
    if (r->address & (r->bytes - 1)) return NULL;
    if (where == SPACE_GENERIC) {
        where = space_of_address(r->address);
        r->address -= window_of(where);
    }
    *step = r->step;
    if (where == SPACE_SHARED) return reach_shared(w, o, r, how);
    if (where == SPACE_LOCAL) return reach_local(w, o, r, how, step);
    if (where == SPACE_PARAM) return reach_params(w, r);
    return reach_global(w, r, how);
}

/* ---- scattered lanes ------------------------------------------------------------------------- */

/* Host memory of every lane, if there is nothing to object to. */
static bool reach_scattered_global(const warp *w, const op *o, uint32_t mask, uint8_t *where[LANES])
{
    device *d = w->block->device;
    uint32_t bytes = (uint32_t)o->size * o->count;
    uint64_t want = bits_mask(0, bytes);
    const uint64_t *must = d->initialised;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        uint64_t offset = address_at(w, o, o->narrow, i) - DEVICE_BASE;
        if (offset >= DEVICE_BYTES || offset & (bytes - 1)) return false;
        if (~must[offset / 64] >> offset % 64 & want) return false;
        where[i] = d->bytes + offset;
    }
    return true;
}

static bool reach_scattered_shared(warp *w, const op *o, uint32_t mask, uint8_t *where[LANES])
{
    uint32_t bytes = (uint32_t)o->size * o->count;
    uint64_t room = w->block->shared_bytes, last = ~UINT64_C(0);
    if (bytes < 4) return false;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        uint64_t address = address_at(w, o, o->narrow, i);
        if (address >= room || bytes > room - address || address & (bytes - 1)) return false;
        uint32_t word = (uint32_t)address / 4;
        if (shadow_quiet_word(w->block, word))
            ; /* so are the other words of an element */
        else if (address == last)
            shadow_note_more(w->block, word, bytes / 4); /* as its neighbour's */
        else if (!shadow_may_load_element(w, o, word, bytes / 4, i))
            return false;
        where[i] = w->block->shared + address;
        last = address;
    }
    return true;
}

static uint8_t *component(const warp *w, const op *o, uint32_t i, uint32_t lane)
{
    return (uint8_t *)row(w, (&o->d)[i]) + lane * o->width;
}

/* ---- loads ----------------------------------------------------------------------------------- */

static void load_lanes(warp *w, const op *o, uint32_t mask)
{
    static uint8_t zeros[16];
    const mover *move = o->extra;
    uint8_t *where[LANES];
    charge_lanes(w, o, mask);
    w->loading = o;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        uint32_t bytes = (uint32_t)o->size * o->count;
        where[i] =
            reach_lane(w, o, o->space, address_at(w, o, o->narrow, i), bytes, i, ACCESS_LOAD, NULL);
        if (!where[i]) where[i] = zeros;
    }
    w->loading = NULL;
    for (uint32_t k = 0; k < o->count; k++)
        move->spread(component(w, o, k, 0), where, k * o->size, mask);
}

static void load_scattered(warp *w, const op *o, uint32_t mask)
{
    const mover *move = o->extra;
    uint8_t *where[LANES];
    bool may = false;
    charge_lanes(w, o, mask);
    if (o->space == SPACE_GLOBAL) may = reach_scattered_global(w, o, mask, where);
    if (o->space == SPACE_SHARED) may = reach_scattered_shared(w, o, mask, where);
    if (!may) {
        load_lanes(w, o, mask);
        return;
    }
    for (uint32_t k = 0; k < o->count; k++)
        move->spread(component(w, o, k, 0), where, k * o->size, mask);
}

static inline uint32_t lanes_of(const run *r)
{
    return (r->lanes == LANES ? ~0u : (1u << r->lanes) - 1) << r->lane;
}

INLINE const op *load(warp *w, const op *o, space where, bool narrow)
{
    const mover *move = o->extra;
    uint32_t mask = active(w, o), n;
    run runs[2];
    if (mask == 0) return go_on(w, o + 1);
    n = cut(w, o, mask, narrow, runs);
    if (n == 0) load_scattered(w, o, mask);
    for (uint32_t i = 0; i < n; i++) {
        run *r = &runs[i];
        int64_t step;
        uint8_t *from = reach_run(w, o, r, where, ACCESS_LOAD, &step);
        if (!from) load_lanes(w, o, lanes_of(r));
        for (uint32_t k = 0; from && k < o->count; k++) {
            move->run(component(w, o, k, r->lane), from + k * o->size, step, r->lanes);
        }
    }
    if (__builtin_expect(w->unwritten.op == o, 0)) return undefined_load(w, o);
    return go_on(w, o + 1);
}

const op *run_load(warp *w, const op *o)
{
    return load(w, o, o->space, o->narrow);
}

const op *run_load_global(warp *w, const op *o)
{
    return load(w, o, SPACE_GLOBAL, false);
}

const op *run_load_shared(warp *w, const op *o)
{
    return load(w, o, SPACE_SHARED, true);
}

/* ---- stores ---------------------------------------------------------------------------------- */

void store_lanes(warp *w, const op *o, uint32_t mask)
{
    const mover *move = o->extra;
    uint32_t bytes = (uint32_t)o->size * o->count;
    charge_lanes(w, o, mask);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        _Alignas(16) uint8_t value[32];
        for (uint32_t k = 0; k < o->count; k++)
            move->run(component(w, o, k, i), value + k * o->size, 0, 1);
        uint8_t *to = reach_lane(w, o, o->space, address_at(w, o, o->narrow, i), bytes, i,
                                 ACCESS_STORE, value);
        if (to) memcpy(to, value, bytes);
    }
}

static void store_scattered(warp *w, const op *o, uint32_t mask)
{
    const mover *move = o->extra;
    uint8_t *where[LANES];
    if (o->space != SPACE_GLOBAL || !reach_scattered_global(w, o, mask, where)) {
        store_lanes(w, o, mask);
        return;
    }
    for (uint32_t k = 0; k < o->count; k++)
        move->spread(component(w, o, k, 0), where, k * o->size, mask);
}

INLINE const op *store(warp *w, const op *o, space where, bool narrow)
{
    const mover *move = o->extra;
    uint32_t mask = active(w, o), n;
    run runs[2];
    if (mask == 0) return go_on(w, o + 1);
    n = cut(w, o, mask, narrow, runs);
    if (n == 0) store_scattered(w, o, mask);
    for (uint32_t i = 0; i < n; i++) {
        run *r = &runs[i];
        int64_t step;
        uint8_t *to = reach_run(w, o, r, where, ACCESS_STORE, &step);
        if (!to) store_lanes(w, o, lanes_of(r));
        for (uint32_t k = 0; to && k < o->count; k++) {
            move->run(component(w, o, k, r->lane), to + k * o->size, step, r->lanes);
        }
    }
    return go_on(w, o + 1);
}

const op *run_store(warp *w, const op *o)
{
    return store(w, o, o->space, o->narrow);
}

const op *run_store_global(warp *w, const op *o)
{
    return store(w, o, SPACE_GLOBAL, false);
}

const op *run_store_shared(warp *w, const op *o)
{
    return store(w, o, SPACE_SHARED, true);
}
