/*
 * grid.c: cooperative launches: all blocks of a grid in flight at once, so that they can wait for
 * each other (memory/meeting.c). A block that finds others missing gives up its turn.
 *
 * Interface
 *   grid_run     for launch.c
 */
#include <sched.h>

#include "device/counts/count.h"
#include "run.h"

/* Who has a block: nobody, some host thread, or it has ended. */
typedef enum seat {
    SEAT_NEW,
    SEAT_FREE,
    SEAT_TAKEN,
    SEAT_ENDED,
} seat;

/* ---- taking turns ---------------------------------------------------------------------------- */

static void begin(block *b, launch *l, uint64_t number)
{
    block_prepare(b, l);
    if (l->counted) counters_prepare(b);
    block_start(b, number);
    b->grid_phase = 0;
}

/* @return false: nobody need hurry to give this block its next turn */
static bool take_turn(block *b, launch *l, uint64_t number)
{
    int was = b->seat;
    if (was == SEAT_TAKEN || was == SEAT_ENDED) return false;
    if (!atomic_compare_exchange_strong(&b->seat, &was, SEAT_TAKEN)) return false;
    if (was == SEAT_NEW) begin(b, l, number);
    b->waits = false;
    bool more = true;
    for (b->spent = false; more && !b->spent && !l->stop;) more = block_turn(b);
    if (!more) meeting_leave(b);
    if (!more && l->counted) counters_fold(b);
    b->seat = more ? SEAT_FREE : SEAT_ENDED;
    return !b->waits;
}

void grid_run(block *const *blocks, launch *l)
{
    while (l->grid->ended < l->blocks && !l->stop) {
        bool moved = false;
        for (uint64_t i = 0; i < l->blocks && !l->stop; i++)
            moved |= take_turn(blocks[i], l, l->order ? l->order[i] : i);
        if (!moved) sched_yield();
    }
}
