/*
 * access.c: what a load or store of a warp touches, and whether it may.
 *
 * Interface
 *   run_load, run_store, run_copy_async, reach_lane
 *
 * An access is cut into runs: neighbouring lanes whose addresses rise by the size of the element,
 * or stay equal. A coalesced access is one run, so is a broadcast; a warp that covers two rows of
 * a 16 x 16 block makes two; a scattered one up to 32. A run is checked and moved as a whole. Only
 * one that does not pass is taken apart into its lanes, to find and name the culprit; a load that
 * must not be yields 0, a store is dropped.
 */
#include <stdio.h>

#include "bits.h"
#include "internal.h"

/* ---- runs ------------------------------------------------------------------------------------ */

/* 1: the addresses rise by `bytes`; 0: all equal; -1: neither. */
#define DEFINE_CUT(suffix, T)                                                                      \
    static inline int shape_##suffix(const T *a, uint32_t lanes, uint32_t bytes)                   \
    {                                                                                              \
        T step = lanes > 1 ? (T) (a[1] - a[0]) : bytes, off = 0;                                   \
        if (step != 0 && step != bytes) return -1;                                                 \
        for (uint32_t i = 0; i < lanes; i++) off |= a[i] ^ (T) (a[0] + (T) i * step);              \
        return off ? -1 : step != 0;                                                               \
    }                                                                                              \
    static uint32_t scattered_##suffix(const T *a, uint32_t mask, run *runs, run like)             \
    {                                                                                              \
        uint32_t n = 0, next = LANES;                                                              \
        for (; mask; mask &= mask - 1) {                                                           \
            uint32_t i = (uint32_t) __builtin_ctz(mask);                                           \
            run *r = &runs[n - (n > 0)];                                                           \
            bool follows = n && i == next && a[i] - a[i - 1] <= like.bytes;                        \
            T step = follows ? (T) (a[i] - a[i - 1]) : 0;                                          \
            follows = follows && (step == 0 || step == like.bytes);                                \
            if (follows && (r->lanes == 1 || r->step == step)) {                                   \
                r->step = (uint32_t) step;                                                         \
                r->lanes++;                                                                        \
            } else {                                                                               \
                runs[n] = like;                                                                    \
                runs[n].address = (T) (a[i] + like.address);                                       \
                runs[n].lane = i;                                                                  \
                runs[n++].lanes = 1;                                                               \
            }                                                                                      \
            next = i + 1;                                                                          \
        }                                                                                          \
        return n;                                                                                  \
    }                                                                                              \
    static bool whole_##suffix(const T *a, uint32_t first, uint32_t lanes, run *r, run like)       \
    {                                                                                              \
        int shape = lanes == LANES       ? shape_##suffix(a, LANES, like.bytes)                    \
                    : lanes == LANES / 2 ? shape_##suffix(a + first, LANES / 2, like.bytes)        \
                                         : shape_##suffix(a + first, lanes, like.bytes);           \
        if (shape < 0) return false;                                                               \
        *r = like;                                                                                 \
        r->address = (T) (a[first] + like.address);                                                \
        r->lane = first;                                                                           \
        r->lanes = lanes;                                                                          \
        r->step = shape ? like.bytes : 0;                                                          \
        return true;                                                                               \
    }                                                                                              \
    static uint32_t cut_##suffix(const T *a, uint32_t mask, run *runs, run like)                   \
    {                                                                                              \
        uint32_t first = (uint32_t) __builtin_ctz(mask);                                           \
        uint32_t lanes = (uint32_t) __builtin_popcount(mask);                                      \
        bool adjacent = lanes == LANES || mask >> first == (1u << lanes) - 1;                      \
        if (adjacent && whole_##suffix(a, first, lanes, runs, like)) return 1;                     \
        if (lanes == LANES && whole_##suffix(a, 0, LANES / 2, &runs[0], like) &&                   \
            whole_##suffix(a, LANES / 2, LANES / 2, &runs[1], like)) {                             \
            return 2;                                                                              \
        }                                                                                          \
        return scattered_##suffix(a, mask, runs, like);                                            \
    }

DEFINE_CUT(32, uint32_t)
DEFINE_CUT(64, uint64_t)

static inline uint32_t cut(warp *w, const op *o, uint32_t mask, run *runs)
{
    run like = {.address = (uint64_t) o->offset, .bytes = (uint32_t) o->size * o->count};
    const void *addresses = row(w, o->a);
    return o->narrow ? cut_32(addresses, mask, runs, like) : cut_64(addresses, mask, runs, like);
}

/* ---- what lies behind a run ------------------------------------------------------------------ */

static space space_of_address(uint64_t address)
{
    if (address - SHARED_WINDOW < WINDOW_BYTES) return SPACE_SHARED;
    if (address - LOCAL_WINDOW < WINDOW_BYTES) return SPACE_LOCAL;
    if (address - PARAM_WINDOW < WINDOW_BYTES) return SPACE_PARAM;
    return SPACE_GLOBAL;
}

static uint64_t window_of(space s)
{
    return s == SPACE_SHARED ? SHARED_WINDOW : s == SPACE_LOCAL ? LOCAL_WINDOW
           : s == SPACE_PARAM ? PARAM_WINDOW : 0;
}

static inline uint8_t *reach_global(const warp *w, const run *r, access_kind how)
{
    device *d = w->block->device;
    uint64_t offset = r->address - DEVICE_BASE, span = (r->lanes - 1) * r->step + r->bytes;
    if (offset >= DEVICE_BYTES) return NULL;
    const uint64_t *must = how == ACCESS_STORE ? d->initialised : w->block->launch->readable;
    if (bits_all(must, offset, span)) return d->bytes + offset;
    if (how != ACCESS_STORE || !bits_all(d->owned, offset, span)) return NULL;
    bits_set(d->initialised, offset, span);
    return d->bytes + offset;
}

static inline uint8_t *reach_shared(warp *w, const op *o, const run *r, access_kind how)
{
    uint64_t span = (r->lanes - 1) * r->step + r->bytes;
    if (r->address >= w->block->shared_bytes || span > w->block->shared_bytes - r->address) return NULL;
    return shadow_quick(w, o, r, how) ? w->block->shared + r->address : NULL;
}

static uint8_t *reach_local(const warp *w, const run *r, int64_t *step)
{
    uint64_t room = w->block->local_stride - ROW_ALIGNMENT;
    uint64_t span = (r->lanes - 1) * r->step + r->bytes;
    if (r->address >= room || span > room - r->address) return NULL;
    *step = (int64_t) (w->block->local_stride + r->step);
    return w->local + r->lane * w->block->local_stride + r->address;
}

static uint8_t *reach_params(const warp *w, const run *r)
{
    const launch *l = w->block->launch;
    uint64_t room = l->request->param_bytes, span = (r->lanes - 1) * r->step + r->bytes;
    if (r->address >= room || span > room - r->address) return NULL;
    return (uint8_t *) l->params + r->address;
}

/* NULL: not as a whole. `step`: bytes from lane to lane in host memory. */
static inline uint8_t *reach_run(warp *w, const op *o, run *r, access_kind how, int64_t *step)
{
    space where = o->space;
    uint64_t unaligned = r->address & (r->bytes - 1);
    if (unaligned) return NULL;
    if (where == SPACE_GENERIC) {
        where = space_of_address(r->address);
        r->address -= window_of(where);
    }
    *step = r->step;
    if (where == SPACE_SHARED) return reach_shared(w, o, r, how);
    if (where == SPACE_LOCAL) return reach_local(w, r, step);
    if (where == SPACE_PARAM) return reach_params(w, r);
    return reach_global(w, r, how);
}

/* ---- one lane, with a report when it must not ------------------------------------------------ */

static const char *verb(access_kind how)
{
    return how == ACCESS_LOAD ? "reads" : how == ACCESS_STORE ? "writes" : "updates";
}

static bool near(uint64_t distance)
{
    return distance < 1 << 20;
}

static void report_global(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                          access_kind how)
{
    device *d = w->block->device;
    uint64_t offset = address - DEVICE_BASE, base = 0, size = 0;
    char where[256];
    if (address < 4096) {
        snprintf(where, sizeof where, "at address %llu: a null pointer", (unsigned long long) address);
    } else if (offset >= DEVICE_BYTES) {
        snprintf(where, sizeof where, "at 0x%llx, which is not device memory: a host pointer, or none",
                 (unsigned long long) address);
    } else if (freed_find(d, offset, &base, &size)) {
        snprintf(where, sizeof where, "%llu bytes into a %llu-byte allocation that has been freed",
                 (unsigned long long) (offset - base), (unsigned long long) size);
    } else if (heap_below(&d->heap, offset, &base, &size) && near(offset - base - size)) {
        snprintf(where, sizeof where, "%llu bytes past the end of a %llu-byte allocation",
                 (unsigned long long) (offset > base + size ? offset - base - size : 0),
                 (unsigned long long) size);
    } else if (heap_above(&d->heap, offset, &base, &size) && near(base - offset)) {
        snprintf(where, sizeof where, "%llu bytes before the start of a %llu-byte allocation",
                 (unsigned long long) (base - offset), (unsigned long long) size);
    } else {
        snprintf(where, sizeof where, "at 0x%llx, which belongs to no allocation",
                 (unsigned long long) address);
    }
    report(w, o, FINDING_OUT_OF_BOUNDS, lane, address, "%s %u bytes, %s", verb(how), bytes, where);
    launch_fail(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

static void report_other(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                         access_kind how, const char *what)
{
    report(w, o, FINDING_OUT_OF_BOUNDS, lane, address, "%s %u bytes outside its %s memory", verb(how),
           bytes, what);
    launch_fail(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

/* Uninitialised is a component none of whose bytes was ever written: structures have padding. */
static void check_initialised(warp *w, const op *o, uint64_t offset, uint32_t bytes, uint32_t lane)
{
    uint32_t parts = o->run == run_load ? o->count : 1, each = bytes / parts;
    for (uint32_t i = 0; i < parts; i++) {
        if (o->run == run_load && !(o->used >> i & 1)) continue;
        if (bits_any(w->block->device->initialised, offset + i * each, each)) continue;
        uint64_t base = 0, size = 0;
        heap_find(&w->block->device->heap, offset, &base, &size);
        report(w, o, FINDING_UNINITIALISED, lane, DEVICE_BASE + offset,
               "reads %u bytes that nothing has written, at byte %llu of a %llu-byte allocation", each,
               (unsigned long long) (offset + i * each - base), (unsigned long long) size);
        return;
    }
}

static uint8_t *reach_global_lane(warp *w, const op *o, uint64_t address, uint32_t bytes,
                                  uint32_t lane, access_kind how)
{
    device *d = w->block->device;
    uint64_t offset = address - DEVICE_BASE;
    if (offset >= DEVICE_BYTES || !bits_all(d->owned, offset, bytes)) {
        report_global(w, o, address, bytes, lane, how);
        return NULL;
    }
    if (how != ACCESS_STORE && w->block->launch->check_uninitialised) {
        check_initialised(w, o, offset, bytes, lane);
    }
    if (how != ACCESS_LOAD) bits_set(d->initialised, offset, bytes);
    return d->bytes + offset;
}

uint8_t *reach_lane(warp *w, const op *o, space where, uint64_t address, uint32_t bytes,
                    uint32_t lane, access_kind how, const void *value)
{
    if (address & (bytes - 1)) {
        report(w, o, FINDING_MISALIGNED, lane, address,
               "%s %u bytes at address 0x%llx, which is no multiple of %u", verb(how), bytes,
               (unsigned long long) address, bytes);
        launch_fail(w->block->launch, DEVICE_MISALIGNED);
        return NULL;
    }
    if (where == SPACE_GENERIC) {
        where = space_of_address(address);
        address -= window_of(where);
    }
    if (where == SPACE_GLOBAL || where == SPACE_CONST) {
        return reach_global_lane(w, o, address, bytes, lane, how);
    }
    if (where == SPACE_SHARED) {
        bool there = shadow_lane(w, o, address, bytes, lane, how, value);
        return there ? w->block->shared + address : NULL;
    }
    int64_t step;
    run r = {.address = address, .lane = lane, .lanes = 1, .bytes = bytes};
    uint8_t *host = where == SPACE_LOCAL ? reach_local(w, &r, &step) : reach_params(w, &r);
    if (!host) report_other(w, o, address, bytes, lane, how, where == SPACE_LOCAL ? "local" : "parameter");
    return host;
}

/* ---- handlers -------------------------------------------------------------------------------- */

static uint8_t *component(const warp *w, const op *o, uint32_t i, uint32_t lane, uint32_t width)
{
    return (uint8_t *) row(w, (&o->d)[i]) + lane * width;
}

static void load_lanes(warp *w, const op *o, const run *r, uint64_t address)
{
    static uint8_t zeros[16];
    mover *move = (mover *) o->extra;
    for (uint32_t k = 0; k < r->lanes; k++, address += r->step) {
        uint8_t *from = reach_lane(w, o, o->space, address, r->bytes, r->lane + k, ACCESS_LOAD, NULL);
        for (uint32_t i = 0; i < o->count; i++) {
            uint8_t *to = component(w, o, i, r->lane + k, o->width);
            move(to, from ? from + i * o->size : zeros, 0, 1);
        }
    }
}

static inline void load_run(warp *w, const op *o, run *r)
{
    mover *move = (mover *) o->extra;
    int64_t step;
    uint64_t address = r->address;
    uint8_t *from = reach_run(w, o, r, ACCESS_LOAD, &step);
    if (__builtin_expect(!from, 0)) {
        load_lanes(w, o, r, address);
        return;
    }
    for (uint32_t i = 0; i < o->count; i++) {
        move(component(w, o, i, r->lane, o->width), from + i * o->size, step, r->lanes);
    }
}

const op *run_load(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    run runs[LANES];
    uint32_t n = cut(w, o, mask, runs);
    for (uint32_t i = 0; i < n; i++) load_run(w, o, &runs[i]);
    return o + 1;
}

static void store_lanes(warp *w, const op *o, const run *r, uint64_t address)
{
    mover *move = (mover *) o->extra;
    for (uint32_t k = 0; k < r->lanes; k++, address += r->step) {
        _Alignas(16) uint8_t value[32];
        for (uint32_t i = 0; i < o->count; i++) {
            move(component(w, o, i, r->lane + k, o->width), value + i * o->size, 0, 1);
        }
        uint8_t *to = reach_lane(w, o, o->space, address, r->bytes, r->lane + k, ACCESS_STORE, value);
        if (to) memcpy(to, value, r->bytes);
    }
}

static inline void store_run(warp *w, const op *o, run *r)
{
    mover *move = (mover *) o->extra;
    int64_t step;
    uint64_t address = r->address;
    uint8_t *to = reach_run(w, o, r, ACCESS_STORE, &step);
    if (__builtin_expect(!to, 0)) {
        store_lanes(w, o, r, address);
        return;
    }
    for (uint32_t i = 0; i < o->count; i++) {
        move(component(w, o, i, r->lane, o->width), to + i * o->size, step, r->lanes);
    }
}

const op *run_store(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    run runs[LANES];
    uint32_t n = cut(w, o, mask, runs);
    for (uint32_t i = 0; i < n; i++) store_run(w, o, &runs[i]);
    return o + 1;
}

/* o->a, o->b: addresses; o->c: bytes to read, the rest is zero; o->e: displacement of the source. */
const op *run_copy_async(warp *w, const op *o)
{
    const uint64_t *from = row(w, o->b), *extra = row(w, o->e);
    const uint32_t *count = row(w, o->c);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t i = (uint32_t) __builtin_ctz(m), bytes = count[i] < o->size ? count[i] : o->size;
        uint64_t to = o->narrow ? ((uint32_t *) row(w, o->a))[i] : ((uint64_t *) row(w, o->a))[i];
        _Alignas(16) uint8_t value[16] = {0};
        uint8_t *source = bytes == 0 ? value
                                     : reach_lane(w, o, SPACE_GENERIC, from[i] + extra[i], bytes, i,
                                                  ACCESS_LOAD, NULL);
        if (source && bytes) memcpy(value, source, bytes);
        uint8_t *target = reach_lane(w, o, SPACE_SHARED, to + (uint64_t) o->offset, o->size, i,
                                     ACCESS_STORE, value);
        if (target) memcpy(target, value, o->size);
    }
    return o + 1;
}
