/*
 * meeting.c: where the blocks of a cooperative grid meet.
 *
 * Interface
 *   meeting_open, meeting_close     a launch begins and ends
 *   meeting_reach                   for reach.c
 *   meeting_leave                   for grid.c
 *
 * A cooperative kernel learns from two special registers where its grid meets; this_grid().sync()
 * counts the blocks there with atomics, and one thread of each block spins until all have come. The
 * device keeps those words in a window of addresses of its own, and so sees every arrival.
 */
#include "memory.h"

void meeting_open(grid *g)
{
    *g = (grid){.phase = 0};
    pthread_mutex_init(&g->lock, NULL);
}

void meeting_close(grid *g)
{
    pthread_mutex_destroy(&g->lock);
}

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

void meeting_leave(block *b)
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

uint8_t *meeting_reach(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                       access_kind how)
{
    grid *g = w->block->launch->grid;
    uint64_t offset = address - GRID_WINDOW;
    if (!g || offset > sizeof g->words - bytes) return NULL;
    if (how == ACCESS_ATOMIC) arrive(w->block);
    if (how == ACCESS_LOAD) wait(w, o, lane);
    return (uint8_t *)g->words + offset;
}
