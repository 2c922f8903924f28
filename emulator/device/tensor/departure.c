/*
 * departure.c: bulk copies on their way to global memory.
 *
 * Interface
 *   departure_begin, departures_end, departures_end_late
 *   departures_end_all     for run/block.c: the block has ended
 *
 * They arrive as late as the program allows: a thread that reads before a wait for the group (not
 * only with .read) sees the old bytes. In a launch that is `early` it sees the new ones, and all
 * that is told of them is as before. Until they arrive their target counts as unwritten, so that a
 * read there is seen; that of a reduction does not, since others may add to it meanwhile.
 */
#include <stdlib.h>

#include "bulk.h"
#include "device/base/arena.h"

static void write(departure *x, bulk_moves moves)
{
    tensor *t = x->warp->block->tensor;
    t->reduce = x->reduce;
    t->moves = (uint8_t)moves;
    if (x->tile)
        tile_write(x->warp, x->op, x->lane, &x->map, x->coordinate, &x->cargo);
    else
        bulk_write(x->warp, x->op, x->lane, x->to, &x->cargo, 0, x->cargo.bytes);
    t->moves = MOVES_ALL;
}

static const op *find(const block *b, uint64_t address, uint32_t bytes)
{
    tensor *t = b->tensor;
    t->found = false;
    for (uint32_t i = 0; i < t->departure_count; i++) {
        for (t->sought = address; t->sought < address + bytes && !t->found; t->sought++)
            if (!t->departures[i].reduce.run) write(&t->departures[i], MOVES_SEEK);
        if (t->found) return t->departures[i].op;
    }
    return NULL;
}

/* Is it marked as unwritten while it is under way? */
static bool is_marked(const block *b, const departure *x)
{
    return b->launch->check_races && b->launch->check_uninitialised && !x->reduce.run;
}

static void leave(block *b, departure *x)
{
    launch *l = b->launch;
    if (!is_marked(b, x)) return;
    write(x, MOVES_LEAVE);
    b->departing = find;
    atomic_store_explicit(&l->departs, true, memory_order_relaxed);
}

void departure_begin(block *b, const departure *x)
{
    tensor *t = tensor_of(b);
    if (t->departure_count == t->departure_capacity) {
        t->departure_capacity = t->departure_capacity ? 2 * t->departure_capacity : 8;
        t->departures = retake(t->departures, t->departure_capacity * sizeof *t->departures);
    }
    t->departures[t->departure_count] = *x;
    leave(b, &t->departures[t->departure_count]);
    if (b->launch->early) write(&t->departures[t->departure_count], MOVES_BYTES);
    t->departure_count++;
}

static void check_target(departure *x)
{
    block *b = x->warp->block;
    b->tensor->found = false;
    write(x, MOVES_MEET);
    if (b->tensor->found)
        report_at(
            b, b->launch->function, x->op->line, FINDING_RACE, x->warp->index * LANES + x->lane,
            x->tile ? x->map.address : x->to,
            "others write where this bulk copy writes while it is under way: wait for its end "
            "first (cp.async.bulk.wait_group 0; with .read it waits only until the copy has "
            "read shared memory)");
}

static void arrive(departure *x)
{
    if (is_marked(x->warp->block, x)) check_target(x);
    write(x, x->warp->block->launch->early ? MOVES_NONE : MOVES_ALL);
    cargo_free(&x->cargo);
}

void departures_end(warp *w, uint32_t lanes, uint32_t but)
{
    tensor *t = w->block->tensor;
    uint32_t left = 0;
    for (uint32_t i = 0; i < t->departure_count; i++) {
        departure x = t->departures[i];
        bool own = x.warp == w && lanes >> x.lane & 1;
        if (own && (uint64_t)x.group + but < t->bulk_groups[w->index][x.lane])
            arrive(&x);
        else
            t->departures[left++] = x;
    }
    t->departure_count = left;
}

void departures_end_all(block *b)
{
    tensor *t = b->tensor;
    for (uint32_t i = 0; t && i < t->departure_count; i++) arrive(&t->departures[i]);
    if (t) t->departure_count = 0;
}

/* Nobody has waited until they had read. */
void departures_end_late(block *b)
{
    const tensor *t = b->tensor;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        const warp_readings *r = &t->readings[k];
        for (uint32_t i = 0; i < r->count; i++)
            if (r->list[i].bulk)
                report_at(b, b->launch->function, r->list[i].op->line, FINDING_RACE,
                          k * LANES + r->list[i].lane, 0,
                          "this bulk copy may still read shared memory of the block when the block "
                          "ends and its memory is another block's: write "
                          "cp.async.bulk.commit_group, and cp.async.bulk.wait_group.read 0 before "
                          "the end");
    }
}

void departures_forget(tensor *t)
{
    for (uint32_t i = 0; i < t->departure_count; i++) cargo_free(&t->departures[i].cargo);
    t->departure_count = 0;
}
