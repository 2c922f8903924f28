/*
 * undefined.c: what a shuffle gets from a lane that does not take part, or a load from memory that
 * nothing has written: a value that a program may not use. Reading it is no mistake:
 * `y = __shfl_down_sync(mask, x, d); if (lane + d < n) x += y;` is right, and compilers load before
 * they know whether they must. So from such a shuffle or load on the warp keeps a list of the rows
 * and lanes that are undefined, operations hand that on from operands to results, and only a value
 * that is stored, or that chooses an address or a branch, is a finding, at the shuffle or load.
 *
 * A copy is no use: a structure may have members without a value, and gaps. A store to local or
 * global memory makes that unwritten; one elsewhere than in local memory counts if something was
 * computed with the value, or if it was loaded whole and alone.
 *
 * Interface
 *   undefined_read     run_shuffle has read; may start the list
 *   undefined_note     a load finds something unwritten
 *   undefined_load     run_load has found such; may start the list
 *   undefined_lanes, undefined_origin, undefined_set, undefined_use
 *                      for run/follow.c, which runs operations while there is one
 *   report_global_unwritten
 *
 * The list is short: it loses its oldest row to a new one.
 */
#include "device/base/bits.h"
#include "shadow.h"

uint32_t undefined_lanes(const warp *w, operand row)
{
    for (uint32_t i = 0; row && i < w->undefined_count; i++) {
        if (w->undefined[i].row == row) return w->undefined[i].lanes;
    }
    return 0;
}

void undefined_set(warp *w, operand row, uint32_t mask, uint32_t lanes, const undefined *origin)
{
    for (uint32_t i = 0; i < w->undefined_count; i++) {
        undefined *u = &w->undefined[i];
        if (u->row != row) continue;
        uint32_t kept = u->lanes & ~mask;
        bool raw = kept && u->raw;
        if (lanes & mask) *u = *origin;
        u->row = row;
        u->raw |= raw;
        u->lanes = kept | (lanes & mask);
        if (!u->lanes) *u = w->undefined[--w->undefined_count];
        return;
    }
    if (!row || !(lanes & mask)) return;
    if (w->undefined_count == MOST_UNDEFINED) {
        memmove(w->undefined, w->undefined + 1, --w->undefined_count * sizeof *w->undefined);
    }
    undefined u = *origin;
    u.row = row;
    u.lanes = lanes & mask;
    w->undefined[w->undefined_count++] = u;
}

/* ---- the shuffle ----------------------------------------------------------------------------- */

const undefined *undefined_origin(const warp *w, operand row)
{
    const undefined *u = w->undefined;
    while (u->row != row) u++;
    return u;
}

const op *undefined_read(warp *w, const op *o, uint32_t mask, const uint8_t source[LANES])
{
    uint32_t before = undefined_lanes(w, o->a), alone = 0, inherited = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        if (w->block->launch->check_lanes) alone |= (~mask >> source[i] & 1) << i;
        inherited |= (before >> source[i] & 1) << i;
    }
    uint32_t first = alone ? (uint32_t)__builtin_ctz(alone) : 0;
    undefined origin = {.origin = o, .lane = (uint8_t)first, .source = source[first]};
    if (!alone && inherited) origin = *undefined_origin(w, o->a);
    uint32_t count = w->undefined_count;
    undefined_set(w, o->d, mask, alone | inherited, &origin);
    if (!count) w->undefined_frame = w->bank[BANK_REGISTERS];
    return count || !w->undefined_count ? o + 1 : group_pause(w, o + 1);
}

/* ---- the load -------------------------------------------------------------------------------- */

void undefined_note(warp *w, const op *o, space where, uint32_t component, uint32_t lanes,
                    uint64_t offset)
{
    unwritten *u = &w->unwritten;
    if (u->op != o || u->space != where) *u = (unwritten){.op = o, .space = (uint8_t)where};
    uint32_t before = u->lanes[component];
    if (!before) u->offset[component] = offset;
    if (before && !(before & (before - 1)))
        u->step[component] = ((int64_t)offset - (int64_t)u->offset[component]) /
                             (__builtin_ctz(lanes) - __builtin_ctz(before));
    u->lanes[component] |= lanes;
}

/* A neighbour is what the same load, or another one by the same address, brings to the lane. */
const op *undefined_load(warp *w, const op *o)
{
    unwritten found = w->unwritten;
    uint32_t all = ~0u, count = w->undefined_count;
    w->unwritten.op = NULL;
    if (w->block->steps > MOST_FOLLOWED) return w->alone ? o + 1 : go_on(w, o + 1);
    for (uint32_t k = 0; k < o->count; k++) all &= found.lanes[k];
    for (uint32_t k = 0; k < o->count; k++) {
        if (!found.lanes[k] || !(o->used >> k & 1)) continue;
        uint8_t first = (uint8_t)__builtin_ctz(found.lanes[k]);
        undefined origin = {.origin = o,
                            .lane = first,
                            .space = found.space,
                            .raw = true,
                            .part = !(all >> first & 1),
                            .offset = found.offset[k],
                            .step = found.step[k],
                            .returned = w->block->returned};
        undefined_set(w, (&o->d)[k], found.lanes[k], found.lanes[k], &origin);
    }
    if (!count) w->undefined_frame = w->bank[BANK_REGISTERS];
    if (w->alone) return o + 1;
    return w->undefined_count ? group_pause(w, o + 1) : go_on(w, o + 1);
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static void report_local(warp *w, const undefined *u, uint32_t line)
{
    report(w, u->origin, FINDING_UNINITIALISED, u->lane, u->offset,
           "reads %u bytes of an array or variable of its own (local memory) that the thread has "
           "not written, and uses them at line %u",
           u->origin->size, line);
}

void report_global_unwritten(warp *w, const op *o, uint64_t offset, uint32_t bytes, uint32_t lane)
{
    device *d = w->block->device;
    char buffer[192];
    const char *late = "";
    uint64_t base = 0, size = 0;
    if (atomic_load_explicit(&w->block->launch->departs, memory_order_relaxed))
        late = ", or that a bulk copy of another block still writes (cp.async.bulk.wait_group 0 "
               "waits for it, with .read it does not)";
    pthread_mutex_lock(&d->allocations);
    heap_find(&d->heap, offset, &base, &size);
    neighbour n = describe_buffer(d, base, size, buffer, sizeof buffer);
    pthread_mutex_unlock(&d->allocations);
    report_near(w, o, FINDING_UNINITIALISED, lane, DEVICE_BASE + offset, &n,
                "reads %u bytes that nothing has written, at byte %llu of %s%s", bytes,
                (unsigned long long)(offset - base), buffer, late);
}

static void report_shuffle(warp *w, const undefined *u, uint32_t line)
{
    char name[48];
    thread_name(w->block, w->index * LANES + u->lane, name);
    report(w, u->origin, FINDING_INACTIVE_LANE, u->lane, 0,
           "thread%s reads from lane %u, which does not take part in this shuffle, and uses the "
           "undefined value at line %u",
           name, u->source, line);
}

/* What came from one place is said once. */
static void forget_origin(warp *w, const op *origin)
{
    for (uint32_t i = w->undefined_count; i-- > 0;)
        if (w->undefined[i].origin == origin) w->undefined[i] = w->undefined[--w->undefined_count];
}

static void report_memory(warp *w, const undefined *u, uint32_t lanes)
{
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t offset = u->offset + (uint64_t)(((int64_t)lane - u->lane) * u->step);
        if (u->space == SPACE_SHARED)
            report_shared_unwritten(w, u->origin, (uint32_t)offset, u->origin->size, lane,
                                    u->returned);
        else
            report_global_unwritten(w, u->origin, offset, u->origin->size, lane);
    }
}

static void report_use(warp *w, const op *o, operand row, uint32_t lanes)
{
    const undefined u = *undefined_origin(w, row);
    uint32_t line;
    module_file(w->groups[w->current].function->module, o->line, &line);
    if (u.space == SPACE_GENERIC)
        report_shuffle(w, &u, line);
    else if (u.space == SPACE_LOCAL)
        report_local(w, &u, line);
    else
        report_memory(w, &u, lanes);
    forget_origin(w, u.origin);
}

bool undefined_use(warp *w, const op *o, operand row, uint32_t mask)
{
    uint32_t used = undefined_lanes(w, row) & mask;
    if (used) report_use(w, o, row, used);
    return used;
}

bool undefined_is_of_memory(const warp *w, operand row)
{
    uint8_t space = undefined_origin(w, row)->space;
    return space == SPACE_GLOBAL || space == SPACE_SHARED;
}

bool undefined_neighbour(const warp *w, const undefined *u, int64_t distance, uint32_t bytes)
{
    uint64_t offset = u->offset + (uint64_t)distance;
    if (u->space == SPACE_SHARED) return shadow_written(w->block, offset, bytes);
    return offset < DEVICE_BYTES && bits_any(w->block->device->initialised, offset, bytes);
}
