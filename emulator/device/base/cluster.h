/*
 * cluster.h: blocks that run together and reach each other's shared memory.
 *
 * Interface
 *   peer_of, shared_offset, cluster_address, rank_at      what an address of shared::cluster means
 *   tick_now, cluster_passed, cluster_orders              what comes before what
 *
 * An address of shared::cluster has the offset in its low bits. Above them is 0 for the executing
 * block's own memory, as cvta makes it, or 1 + the rank of a block, as mapa does. So an address of
 * shared::cta is one of shared::cluster too; a generic address is SHARED_WINDOW and either.
 *
 * All blocks of a cluster are on one host thread and take turns there.
 */
#ifndef SOFTGPU_DEVICE_CLUSTER_H
#define SOFTGPU_DEVICE_CLUSTER_H

#include "block.h"

enum {
    MAX_CLUSTER = 16, /* blocks */
    RANK_SHIFT = 24,  /* of an address */
    PHASES = 4,       /* of the barrier, at which threads of a cluster can be at once, and more */
};

/** A warp at the barrier of its cluster. */
typedef struct cluster_warp {
    uint32_t arrived[LANES], waited[LANES]; /**< how often */
    uint32_t released[PHASES]; /**< by phase: what its block did before that tick is before what
                                    others do after the phase; ticks never start anew */
} cluster_warp;

/** Lives as long as its host thread. */
struct cluster {
    launch *launch;
    uint32_t size[3], count;      /**< blocks */
    block *block[MAX_CLUSTER];    /**< by rank; those beyond `count` are kept for later */
    uint32_t phase;               /**< barriers completed */
    bool arrivals;                /**< at the one that is open, */
    bool relaxed;                 /**< and one of them releases nothing */
    uint32_t joined[MAX_CLUSTER]; /**< barriers that all threads of a block know to be over */
    uint32_t offered[MAX_CLUSTER][MAX_CLUSTER]; /**< to a block, by another's arrivals at its
                                                     mbarriers: a tick of the other one; */
    uint32_t known[MAX_CLUSTER][MAX_CLUSTER];   /**< and taken, by who waited there */
    cluster_warp warp[MAX_CLUSTER][MAX_WARPS];
};

/** The block whose memory an address of shared::cluster means, or NULL: there is none. */
static inline block *peer_of(block *b, uint64_t address)
{
    uint64_t high = address >> RANK_SHIFT;
    if (!high) return b;
    if (!b->cluster || high > b->cluster->count) return NULL;
    return b->cluster->block[high - 1];
}

/** Where in that block's shared memory. */
static inline uint32_t shared_offset(uint64_t address)
{
    return (uint32_t)address & ((1u << RANK_SHIFT) - 1);
}

/** What mapa answers. */
static inline uint64_t cluster_address(uint64_t address, uint32_t rank)
{
    return shared_offset(address) | (uint64_t)(rank + 1) << RANK_SHIFT;
}

/** What getctarank answers. */
static inline uint32_t rank_at(const block *b, uint64_t address)
{
    uint32_t high = (uint32_t)address >> RANK_SHIFT;
    return high ? high - 1 : b->rank;
}

/** The tick of a block, never starting anew. */
static inline uint32_t tick_now(const block *b)
{
    return b->rewound + b->tick;
}

/** Barriers of the cluster that this lane knows to be over. */
static inline uint32_t cluster_passed(const warp *w, uint32_t lane)
{
    const cluster *c = w->block->cluster;
    uint32_t rank = w->block->rank, passed = c->warp[rank][w->index].waited[lane];
    return passed < c->joined[rank] ? c->joined[rank] : passed;
}

/** Does what a warp of block `by` did at that tick come before what this lane does now? */
static inline bool cluster_orders(const warp *w, uint32_t lane, const block *by, uint32_t warp,
                                  uint32_t tick)
{
    const block *b = w->block;
    const cluster *c = b->cluster;
    uint32_t passed = cluster_passed(w, lane);
    if (passed && tick < c->warp[by->rank][warp].released[(passed - 1) % PHASES]) return true;
    return tick < c->known[b->rank][by->rank] || tick < by->warps[warp].published;
}

#endif
