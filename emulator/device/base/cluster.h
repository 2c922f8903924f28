/*
 * cluster.h: blocks that run together and reach each other's shared memory.
 *
 * Interface
 *   peer_of, shared_offset, cluster_address      what an address of shared::cluster means
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
    PORTABLE_CLUSTER = 8, /* blocks that any device has room for */
    MAX_CLUSTER = 16,
    RANK_SHIFT = 24, /* of an address */
    CLUSTER_WARPS = MAX_CLUSTER * MAX_WARPS,
};

/** What somebody knows to be over: of each warp of the cluster, all before that tick of its block.
 *  By rank * MAX_WARPS + warp. */
typedef struct vector_clock {
    uint32_t tick[CLUSTER_WARPS];
} vector_clock;

/** Lives as long as its host thread. */
struct cluster {
    launch *launch;
    uint32_t size[3], count; /**< blocks */
    uint64_t number;
    uint32_t index[3];         /**< of the cluster, in the grid of clusters */
    block *block[MAX_CLUSTER]; /**< by rank; those beyond `count` are kept for later */
    uint32_t phase;            /**< cluster barriers completed */
    uint32_t polls;            /**< in vain, since an mbarrier of the cluster last changed */
    uint32_t relaxed;          /**< arrivals of the phase that is open that release nothing */
    vector_clock released;     /**< by those of the open phase that do */
    vector_clock known[CLUSTER_WARPS]; /**< by each warp */
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

#endif
