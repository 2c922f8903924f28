/*
 * cluster.c: clusters: their blocks take turns on one host thread.
 *
 * Interface
 *   cluster_run, cluster_close     for launch.c
 */
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/cluster.h"
#include "device/cluster/barrier.h"
#include "device/counts/count.h"
#include "device/tensor/tensor.h"
#include "run.h"

/* ---- memory ---------------------------------------------------------------------------------- */

static cluster *open_cluster(cluster **kept, launch *l, device *d)
{
    if (!*kept) *kept = take(1, sizeof **kept);
    cluster *c = *kept;
    c->launch = l;
    memcpy(c->size, l->cluster, sizeof c->size);
    c->count = c->size[0] * c->size[1] * c->size[2];
    for (uint32_t r = 0; r < c->count; r++) {
        if (!c->block[r]) c->block[r] = block_open(d);
        c->block[r]->cluster = c;
        c->block[r]->rank = r;
        block_prepare(c->block[r], l);
        if (l->counted) counters_prepare(c->block[r]);
    }
    return c;
}

void cluster_close(cluster *c)
{
    for (uint32_t r = 0; c && r < MAX_CLUSTER; r++) block_close(c->block[r]);
    free(c);
}

/* ---- one cluster ----------------------------------------------------------------------------- */

/* The number in the grid of a block of the cluster of that number. */
static uint64_t number_of(const cluster *c, uint64_t number, uint32_t rank)
{
    const uint32_t *grid = c->launch->request->grid;
    uint64_t block = 0, row = 1;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t clusters = grid[i] / c->size[i];
        block += row * (number % clusters * c->size[i] + rank % c->size[i]);
        number /= clusters;
        rank /= c->size[i];
        row *= grid[i];
    }
    return block;
}

static void begin(cluster *c, uint64_t number)
{
    c->phase = 0;
    c->arrivals = c->relaxed = false;
    memset(c->joined, 0, sizeof c->joined);
    memset(c->offered, 0, sizeof c->offered);
    memset(c->known, 0, sizeof c->known);
    for (uint32_t r = 0; r < c->count; r++) {
        memset(c->warp[r], 0, c->block[r]->warp_count * sizeof c->warp[r][0]);
        block_start(c->block[r], number_of(c, number, r));
    }
}

static bool take_turns(cluster *c)
{
    bool more = false;
    uint32_t first = (uint32_t)(c->launch->device->seed % c->count);
    for (uint32_t r = 0; r < c->count && !c->launch->stop; r++) {
        block *b = c->block[(first + r) % c->count];
        b->spent = false;
        if (!b->live) continue;
        more |= block_turn(b);
        if (!b->live) visits_end(b);
    }
    return more;
}

static bool is_live(const cluster *c)
{
    bool live = false;
    for (uint32_t r = 0; r < c->count; r++) live |= c->block[r]->live > 0;
    return live;
}

static void run_one(cluster *c, uint64_t number)
{
    begin(c, number);
    still_start(c->block[0]);
    while (is_live(c) && !c->launch->stop) {
        bool more = take_turns(c);
        if (c->launch->stop) return;
        if (!cluster_release(c) && !more && is_live(c)) cluster_deadlock(c);
        still_turn(c->block[0]);
    }
    still_end(c->block[0]);
    for (uint32_t r = 0; r < c->count && !c->launch->stop; r++) tensor_end(c->block[r]);
}

void cluster_run(cluster **kept, launch *l)
{
    uint64_t number = atomic_fetch_add(&l->next, 1);
    if (number >= l->clusters) return;
    cluster *c = open_cluster(kept, l, l->device);
    for (; number < l->clusters && !l->stop; number = atomic_fetch_add(&l->next, 1))
        run_one(c, number);
    for (uint32_t r = 0; l->counted && r < c->count; r++) counters_fold(c->block[r]);
}
