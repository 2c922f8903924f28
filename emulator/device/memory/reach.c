/*
 * reach.c: the memory behind an address, for one lane, with a report when the lane may not access
 * it; and the memory spaces without a fast path in access.c.
 *
 * Interface
 *   space_of_address, window_of, reach_local, reach_params, reach_lane, memory_at, unwritten_part
 */
#include <stdio.h>

#include "device/base/bits.h"
#include "device/base/cluster.h"
#include "memory.h"

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

/* Up to the end of the frame of the function that runs: behind it no function has anything. */
uint8_t *reach_local(warp *w, const op *o, const run *r, access_kind how, int64_t *step)
{
    const lane_group *g = group_now(w);
    uint64_t room = g->local + g->function->local_bytes;
    uint64_t span = (r->lanes - 1) * r->step + r->bytes;
    if (r->address >= room || span > room - r->address) return NULL;
    local_note(w, o, r, how);
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

/* An access may begin inside and end outside: what counts is the first byte that is outside. */
static void report_global(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                          access_kind how)
{
    device *d = w->block->device, *peer = peer_at(d, address - DEVICE_BASE);
    char where[256];
    uint64_t miss = address;
    if (peer) d = peer;
    while (miss - DEVICE_BASE < DEVICE_BYTES && owned_all(d->owned, miss - DEVICE_BASE, 1)) miss++;
    pthread_mutex_lock(&d->allocations);
    neighbour n = describe_address(d, o, miss, where, sizeof where);
    pthread_mutex_unlock(&d->allocations);
    bool freed = n.relation == RELATION_FREED;
    n.is_read = how == ACCESS_LOAD;
    report_near(w, o, freed ? FINDING_FREED : FINDING_OUT_OF_BOUNDS, lane, address, &n,
                "%s %u bytes%s, %s", access_verb(how), bytes, freed ? " that were freed" : "",
                where);
    launch_fail(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

static void report_other(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                         access_kind how, const char *what)
{
    report(w, o, FINDING_OUT_OF_BOUNDS, lane, address, "%s %u bytes outside its %s memory",
           access_verb(how), bytes, what);
    launch_fail(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

uint32_t unwritten_part(const warp *w, uint64_t address, uint32_t bytes)
{
    const device *d = w->block->device;
    uint64_t offset = address - DEVICE_BASE;
    uint32_t part = 0;
    if (offset >= DEVICE_BYTES || bits_all(d->initialised, offset, bytes)) return 0;
    if (!w->block->launch->check_uninitialised || !owned_all(d->owned, offset, bytes)) return 0;
    for (uint32_t i = 0; i < bytes; i++)
        part |= (uint32_t)!bits_any(d->initialised, offset + i, 1) << i;
    return part == (1u << bytes) - 1 ? 0 : part;
}

/* A bulk copy of its own block writes there, and has not been waited for. */
static bool meets_departure(warp *w, const op *o, uint64_t offset, uint32_t bytes, uint32_t lane)
{
    const block *b = w->block;
    const op *by = b->departing ? b->departing(b, DEVICE_BASE + offset, bytes) : NULL;
    uint32_t line = 0;
    if (!by) return false;
    module_file(b->launch->function->module, by->line, &line);
    report(w, o, FINDING_RACE, lane, DEVICE_BASE + offset,
           "reads global memory that the bulk copy of line %u still writes: write "
           "cp.async.bulk.wait_group 0 before; with .read it waits only until the copy has read "
           "shared memory",
           line);
    return true;
}

/* Uninitialised is a component none of whose bytes was ever written: structures have padding. */
static void check_initialised(warp *w, const op *o, uint64_t offset, uint32_t bytes, uint32_t lane)
{
    uint32_t parts = o->is_load ? o->count : 1, each = bytes / parts;
    for (uint32_t i = 0; i < parts; i++) {
        if (o->is_load && !(o->used >> i & 1)) continue;
        if (bits_any(w->block->device->initialised, offset + i * each, each)) continue;
        if (meets_departure(w, o, offset + i * each, each, lane)) return;
        if (w->loading == o) {
            undefined_note(w, o, SPACE_GLOBAL, i, 1u << lane, offset + i * each);
            continue;
        }
        report_global_unwritten(w, o, offset + i * each, each, lane);
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
    uint8_t *peer = d->peer_count ? peer_reach(w, o, offset, bytes, how) : NULL;
    if (peer) return peer;
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

uint8_t *memory_at(const device *d, uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - DEVICE_BASE;
    if (d->admissions && offset >= DEVICE_BYTES && is_admitted(d, address, (uint32_t)bytes))
        return (uint8_t *)(uintptr_t)address;
    const device *of = d->peer_count ? peer_at(d, offset) : NULL;
    if (!of) of = d;
    if (offset >= DEVICE_BYTES || bytes > DEVICE_BYTES - offset) return NULL;
    return owned_all(of->owned, offset, bytes) ? of->bytes + offset : NULL;
}

static void report_misaligned(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                              access_kind how)
{
    device *d = w->block->device;
    char buffer[192], where[224] = "";
    uint64_t base, size;
    neighbour n = {0};
    pthread_mutex_lock(&d->allocations);
    if (heap_find(&d->heap, address - DEVICE_BASE, &base, &size)) {
        n = describe_buffer(d, base, size, buffer, sizeof buffer);
        snprintf(where, sizeof where, ", at byte %llu of %s",
                 (unsigned long long)(address - DEVICE_BASE - base), buffer);
    }
    pthread_mutex_unlock(&d->allocations);
    report_near(w, o, FINDING_MISALIGNED, lane, address, &n,
                "%s %u bytes at an address that is not a multiple of %u%s", access_verb(how), bytes,
                bytes, where);
    launch_fail(w->block->launch, DEVICE_MISALIGNED);
}

/* An address of shared::cluster, as mapa makes it. */
static uint8_t *reach_peer(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                           access_kind how, const void *value)
{
    block *b = w->block, *to = peer_of(b, address);
    uint32_t offset = shared_offset(address);
    if (!to) {
        report(w, o, FINDING_OUT_OF_BOUNDS, lane, address,
               "%s %u bytes of block %u of a cluster of %u blocks", access_verb(how), bytes,
               (uint32_t)(address >> RANK_SHIFT) - 1, b->cluster->count);
        launch_fail(b->launch, DEVICE_ILLEGAL_ADDRESS);
        return NULL;
    }
    bool there = to == b ? shadow_lane(w, o, offset, bytes, lane, how, value)
                         : visit_lane(w, o, to, offset, bytes, lane, how, value);
    return there ? to->shared + offset : NULL;
}

uint8_t *reach_lane(warp *w, const op *o, space where, uint64_t address, uint32_t bytes,
                    uint32_t lane, access_kind how, const void *value)
{
    if (address & (bytes - 1)) {
        report_misaligned(w, o, address, bytes, lane, how);
        return NULL;
    }
    if (where == SPACE_GENERIC) {
        where = space_of_address(address);
        address -= window_of(where);
    }
    bool meets = where == SPACE_GLOBAL && address - GRID_WINDOW < WINDOW_BYTES;
    uint8_t *meeting = meets ? meeting_reach(w, o, address, bytes, lane, how) : NULL;
    if (meeting) return meeting;
    if (where == SPACE_GLOBAL || where == SPACE_CONST) {
        return reach_global_lane(w, o, address, bytes, lane, how);
    }
    if (where == SPACE_SHARED && w->block->cluster && address >> RANK_SHIFT)
        return reach_peer(w, o, address, bytes, lane, how, value);
    if (where == SPACE_SHARED) {
        bool there = shadow_lane(w, o, address, bytes, lane, how, value);
        return there ? w->block->shared + address : NULL;
    }
    int64_t step;
    run r = {.address = address, .lane = lane, .lanes = 1, .bytes = bytes};
    uint8_t *host = where == SPACE_LOCAL ? reach_local(w, o, &r, how, &step) : reach_params(w, &r);
    if (!host)
        report_other(w, o, address, bytes, lane, how, where == SPACE_LOCAL ? "local" : "parameter");
    return host;
}
