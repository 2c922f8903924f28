/*
 * global_race.c: the words for a race in global memory.
 *
 * Interface
 *   report_global_race, report_stale_copy     for global_shadow.c
 *
 * A write of the value that is already there is harmless, in any order: `found = 1` by many threads
 * is no finding. The value there is the one that the other thread wrote, or has noted and is about
 * to write.
 *
 * Blocks on several host threads meet in any order. A finding must not depend on it: a race of two
 * blocks is told as if the one with the lower number had come first, as it does with one thread,
 * unless it has done atomic accesses, which may mean that it did wait for the other.
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

static uint64_t address_of(const warp *w, const op *o, uint32_t lane)
{
    return ((const uint64_t *)row(w, o->a))[lane] + (uint64_t)o->offset;
}

/* Is it a lane that writes there in this very operation, and has been looked at before? A number of
 * an event may stand for several executions. */
static bool is_beside(const touch *t, uint32_t cell)
{
    uint32_t lane = cell_lane(cell);
    return cell >> EVENT_SHIFT == t->me >> EVENT_SHIFT && lane < t->lane &&
           active(t->warp, t->op) >> lane & 1 && address_of(t->warp, t->op, lane) == t->address;
}

/* What the two lanes write. */
static bool writes_the_same(const touch *t, uint32_t lane)
{
    for (uint32_t k = 0; k < t->op->count; k++) {
        if (memcmp(value_of(t, k, t->lane), value_of(t, k, lane), t->op->size)) return false;
    }
    return true;
}

/* Another block's store to the same place, noted but not done: what it stores. */
static bool find_stored(const touch *t, uint32_t cell, uint8_t *value)
{
    const op *o = t->op;
    uint32_t number = cell >> EVENT_SHIFT, lane = cell_lane(cell);
    const tracker *n = t->warp->block->device->global_shadow->trackers;
    while (n && __atomic_load_n(&n->storing, __ATOMIC_ACQUIRE) != number) n = n->next;
    if (!n || n == t->warp->block->tracker) return false;
    touch other = {.warp = n->storer, .op = n->store};
    if (other.op->narrow || other.op->size != o->size || other.op->count != o->count ||
        address_of(other.warp, other.op, lane) != t->address)
        return false;
    for (uint32_t k = 0; k < o->count; k++)
        memcpy(value + k * o->size, value_of(&other, k, lane), o->size);
    return __atomic_load_n(&n->storing, __ATOMIC_SEQ_CST) == number;
}

static bool writes_what_is_there(const touch *t, uint32_t cell)
{
    uint8_t stored[16];
    const uint8_t *memory = t->warp->block->device->bytes + (t->address - DEVICE_BASE);
    if (find_stored(t, cell, stored)) memory = stored;
    for (uint32_t k = 0; k < t->op->count; k++) {
        uint32_t size = t->op->size;
        if (memcmp(value_of(t, k, t->lane), memory + k * size, size)) return false;
    }
    return true;
}

/* Did the block that comes later by its number come first? */
static bool is_early(const touch *t, uint32_t cell)
{
    const block *b = t->warp->block;
    const global_shadow *g = b->device->global_shadow;
    return !is_foreign(g, cell) && !b->tracker->strong && !b->launch->grid &&
           cell_event(g, cell)->block > b->tracker->number;
}

static bool is_harmless(const touch *t, uint32_t cell, bool wrote)
{
    const device *d = t->warp->block->device;
    uint32_t bytes = (uint32_t)t->op->size * t->op->count;
    if (!owned_all(d->owned, t->address - DEVICE_BASE, bytes)) return true; /* another finding */
    if (t->how != ACCESS_STORE || (!wrote && is_early(t, cell))) return false;
    return wrote && is_beside(t, cell) ? writes_the_same(t, cell_lane(cell))
                                       : writes_what_is_there(t, cell);
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

static const char *verb(access_kind how)
{
    return how == ACCESS_LOAD ? "reads" : how == ACCESS_STORE ? "overwrites" : "updates";
}

/* Of several readers only one is known by name, and that may be the writer itself. */
static bool is_me(const touch *t, const event *e, uint32_t cell)
{
    const warp *w = t->warp;
    return e->block == w->block->tracker->number && e->warp == w->index &&
           cell_lane(cell) == t->lane;
}

static const char *order_of_any(bool mild)
{
    return mild ? "and nothing orders them: harmless only if an older value is good enough"
                : "and nothing orders them: blocks run in any order";
}

static access_kind kind_of(const event *e, bool wrote)
{
    if (!wrote) return ACCESS_LOAD;
    return e->strength == STRENGTH_ATOMIC ? ACCESS_ATOMIC : ACCESS_STORE;
}

/* A plain read may see an atomic update or not, or the one value that a store can write: some
 * programs mean that. */
static bool is_mild(const touch *t, const event *e, bool wrote)
{
    const access_kind other = kind_of(e, wrote), update = t->how == ACCESS_LOAD ? other : t->how;
    const bool uniform = t->how == ACCESS_LOAD ? e->uniform : t->op->uniform;
    if (t->how != ACCESS_LOAD && other != ACCESS_LOAD) return false;
    return update == ACCESS_ATOMIC || (update == ACCESS_STORE && uniform);
}

static const char *advice(const touch *t, const event *e, const race *r, bool elsewhere)
{
    bool mild = is_mild(t, e, r->wrote);
    if (r->cause == CAUSE_NO_ATOMIC) return NOTHING_ATOMIC;
    if (elsewhere || mild) return order_of_any(mild);
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
           "%s of %s %s what %s, " NEITHER_WAITS, me, my_block, verb(t->how), other);
}

/* Who accesses now, who did before, and where. */
typedef struct names {
    char me[64], my_block[64], other[64], other_block[64];
    const char *file; /* of `line`, an op's; the number in it */
    uint32_t number;
} names;

static void name_both(const touch *t, const event *e, uint32_t cell, uint32_t line, names *n)
{
    const block *b = t->warp->block;
    name_thread(b, t->warp->index * LANES + t->lane, n->me);
    name_block(b, b->tracker->number, n->my_block);
    name_thread(b, e->warp * LANES + cell_lane(cell), n->other);
    name_block(b, e->block, n->other_block);
    n->file = base_name(module_file(b->launch->function->module, line, &n->number));
}

/* The other way round: the block that comes first by its number has come last. */
static void report_early(const touch *t, uint32_t cell, bool wrote)
{
    block *b = t->warp->block;
    const event *e = cell_event(b->device->global_shadow, cell);
    names n = {0};
    char text[512];
    name_both(t, e, cell, t->op->line, &n);
    race r = {.how = t->how, .line = e->line, .wrote = wrote};
    r.cause = cause_of_race(t->warp, t->op, t->lane, &r);
    snprintf(text, sizeof text, "%s of %s %s what %s of %s %s at %s:%u, %s", n.other, n.other_block,
             verb(kind_of(e, wrote)), n.me, n.my_block, t->how == ACCESS_LOAD ? "read" : "wrote",
             n.file, n.number, advice(t, e, &r, true));
    report_of(b, e->block, t->warp->groups[t->warp->current].function, e->line, FINDING_RACE,
              r.cause, e->warp * LANES + cell_lane(cell), t->address, text);
}

void report_global_race(const touch *t, uint32_t cell, bool wrote)
{
    const block *b = t->warp->block;
    if (is_harmless(t, cell, wrote)) return;
    t->warp->budget -= 4 * LANE_COST;
    if (!watch_may_report(b->launch, t->op)) return;
    if (is_foreign(b->device->global_shadow, cell)) {
        report_apart(t, cell, wrote);
        return;
    }
    if (is_early(t, cell)) {
        report_early(t, cell, wrote);
        return;
    }
    const event *e = cell_event(b->device->global_shadow, cell);
    names n = {0};
    name_both(t, e, cell, e->line, &n);
    bool crowd = !wrote && is_me(t, e, cell), grid = (cell & SPREAD) == SPREAD_GRID;
    if (crowd) {
        snprintf(n.other, sizeof n.other, "%s", grid ? "threads" : "other threads");
        if (grid) snprintf(n.other_block, sizeof n.other_block, "other blocks");
    }
    bool elsewhere = crowd ? grid : e->block != b->tracker->number;
    race r = {.how = t->how, .line = e->line, .wrote = wrote, .barrier = !elsewhere};
    r.cause = cause_of_race(t->warp, t->op, t->lane, &r);
    bool apart = !in_warp(t, e, cell, wrote) || is_mild(t, e, wrote) || r.cause == CAUSE_NO_ATOMIC;
    report_race(t->warp, t->op, apart ? FINDING_RACE : FINDING_MISSING_SYNCWARP, t->lane,
                t->address, &r, "%s of %s %s what %s of %s %s at %s:%u, %s", n.me, n.my_block,
                verb(t->how), n.other, n.other_block, wrote ? "wrote" : "read", n.file, n.number,
                advice(t, e, &r, elsewhere));
}

void report_stale_copy(const touch *t, uint32_t written)
{
    const block *b = t->warp->block;
    const event *e = cell_event(b->device->global_shadow, written);
    names n = {0};
    if (!watch_may_report(t->warp->block->launch, t->op)) return;
    name_both(t, e, written, e->line, &n);
    report(t->warp, t->op, FINDING_RACE, t->lane, t->address,
           "%s of %s reads as read-only (by __ldg or const __restrict__) what %s of %s wrote at "
           "%s:%u in this launch: it may get an older value, whatever orders them",
           n.me, n.my_block, n.other, n.other_block, n.file, n.number);
}
