/*
 * reach.c: what lies behind an address, for one lane, with a report when it may not go there; and
 * the memory spaces that are no fast path of access.c.
 *
 * Interface
 *   space_of_address, window_of, reach_local, reach_params, reach_lane
 */
#include <stdio.h>

#include "bits.h"
#include "internal.h"

/* ---- spaces ---------------------------------------------------------------------------------- */

space space_of_address(uint64_t address)
{
    if (address - SHARED_WINDOW < WINDOW_BYTES) return SPACE_SHARED;
    if (address - LOCAL_WINDOW < WINDOW_BYTES) return SPACE_LOCAL;
    if (address - PARAM_WINDOW < WINDOW_BYTES) return SPACE_PARAM;
    return SPACE_GLOBAL;
}

uint64_t window_of(space s)
{
    return s == SPACE_SHARED  ? SHARED_WINDOW
           : s == SPACE_LOCAL ? LOCAL_WINDOW
           : s == SPACE_PARAM ? PARAM_WINDOW
                              : 0;
}

uint8_t *reach_local(const warp *w, const run *r, int64_t *step)
{
    uint64_t room = w->block->local_stride - ROW_ALIGNMENT;
    uint64_t span = (r->lanes - 1) * r->step + r->bytes;
    if (r->address >= room || span > room - r->address) return NULL;
    *step = (int64_t)(w->block->local_stride + r->step);
    return w->local + r->lane * w->block->local_stride + r->address;
}

uint8_t *reach_params(const warp *w, const run *r)
{
    const launch *l = w->block->launch;
    uint64_t room = l->request->param_bytes, span = (r->lanes - 1) * r->step + r->bytes;
    if (r->address >= room || span > room - r->address) return NULL;
    return (uint8_t *)l->params + r->address;
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

static void describe_miss(device *d, uint64_t address, char *text, size_t room)
{
    unsigned long long offset = address - DEVICE_BASE, at = address;
    uint64_t base = 0, size = 0;
    if (address < 4096) {
        snprintf(text, room, "at address %llu: a null pointer", at);
    } else if (offset < DEVICE_OWN_BYTES && offset - d->heap.first >= d->options.range_bytes) {
        snprintf(text, room,
                 "at 0x%llx, which is memory of another device: copy it with "
                 "cudaMemcpyPeer first, for devices here are no peers",
                 at);
    } else if (offset >= DEVICE_BYTES) {
        snprintf(text, room, "at 0x%llx, which is not device memory: a host pointer, or none", at);
    } else if (freed_find(d, offset, &base, &size)) {
        snprintf(text, room, "%llu bytes into a %llu-byte allocation that has been freed",
                 offset - (unsigned long long)base, (unsigned long long)size);
    } else if (heap_below(&d->heap, offset, &base, &size) && offset == base + size) {
        snprintf(text, room, "just past the end of a %llu-byte allocation",
                 (unsigned long long)size);
    } else if (heap_below(&d->heap, offset, &base, &size) && near(offset - base - size)) {
        snprintf(text, room, "%llu bytes past the end of a %llu-byte allocation",
                 offset - (unsigned long long)(base + size), (unsigned long long)size);
    } else if (heap_above(&d->heap, offset, &base, &size) && near(base - offset)) {
        snprintf(text, room, "%llu bytes before the start of a %llu-byte allocation",
                 (unsigned long long)base - offset, (unsigned long long)size);
    } else {
        snprintf(text, room, "at 0x%llx, which belongs to no allocation", at);
    }
}

/* An access may begin inside and end outside: what counts is the first byte that is outside. */
static void report_global(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                          access_kind how)
{
    device *d = w->block->device;
    char where[256];
    uint64_t miss = address;
    while (miss - DEVICE_BASE < DEVICE_BYTES && owned_all(d->owned, miss - DEVICE_BASE, 1)) miss++;
    pthread_mutex_lock(&d->allocations);
    describe_miss(d, miss, where, sizeof where);
    pthread_mutex_unlock(&d->allocations);
    report(w, o, FINDING_OUT_OF_BOUNDS, lane, address, "%s %u bytes, %s", verb(how), bytes, where);
    launch_fail(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

static void report_other(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                         access_kind how, const char *what)
{
    report(w, o, FINDING_OUT_OF_BOUNDS, lane, address, "%s %u bytes outside its %s memory",
           verb(how), bytes, what);
    launch_fail(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

/* Uninitialised is a component none of whose bytes was ever written: structures have padding. */
static void check_initialised(warp *w, const op *o, uint64_t offset, uint32_t bytes, uint32_t lane)
{
    uint32_t parts = o->is_load ? o->count : 1, each = bytes / parts;
    for (uint32_t i = 0; i < parts; i++) {
        if (o->is_load && !(o->used >> i & 1)) continue;
        if (bits_any(w->block->device->initialised, offset + i * each, each)) continue;
        uint64_t base = 0, size = 0;
        heap_find(&w->block->device->heap, offset, &base, &size);
        report(w, o, FINDING_UNINITIALISED, lane, DEVICE_BASE + offset,
               "reads %u bytes that nothing has written, at byte %llu of a %llu-byte allocation",
               each, (unsigned long long)(offset + i * each - base), (unsigned long long)size);
        return;
    }
}

static uint8_t *reach_global_lane(warp *w, const op *o, uint64_t address, uint32_t bytes,
                                  uint32_t lane, access_kind how)
{
    device *d = w->block->device;
    uint64_t offset = address - DEVICE_BASE;
    if (d->admissions && offset >= DEVICE_BYTES && is_admitted(d, address, bytes))
        return (uint8_t *)(uintptr_t)address;
    if (offset >= DEVICE_BYTES || !owned_all(d->owned, offset, bytes)) {
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
               (unsigned long long)address, bytes);
        launch_fail(w->block->launch, DEVICE_MISALIGNED);
        return NULL;
    }
    if (where == SPACE_GENERIC) {
        where = space_of_address(address);
        address -= window_of(where);
    }
    bool meets = where == SPACE_GLOBAL && address - GRID_WINDOW < WINDOW_BYTES;
    uint8_t *meeting = meets ? grid_reach(w, o, address, bytes, lane, how) : NULL;
    if (meeting) return meeting;
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
    if (!host)
        report_other(w, o, address, bytes, lane, how, where == SPACE_LOCAL ? "local" : "parameter");
    return host;
}
