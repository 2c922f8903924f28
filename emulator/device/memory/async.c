/*
 * async.c: cp.async: copies from global to shared memory that run behind the program's back.
 *
 * Interface
 *   run_copy_async, run_copy_commit, run_copy_wait
 *   flights_start, flights_assign, flights_land, flights_mark
 *
 * A copy is checked when it is issued; its bytes move when its thread waits for its group, or when
 * the phase of the mbarrier that it was given to ends. Until then it is a flight: the old bytes
 * stay, and the shadow reports every access to them. From then on it counts as a store of the
 * thread that issued it. In a launch that is `early` the bytes move when it is issued, and all else
 * is as before.
 */
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/checks/shadow.h"
#include "memory.h"

/* ---- flights --------------------------------------------------------------------------------- */

void flights_mark(block *b, uint32_t offset, uint32_t bytes, uint32_t cell, uint32_t line)
{
    shadow_wake(b, offset / 4, (offset + bytes - 1) / 4);
    for (uint32_t word = offset / 4; word < (offset + bytes) / 4; word++) {
        bool split = b->words.written[word] == SPLIT;
        cells *c = split ? &b->bytes : &b->words;
        for (uint32_t i = split ? 4 * word : word; i < (split ? 4 * word + 4 : word + 1); i++) {
            c->written[i] = cell;
            c->written_line[i] = line;
        }
    }
}

/* From its source, or what was there when it was issued. */
static void move(block *b, const flight *x, bool again)
{
    memcpy(b->shared + x->to, x->value, x->bytes);
    if (again && x->source) memcpy(b->shared + x->to, x->source, x->source_bytes);
}

static void take_off(warp *w, const op *o, uint32_t lane, flight x)
{
    block *b = w->block;
    flights *f = &w->flights;
    b->copied = true;
    if (f->count == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 4 * LANES;
        f->list = retake(f->list, f->capacity * sizeof *f->list);
    }
    x.op = o;
    x.group = f->group[lane];
    x.barrier = (uint32_t)NO_BARRIER;
    x.lane = (uint8_t)lane;
    x.bytes = o->size;
    f->list[f->count++] = x;
    if (b->launch->early) move(b, &x, false);
    flights_mark(b, x.to, o->size, FLYING, o->line);
}

static void land(warp *w, const flight *x)
{
    block *b = w->block;
    uint32_t stamp = b->tick << TICK_SHIFT | w->index * LANES | x->lane;
    if (!b->launch->early) move(b, x, true);
    flights_mark(b, x->to, x->bytes, stamp, x->op->line);
}

/* What is waited for: flights of these lanes, all but the latest `but` groups; or of an mbarrier.
 */
typedef struct wait {
    uint32_t lanes;
    uint64_t but;
    bool uncommitted; /* these, too */
    uint32_t barrier;
} wait;

static bool is_awaited(const warp *w, const flight *x, const wait *what)
{
    if (what->barrier != (uint32_t)NO_BARRIER) return x->barrier == what->barrier;
    bool old = x->group + what->but < w->flights.group[x->lane];
    return what->lanes >> x->lane & 1 && (old || what->uncommitted);
}

static void land_awaited(warp *w, const wait *what)
{
    flights *f = &w->flights;
    uint32_t left = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (is_awaited(w, &f->list[i], what))
            land(w, &f->list[i]);
        else
            f->list[left++] = f->list[i];
    }
    f->count = left;
}

static void forget(block *b, const flight *x)
{
    for (uint32_t i = x->to; i < x->to + x->bytes && x->to + x->bytes <= b->shared_bytes; i++) {
        uint32_t *word = &b->words.written[i / 4], *byte = &b->bytes.written[i];
        if (*word == FLYING) *word = 0;
        if (*word == SPLIT && *byte == FLYING) *byte = 0;
    }
}

/* A block may end, or stop, with flights that nobody waited for. */
void flights_start(block *b)
{
    if (!b->copied) return;
    b->copied = false;
    for (uint32_t k = 0; k < MAX_WARPS; k++) {
        flights *f = &b->warps[k].flights;
        for (uint32_t i = 0; i < f->count; i++) forget(b, &f->list[i]);
        f->count = 0;
        memset(f->group, 0, sizeof f->group);
    }
}

/* ---- cp.async -------------------------------------------------------------------------------- */

/* A source that is shorter than the target is read in small parts; zeros follow it. */
static void read_source(warp *w, const op *o, uint64_t from, uint32_t bytes, uint32_t lane,
                        flight *x)
{
    uint32_t part = bytes == o->size ? bytes : bytes % 4 ? 1 : 4;
    for (uint32_t at = 0; at < bytes; at += part) {
        const uint8_t *memory =
            reach_lane(w, o, SPACE_GENERIC, from + at, part, lane, ACCESS_LOAD, NULL);
        if (!memory) return;
        memcpy(x->value + at, memory, part);
        if (at == 0) x->source = memory;
        x->source_bytes = (uint8_t)(at + part);
    }
}

/* o->a, o->b: addresses; o->c: bytes to read, the rest is zero; o->e: displacement of the source.
 */
const op *run_copy_async(warp *w, const op *o)
{
    const uint64_t *from = row(w, o->b), *extra = row(w, o->e);
    const uint32_t *count = row(w, o->c);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m), bytes = count[i] < o->size ? count[i] : o->size;
        uint64_t to = o->narrow ? ((uint32_t *)row(w, o->a))[i] : ((uint64_t *)row(w, o->a))[i];
        to += (uint64_t)o->offset;
        if (o->narrow) to = (uint32_t)to;
        flight x = {.to = (uint32_t)to};
        read_source(w, o, from[i] + extra[i], bytes, i, &x);
        if (!reach_lane(w, o, SPACE_SHARED, to, o->size, i, ACCESS_STORE, x.value)) continue;
        take_off(w, o, i, x);
    }
    return o + 1;
}

const op *run_copy_commit(warp *w, const op *o)
{
    w->block->copied = true;
    for (uint32_t m = active(w, o); m; m &= m - 1) w->flights.group[__builtin_ctz(m)]++;
    return o + 1;
}

/* All groups but the latest o->offset ones; or, by o->variant, whatever is under way. */
const op *run_copy_wait(warp *w, const op *o)
{
    wait what = {.lanes = active(w, o),
                 .but = (uint64_t)o->offset,
                 .uncommitted = o->variant,
                 .barrier = (uint32_t)NO_BARRIER};
    land_awaited(w, &what);
    return o + 1;
}

/* ---- mbarriers ------------------------------------------------------------------------------- */

void flights_assign(warp *w, uint32_t lane, uint32_t barrier)
{
    for (uint32_t i = 0; i < w->flights.count; i++) {
        flight *x = &w->flights.list[i];
        if (x->lane == lane && x->barrier == (uint32_t)NO_BARRIER) x->barrier = barrier;
    }
}

void flights_land(block *b, uint32_t barrier)
{
    wait what = {.barrier = barrier};
    for (uint32_t k = 0; k < b->warp_count; k++) land_awaited(&b->warps[k], &what);
}
