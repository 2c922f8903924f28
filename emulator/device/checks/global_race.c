/*
 * global_race.c: the words for a race in global memory.
 *
 * Interface
 *   report_global_race     for global_shadow.c
 *
 * To write what is there already harms nobody, in whatever order: `found = 1` by many threads is no
 * finding.
 */
#include <stdio.h>

#include "device/base/bits.h"
#include "global_shadow.h"
#include "order.h"

static const uint8_t *value_of(const touch *t, uint32_t k, uint32_t lane)
{
    const op *o = t->op;
    return (const uint8_t *)row(t->warp, (&o->d)[k]) + lane * o->width;
}

/* In this very operation: what the two lanes write. */
static bool writes_the_same(const touch *t, uint32_t lane)
{
    for (uint32_t k = 0; k < t->op->count; k++) {
        if (memcmp(value_of(t, k, t->lane), value_of(t, k, lane), t->op->size)) return false;
    }
    return true;
}

static bool writes_what_is_there(const touch *t)
{
    const uint8_t *memory = t->warp->block->device->bytes + (t->address - DEVICE_BASE);
    for (uint32_t k = 0; k < t->op->count; k++) {
        uint32_t size = t->op->size;
        if (memcmp(value_of(t, k, t->lane), memory + k * size, size)) return false;
    }
    return true;
}

static bool is_harmless(const touch *t, uint32_t cell, bool wrote)
{
    const device *d = t->warp->block->device;
    uint32_t bytes = (uint32_t)t->op->size * t->op->count;
    if (!owned_all(d->owned, t->address - DEVICE_BASE, bytes)) return true; /* another finding */
    if (t->how != ACCESS_STORE) return false;
    bool same = wrote && cell >> EVENT_SHIFT == t->me >> EVENT_SHIFT && cell_lane(cell) != t->lane;
    return same ? writes_the_same(t, cell_lane(cell)) : writes_what_is_there(t);
}

static void name_block(const block *b, uint32_t number, char text[64])
{
    uint32_t at[3];
    place_in(b->launch->request->grid, number, at);
    snprintf(text, 64, "block (%u,%u,%u)", at[0], at[1], at[2]);
}

static void name_thread(const block *b, uint32_t thread, char text[64])
{
    uint32_t at[3];
    place_in(b->launch->request->block, thread, at);
    snprintf(text, 64, "thread (%u,%u,%u)", at[0], at[1], at[2]);
}

static const char *verb(const touch *t)
{
    return t->how == ACCESS_LOAD ? "reads" : t->how == ACCESS_STORE ? "overwrites" : "updates";
}

/* Of several readers only one is known by name, and that may be the writer itself. */
static bool is_me(const touch *t, const event *e, uint32_t cell)
{
    const warp *w = t->warp;
    return e->block == w->block->tracker->number && e->warp == w->index &&
           cell_lane(cell) == t->lane;
}

static const char *advice(const touch *t, const event *e, bool elsewhere)
{
    if (elsewhere) return "and nothing orders them: blocks run in any order";
    if (e->warp != t->warp->index) return "with no __syncthreads() in between";
    return "with no __syncwarp() (or __syncthreads()) in between";
}

/* Two lanes that write in one operation race whatever synchronises them. */
static bool in_warp(const touch *t, const event *e, uint32_t cell, bool wrote)
{
    const warp *w = t->warp;
    if (e->block != w->block->tracker->number || e->warp != w->index) return false;
    return wrote ? cell >> EVENT_SHIFT != t->me >> EVENT_SHIFT : (cell & SPREAD) <= SPREAD_WARP;
}

/* With a launch, a copy or a fill of another stream. */
static void report_apart(const touch *t, uint32_t cell, bool wrote)
{
    const block *b = t->warp->block;
    const past *p = order_find(b->device, cell >> EVENT_SHIFT);
    char me[64], my_block[64], other[400];
    uint32_t line = 0;
    name_thread(b, t->warp->index * LANES + t->lane, me);
    name_block(b, b->tracker->number, my_block);
    if (p->kernel) {
        const event *e = cell_event(b->device->global_shadow, cell);
        const char *file = module_file(p->kernel->module, e->line, &line);
        snprintf(other, sizeof other, "kernel %s %s at %s:%u", p->kernel->plain_name,
                 wrote ? "writes" : "reads", base_name(file), line);
    } else {
        snprintf(other, sizeof other, "%s %s", p->what, wrote ? "writes" : "reads");
    }
    report(t->warp, t->op, FINDING_STREAM_RACE, t->lane, t->address,
           "%s of %s %s what %s, " NEITHER_WAITS, me, my_block, verb(t), other);
}

void report_global_race(const touch *t, uint32_t cell, bool wrote)
{
    const block *b = t->warp->block;
    if (is_harmless(t, cell, wrote) || !watch_may_report(b->launch, t->op)) return;
    if (is_foreign(b->device->global_shadow, cell)) {
        report_apart(t, cell, wrote);
        return;
    }
    const event *e = cell_event(b->device->global_shadow, cell);
    char me[64], my_block[64], other[64], other_block[64];
    uint32_t line = 0;
    const char *file = module_file(b->launch->function->module, e->line, &line);
    name_thread(b, t->warp->index * LANES + t->lane, me);
    name_block(b, b->tracker->number, my_block);
    name_thread(b, e->warp * LANES + cell_lane(cell), other);
    name_block(b, e->block, other_block);
    bool crowd = !wrote && is_me(t, e, cell), grid = (cell & SPREAD) == SPREAD_GRID;
    if (crowd) {
        snprintf(other, sizeof other, "%s", grid ? "threads" : "other threads");
        if (grid) snprintf(other_block, sizeof other_block, "other blocks");
    }
    bool elsewhere = crowd ? grid : e->block != b->tracker->number;
    report_because(
        t->warp, t->op, in_warp(t, e, cell, wrote) ? FINDING_MISSING_SYNCWARP : FINDING_RACE,
        cause_of_race(t->how, wrote, !elsewhere), t->lane, t->address,
        "%s of %s %s what %s of %s %s at %s:%u, %s", me, my_block, verb(t), other, other_block,
        wrote ? "wrote" : "read", base_name(file), line, advice(t, e, elsewhere));
}
