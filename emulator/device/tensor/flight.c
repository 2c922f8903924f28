/*
 * flight.c: bulk copies on their way to shared memory.
 *
 * Interface
 *   flight_begin, swizzled_place, flights_forget, flights_end_late
 *
 * They land when a thread waits for the phase of their mbarrier, no earlier: an earlier access is
 * reported. What lands is what their source holds then; a source that is gone gives what it held
 * when they were issued. In a launch that is `early` the bytes are there when they are issued; they
 * land, for all findings, as ever.
 */
#include <stdlib.h>

#include "bulk.h"
#include "device/base/arena.h"
#include "device/checks/shadow.h"
#include "device/ops/ops.h"
#include "device/trace/trace.h"

uint32_t swizzled_place(uint32_t offset, uint32_t swizzle, uint32_t i)
{
    uint32_t place = offset + i * CHUNK, mask = swizzle ? swizzle / CHUNK - 1 : 0;
    return place ^ (place >> 7 & mask) << 4;
}

static uint32_t room_of(uint32_t bytes)
{
    return (bytes + CHUNK - 1) / CHUNK;
}

/* Of the i-th piece. */
static uint32_t size_of(uint32_t bytes, uint32_t i)
{
    uint32_t rest = bytes - i * CHUNK;
    return rest < CHUNK ? rest : CHUNK;
}

/* ---- landing --------------------------------------------------------------------------------- */

static void report_change(const bulk_flight *x)
{
    block *b = x->by->block;
    report_at(b, b->launch->function, x->op->line, FINDING_RACE, x->by->index * LANES + x->lane,
              x->to,
              "what this bulk copy reads was changed while it was under way: whoever writes there "
              "has to wait for the mbarrier of the copy first");
}

static void read_again(const block *b, bulk_flight *x)
{
    tensor *t = tensor_of(x->by->block);
    cargo now = cargo_copy(&x->cargo);
    t->moves = MOVES_BYTES;
    if (x->box.shape.rank)
        tile_read(x->by, x->op, x->lane, &x->box.map, x->box.corner, &now);
    else if (x->box.from)
        memcpy(now.data, x->box.from, now.bytes);
    t->moves = MOVES_ALL;
    if (memcmp(now.data, x->cargo.data, now.bytes) && b->launch->check_races) report_change(x);
    memcpy(x->cargo.data, now.data, now.bytes);
    cargo_free(&now);
}

static reduction reduction_of(const bulk_flight *x)
{
    return ((const bulk *)x->op->extra)->reduce;
}

static void reduce(block *b, const bulk_flight *x, reduction r)
{
    for (uint32_t at = 0; at < x->cargo.bytes; at += r.size) {
        uint64_t value = 0;
        memcpy(&value, x->cargo.data + at, r.size);
        r.run(b->shared + x->to + at, value, 0);
    }
}

static void move(block *b, const bulk_flight *x)
{
    const reduction r = reduction_of(x);
    if (r.run) {
        reduce(b, x, r);
        return;
    }
    for (uint32_t i = 0; i < room_of(x->cargo.bytes); i++)
        memcpy(b->shared + swizzled_place(x->to, x->box.shape.swizzle, i),
               x->cargo.data + i * CHUNK, size_of(x->cargo.bytes, i));
}

static void mark_gaps(block *b, const bulk_flight *x, uint32_t place, uint32_t at, uint32_t size)
{
    for (uint32_t i = 0; x->cargo.gaps && i < size; i++)
        if (cargo_has_gap(&x->cargo, at + i)) shadow_bring(b, place + i);
}

static void land(block *b, bulk_flight *x)
{
    uint32_t cell = b->tick << TICK_SHIFT | x->by->index * LANES | x->lane, line = x->op->line;
    if (reduction_of(x).run) cell |= ATOMIC;
    read_again(b, x);
    if (!b->launch->early) move(b, x);
    for (uint32_t i = 0; i < room_of(x->cargo.bytes); i++) {
        uint32_t place = swizzled_place(x->to, x->box.shape.swizzle, i);
        uint32_t size = size_of(x->cargo.bytes, i);
        flights_mark(b, place, size, cell, line);
        mark_gaps(b, x, place, i * CHUNK, size);
        b->tensor->landed[place / CHUNK] = (landing){
            .cell = cell, .number = x->number, .line = line, .piece = i, .shape = x->box.shape};
        b->tensor->ended[place / CHUNK] = (ending){0};
    }
    if (!b->trace) return;
    trace_landing(b, &(trace_tile){.step = x->step,
                                   .to = x->to,
                                   .bytes = x->cargo.bytes,
                                   .barrier = x->barrier,
                                   .phase = (uint32_t)mbarrier_phase(b, x->barrier),
                                   .row_bytes = x->box.shape.row_bytes,
                                   .swizzle = x->box.shape.swizzle,
                                   .rank = x->box.shape.rank,
                                   .corner = x->box.corner});
}

static void mark(block *b, const bulk_flight *x, uint32_t cell, uint32_t line)
{
    for (uint32_t i = 0; i < room_of(x->cargo.bytes); i++)
        flights_mark(b, swizzled_place(x->to, x->box.shape.swizzle, i), size_of(x->cargo.bytes, i),
                     cell, line);
}

/* Reductions for other mbarriers may be under way to the same place. */
static void mark_reductions(block *b)
{
    const tensor *t = b->tensor;
    for (uint32_t i = 0; i < t->flight_count; i++) {
        const bulk_flight *x = &t->flights[i];
        if (reduction_of(x).run) mark(b, x, ADDING, x->op->line);
    }
}

/* All at once: with more of them than the phase expects it does not end by chance. */
static void arrive_bytes(block *b, uint32_t barrier)
{
    tensor *t = b->tensor;
    uint32_t left = 0, bytes = 0, line = 0;
    for (uint32_t i = 0; i < t->flight_count; i++) {
        bulk_flight x = t->flights[i];
        if (x.barrier != barrier) {
            t->flights[left++] = x;
            continue;
        }
        land(b, &x);
        cargo_free(&x.cargo);
        bytes += x.cargo.bytes;
        line = x.op->line;
    }
    t->flight_count = left;
    mark_reductions(b);
    if (bytes) mbarrier_bytes(b, barrier, bytes, line);
}

/* Nobody has waited for them. */
void flights_end_late(block *b)
{
    const tensor *t = b->tensor;
    for (uint32_t i = 0; i < t->flight_count; i++) {
        const bulk_flight *x = &t->flights[i];
        block *by = x->by->block;
        report_at(
            by, by->launch->function, x->op->line, FINDING_RACE, x->by->index * LANES + x->lane,
            x->to,
            "this copy may still come when the block that it goes to has ended and its memory "
            "is another block's: wait for its mbarrier before the end");
    }
}

void flights_forget(block *b)
{
    tensor *t = b->tensor;
    for (uint32_t i = 0; i < t->flight_count; i++) {
        mark(b, &t->flights[i], 0, 0);
        cargo_free(&t->flights[i].cargo);
    }
    t->flight_count = 0;
}

/* ---- beginning ------------------------------------------------------------------------------- */

static bool may_write(warp *w, const op *o, uint32_t lane, block *to, uint32_t place, uint32_t size)
{
    const bulk *x = o->extra;
    if (to != w->block) return visit_copy(w, o, to, place, size, lane);
    if (x->kind != BULK_VALUES) proxy_check(w, o, place, lane, true);
    return reach_lane(w, o, SPACE_SHARED, place, size, lane,
                      x->reduce.run ? ACCESS_ATOMIC : ACCESS_STORE, NULL);
}

static bulk_flight *add(tensor *t)
{
    if (t->flight_count == t->flight_capacity) {
        t->flight_capacity = t->flight_capacity ? 2 * t->flight_capacity : 16;
        t->flights = retake(t->flights, t->flight_capacity * sizeof *t->flights);
    }
    return &t->flights[t->flight_count++];
}

void flight_begin(warp *w, const op *o, uint32_t lane, block *to, uint32_t offset,
                  const tile_box *box, uint32_t barrier, cargo goods)
{
    const uint32_t bytes = goods.bytes;
    for (uint32_t i = 0; i < room_of(bytes); i++) {
        uint32_t place = swizzled_place(offset, box->shape.swizzle, i);
        if (may_write(w, o, lane, to, place, size_of(bytes, i))) continue;
        cargo_free(&goods);
        return;
    }
    bulk_flight *x = add(tensor_of(to));
    *x = (bulk_flight){.by = w,
                       .op = o,
                       .lane = lane,
                       .step = w->block->trace ? trace_now(w->block) : -1,
                       .to = offset,
                       .number = ++to->tensor->flights_begun,
                       .box = *box,
                       .barrier = barrier,
                       .cargo = goods};
    mark(to, x, reduction_of(x).run ? ADDING : FLYING, o->line);
    if (to->launch->early) move(to, x);
    to->arrive_bytes = arrive_bytes;
    to->polls = 0;
    mbarrier_coming(w, to, barrier, bytes);
}
