/*
 * grid.c: cooperative launches: all blocks of a grid in flight at once, so that they can wait for
 * each other.
 *
 * Interface
 *   grid_open, grid_close, grid_run     for launch.c
 *   grid_reach                          for reach.c
 *
 * A cooperative kernel learns from two special registers where its grid meets; this_grid().sync()
 * counts the blocks there with atomics, and one thread of each block spins until all have come. The
 * device keeps those words in a window of addresses of its own, and so sees every arrival. A block
 * that finds others missing gives up its turn.
 */
#include <sched.h>
#include <stdio.h>

#include "device/base/internal.h"

/* Who has a block: nobody, some host thread, or it has ended. */
typedef enum seat {
    SEAT_NEW,
    SEAT_FREE,
    SEAT_TAKEN,
    SEAT_ENDED,
} seat;

void grid_open(grid *g)
{
    *g = (grid){.phase = 0};
    pthread_mutex_init(&g->lock, NULL);
}

void grid_close(grid *g)
{
    pthread_mutex_destroy(&g->lock);
}

/* ---- meeting --------------------------------------------------------------------------------- */

/* Every block has arrived and none has gone on: what was before is ordered before what follows. */
static void complete(launch *l)
{
    grid *g = l->grid;
    global_shadow_grid_sync(l);
    g->phase++;
    g->arrived = 0;
    g->absent = g->ended;
}

static void arrive(block *b)
{
    grid *g = b->launch->grid;
    pthread_mutex_lock(&g->lock);
    b->grid_phase = g->phase + 1;
    if (++g->arrived == b->launch->blocks) complete(b->launch);
    pthread_mutex_unlock(&g->lock);
}

static void leave(block *b)
{
    grid *g = b->launch->grid;
    pthread_mutex_lock(&g->lock);
    if (b->grid_phase <= g->phase) g->absent++;
    g->ended++;
    pthread_mutex_unlock(&g->lock);
}

/* Blocks that have ended will not come: those that wait for them wait for ever. */
static void wait(warp *w, const op *o, uint32_t lane)
{
    launch *l = w->block->launch;
    grid *g = l->grid;
    pthread_mutex_lock(&g->lock);
    uint64_t absent = g->absent;
    bool open = g->arrived > 0, never = absent && g->arrived + absent >= l->blocks;
    pthread_mutex_unlock(&g->lock);
    if (!open) return;
    w->block->waits = true;
    w->slice = 0;
    if (!never || l->stop) return;
    report(w, o, FINDING_DEADLOCK, lane, 0,
           "waits for ever for the whole grid: %llu of %llu blocks ended without getting here",
           (unsigned long long)absent, (unsigned long long)l->blocks);
    launch_stop(l, DEVICE_DEADLOCK);
}

uint8_t *grid_reach(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                    access_kind how)
{
    grid *g = w->block->launch->grid;
    uint64_t offset = address - GRID_WINDOW;
    if (!g || offset > sizeof g->words - bytes) return NULL;
    if (how == ACCESS_ATOMIC) arrive(w->block);
    if (how == ACCESS_LOAD) wait(w, o, lane);
    return (uint8_t *)g->words + offset;
}

/* ---- taking turns ---------------------------------------------------------------------------- */

static void begin(block *b, launch *l, uint64_t number)
{
    block_prepare(b, l);
    if (l->counted) tally_prepare(b);
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
    if (!more) leave(b);
    if (!more && l->counted) tally_fold(b);
    b->seat = more ? SEAT_FREE : SEAT_ENDED;
    return !b->waits;
}

void grid_run(block *const *blocks, launch *l)
{
    while (l->grid->ended < l->blocks && !l->stop) {
        bool moved = false;
        for (uint64_t i = 0; i < l->blocks && !l->stop; i++) moved |= take_turn(blocks[i], l, i);
        if (!moved) sched_yield();
    }
}
