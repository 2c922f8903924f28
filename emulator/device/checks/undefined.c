/*
 * undefined.c: what a shuffle gets from a lane that does not take part, or a load from local memory
 * that its thread has not written: nothing that a program may use. To read it is no mistake:
 * `y = __shfl_down_sync(mask, x, d); if (lane + d < n) x += y;` is right, and compilers load before
 * they know whether they must. So from such a shuffle or load on the warp keeps a list of the rows
 * and lanes that are undefined, operations hand that on from operands to results, and only a value
 * that is stored, or that chooses an address or a branch, is a finding, at the shuffle or load.
 *
 * To copy is no use: a structure may have members without a value, and gaps. A store to local
 * memory makes that unwritten; one elsewhere counts if something was computed with the value, or if
 * it was loaded whole and alone.
 *
 * Interface
 *   undefined_read     run_shuffle has read; may start the list
 *   undefined_load     run_load has found something unwritten; may start the list
 *   undefined_lanes, undefined_origin, undefined_set, undefined_use
 *                      for run/follow.c, which runs operations while there is one
 *
 * The list is short: it loses its oldest row to a new one.
 */
#include "checks.h"

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
                            .local = true,
                            .raw = true,
                            .part = !(all >> first & 1),
                            .offset = found.offset};
        undefined_set(w, (&o->d)[k], found.lanes[k], found.lanes[k], &origin);
    }
    if (!count) w->undefined_frame = w->bank[BANK_REGISTERS];
    if (w->alone) return o + 1;
    return w->undefined_count ? group_pause(w, o + 1) : go_on(w, o + 1);
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static void report_load(warp *w, const undefined *u, uint32_t line)
{
    report(w, u->origin, FINDING_UNINITIALISED, u->lane, u->offset,
           "reads %u bytes of an array or variable of its own (local memory) that the thread has "
           "not written, and uses them at line %u",
           u->origin->size, line);
}

static void report_use(warp *w, const op *o, operand row)
{
    const undefined *u = undefined_origin(w, row);
    uint32_t line;
    char name[48];
    module_file(w->groups[w->current].function->module, o->line, &line);
    if (u->local) {
        report_load(w, u, line);
        w->undefined_count = 0;
        return;
    }
    thread_name(w->block, w->index * LANES + u->lane, name);
    report(w, u->origin, FINDING_INACTIVE_LANE, u->lane, 0,
           "thread%s reads from lane %u, which does not take part in this shuffle, and what it "
           "gets, which is undefined, is used at line %u",
           name, u->source, line);
    w->undefined_count = 0;
}

bool undefined_use(warp *w, const op *o, operand row, uint32_t mask)
{
    bool used = undefined_lanes(w, row) & mask;
    if (used) report_use(w, o, row);
    return used;
}
