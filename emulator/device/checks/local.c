/*
 * local.c: local memory: which of its bytes has a thread written since its frame began?
 *
 * Interface
 *   local_prepare, local_start                 for block.c
 *   local_enter                                for control.c: a function's frame begins
 *   local_note, local_forget                   accesses
 *
 * Threads of a warp touch the same offset together, so there is a mask of lanes for each offset: a
 * byte of it for eight of memory. A load of what is not there is no finding yet (compilers load
 * early, and copy structures with their gaps): run/follow.c follows the value.
 */
#include "checks.h"
#include "device/base/pages.h"

static uint32_t lanes_from(uint32_t first, uint32_t lanes)
{
    return (lanes == LANES ? ~0u : (1u << lanes) - 1) << first;
}

static void mark(uint32_t *written, uint32_t bytes, uint32_t lanes)
{
    for (uint32_t i = 0; i < bytes; i++) written[i] |= lanes;
}

/* Unwritten is a component none of whose bytes was written. */
static void look(warp *w, const op *o, uint64_t offset, uint32_t lanes)
{
    for (uint32_t k = 0; k < o->count; k++) {
        const uint32_t *written = w->written + offset + k * o->size;
        uint32_t missing = lanes;
        for (uint32_t i = 0; i < o->size; i++) missing &= ~written[i];
        if (missing) undefined_note(w, o, SPACE_LOCAL, k, missing, offset + k * o->size);
    }
}

static void note(warp *w, const op *o, uint64_t offset, uint32_t bytes, uint32_t lanes,
                 access_kind how)
{
    if (how != ACCESS_LOAD)
        mark(w->written + offset, bytes, lanes);
    else if (o->is_load && bytes == (uint32_t)o->size * o->count)
        look(w, o, offset, lanes);
}

void local_note(warp *w, const op *o, const run *r, access_kind how)
{
    if (!w->written) return;
    if (r->step == 0) {
        note(w, o, r->address, r->bytes, lanes_from(r->lane, r->lanes), how);
        return;
    }
    for (uint32_t i = 0; i < r->lanes; i++)
        note(w, o, r->address + i * r->step, r->bytes, 1u << (r->lane + i), how);
}

void local_forget(warp *w, uint64_t offset, uint32_t bytes, uint32_t lanes)
{
    bool there = offset < w->block->local_stride && bytes <= w->block->local_stride - offset;
    for (uint32_t i = 0; w->written && there && i < bytes; i++) w->written[offset + i] &= ~lanes;
}

void local_enter(warp *w, const function *f, uint32_t offset, uint32_t lanes)
{
    local_forget(w, offset, f->local_bytes, lanes);
}

/* ---- a block's share ------------------------------------------------------------------------- */

void local_prepare(block *b)
{
    const launch *l = b->launch;
    bool wanted = l->check_uninitialised && b->local_stride > ROW_ALIGNMENT;
    if (wanted) pages_grow(&b->written, &b->written_capacity, 4 * b->warp_count * b->local_stride);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        uint32_t *all = (uint32_t *)(void *)b->written;
        b->warps[k].written = wanted ? all + k * b->local_stride : NULL;
    }
    b->steps = 0;
}

void local_start(warp *w)
{
    w->unwritten.op = NULL;
    if (w->written) memset(w->written, 0, 4 * (size_t)w->block->launch->function->local_bytes);
}
