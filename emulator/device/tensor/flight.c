/*
 * flight.c: bulk copies on their way to shared memory.
 *
 * Interface
 *   flight_begin, swizzled_place, flights_forget
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

static void read_again(const bulk_flight *x)
{
    tensor *t = tensor_of(x->by->block);
    t->moves = MOVES_BYTES;
    if (x->box.shape.rank)
        tile_read(x->by, x->op, x->lane, &x->box.map, x->box.corner, x->data);
    else if (x->box.from)
        memcpy(x->data, x->box.from, x->bytes);
    t->moves = MOVES_ALL;
}

static void move(block *b, const bulk_flight *x)
{
    for (uint32_t i = 0; i < room_of(x->bytes); i++)
        memcpy(b->shared + swizzled_place(x->to, x->box.shape.swizzle, i), x->data + i * CHUNK,
               size_of(x->bytes, i));
}

static void land(block *b, const bulk_flight *x)
{
    uint32_t cell = b->tick << TICK_SHIFT | x->by->index * LANES | x->lane, line = x->op->line;
    if (x->data) {
        read_again(x);
        move(b, x);
    }
    for (uint32_t i = 0; i < room_of(x->bytes); i++) {
        uint32_t place = swizzled_place(x->to, x->box.shape.swizzle, i);
        flights_mark(b, place, size_of(x->bytes, i), cell, line);
        b->tensor->landed[place / CHUNK] = (landing){
            .cell = cell, .number = x->number, .line = line, .piece = i, .shape = x->box.shape};
        b->tensor->ended[place / CHUNK] = (ending){0};
    }
    if (!b->trace) return;
    trace_landing(b, &(trace_tile){.step = x->step,
                                   .to = x->to,
                                   .bytes = x->bytes,
                                   .barrier = x->barrier,
                                   .phase = (uint32_t)mbarrier_phase(b, x->barrier),
                                   .row_bytes = x->box.shape.row_bytes,
                                   .swizzle = x->box.shape.swizzle,
                                   .rank = x->box.shape.rank,
                                   .corner = x->box.corner});
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
        free(x.data);
        bytes += x.bytes;
        line = x.op->line;
    }
    t->flight_count = left;
    if (bytes) mbarrier_bytes(b, barrier, bytes, line);
}

void flights_forget(block *b)
{
    tensor *t = b->tensor;
    for (uint32_t i = 0; i < t->flight_count; i++) {
        const bulk_flight *x = &t->flights[i];
        for (uint32_t k = 0; k < room_of(x->bytes); k++)
            flights_mark(b, swizzled_place(x->to, x->box.shape.swizzle, k), size_of(x->bytes, k), 0,
                         0);
        free(x->data);
    }
    t->flight_count = 0;
}

/* ---- beginning ------------------------------------------------------------------------------- */

static bool may_write(warp *w, const op *o, uint32_t lane, block *to, uint32_t place, uint32_t size)
{
    if (to != w->block) return visit_copy(w, o, to, place, size, lane);
    if (((const bulk *)o->extra)->kind != BULK_VALUES) proxy_check(w, o, place, lane, true);
    return reach_lane(w, o, SPACE_SHARED, place, size, lane, ACCESS_STORE, NULL);
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
                  const tile_box *box, uint32_t barrier, uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < room_of(bytes); i++) {
        uint32_t place = swizzled_place(offset, box->shape.swizzle, i);
        if (may_write(w, o, lane, to, place, size_of(bytes, i))) continue;
        free(data);
        return;
    }
    for (uint32_t i = 0; i < room_of(bytes); i++)
        flights_mark(to, swizzled_place(offset, box->shape.swizzle, i), size_of(bytes, i), FLYING,
                     o->line);
    bulk_flight *x = add(tensor_of(to));
    *x = (bulk_flight){.by = w,
                       .op = o,
                       .lane = lane,
                       .step = w->block->trace ? trace_now(w->block) : -1,
                       .to = offset,
                       .number = ++to->tensor->flights_begun,
                       .box = *box,
                       .barrier = barrier,
                       .data = data,
                       .bytes = bytes};
    if (to->launch->early) {
        move(to, x);
        free(data);
        x->data = NULL;
    }
    to->arrive_bytes = arrive_bytes;
    to->polls = 0;
    mbarrier_coming(w, to, barrier, bytes);
}
