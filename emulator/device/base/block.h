/*
 * block.h: a block of threads in flight, and the launch that it belongs to.
 *
 * Interface
 *   launch_stop, launch_fail     a defect ends the launch, or makes it fail
 */
#ifndef SOFTGPU_DEVICE_BLOCK_H
#define SOFTGPU_DEVICE_BLOCK_H

#include <pthread.h>
#include <stdatomic.h>

#include "module.h"
#include "warp.h"

/** Shadow of shared memory: one cell a word, or one a byte. See shadow.c. */
typedef struct cells {
    uint32_t *written, *read;           /**< stamps */
    uint32_t *written_line, *read_line; /**< places */
} cells;

enum { GROUP_WARPS = 4, WARP_GROUPS = MAX_WARPS / GROUP_WARPS };

/** Of each warp group, how many groups of its wgmma are known to be over: see checks/known.c. */
typedef struct known {
    uint32_t groups[WARP_GROUPS];
} known;

/** What there is to know of an mbarrier, beside its 8 bytes in shared memory. */
typedef struct mbarrier {
    uint32_t offset;               /**< of the 8 bytes */
    bool live;                     /**< from mbarrier.init to mbarrier.inval */
    uint32_t init_warp, init_tick; /**< of its block, never starting anew */
    uint32_t init_line, expect_line, copy_line, arrive_line;
    uint32_t arrive_thread;
    uint64_t expected, arrived;    /**< bytes of the open phase, */
    uint64_t coming;               /**< and those of copies that are still under way */
    uint32_t unseen, unseen_epoch; /**< phases that ended and no thread has asked since, nor has
                                        its block come to a barrier: the tick of the last */
    uint32_t waiter;               /**< the last warp that asked in vain, at: */
    const op *wait_op;             /**< NULL: none */
    uint8_t wait_lane;
    known told, over; /**< by who arrived at any phase, and at those that have ended */
} mbarrier;

/** Was a cell of shared memory left by a wgmma that has ended, and does a warp know that? */
typedef enum product_state { NO_PRODUCT, PRODUCT_OPEN, PRODUCT_OVER } product_state;

/** One block in flight: all that a host thread needs. Lives as long as its host thread; those of
 *  cooperative launches, as long as the pool. */
struct block {
    device *device;
    launch *launch;
    uint32_t index[3];
    uint32_t threads, warp_count;
    uint32_t live;                  /**< threads that have not exited */
    uint32_t returned;              /**< threads that had exited at the last barrier */
    uint32_t barrier_line;          /**< of the last barrier that all passed; 0: none yet */
    uint32_t arrived[MAX_BARRIERS]; /**< by bar.arrive, for the phase that is open */
    cluster *cluster;               /**< that it runs in; NULL: none */
    uint32_t rank;                  /**< its number there */
    mbarrier *mbarriers;
    uint32_t mbarrier_count, mbarrier_capacity;
    void (*arrive_bytes)(block *, uint32_t offset); /**< bulk copies of an mbarrier that is waited
                                                       for; NULL: there are none */
    /** Its bulk copy to there that is under way; NULL: there are none. */
    const op *(*departing)(const block *, uint64_t address, uint32_t bytes);
    uint32_t polls; /**< how often somebody asked in vain, since an mbarrier last changed */
    warp warps[MAX_WARPS];
    uint32_t order[MAX_WARPS]; /**< in which they take turns */
    block *spare;              /**< for those that this one waits for; NULL: none yet */
    block *beside;             /**< of a spare: the one that waits, if it is not over */
    uint8_t *rows, *warp_rows; /**< BANK_BLOCK; BANK_WARP of every warp */
    uint8_t *shared;
    uint32_t shared_bytes, shared_capacity; /**< static, red zones, dynamic */
    const module *shadow_of; /**< whose layout the shadow shows, with how much dynamic memory */
    uint32_t shadow_dynamic;
    uint64_t shadow_version;
    uint32_t fenced;            /**< tick of the last fence of any warp */
    uint32_t oldest, span;      /**< shadow.h: write cells in [oldest, oldest + span) are settled */
    uint32_t crowded;           /**< read cells from here on need no further note */
    uint32_t recent, read_mask; /**< cells from `recent` on are of this epoch */
    cells words, bytes;
    tensor *tensor; /**< NULL: it has not used wgmma or bulk copies; then */
    known *known;   /**< by warp; */
    product_state (*product_at)(const warp *, uint32_t offset, uint32_t cell);
    uint32_t *quiet;                    /**< by page: the epoch in which all of it is idle */
    uint32_t tick;                      /**< grows at every synchronisation */
    uint32_t first_tick, epoch_tick;    /**< at the start of the block; at its last barrier */
    uint32_t rewound;                   /**< ticks passed before ticks last started anew */
    uint32_t met;                       /**< at its last barrier of any kind, also of a part of its
                                             threads; never starting anew */
    tracker *tracker;                   /**< races in global memory; NULL: never watched */
    uint8_t *frames;                    /**< registers of all warps */
    size_t frame_bytes, frame_capacity; /**< a warp's share */
    uint8_t *locals;
    size_t local_stride, local_capacity; /**< a thread's share of local memory */
    uint8_t *written;                    /**< warp.written of all */
    size_t written_capacity;
    uint32_t steps;      /**< operations of this launch that run/follow.c saw */
    atomic_int seat;     /**< cooperative: a `seat` of run/grid.c */
    uint32_t grid_phase; /**< cooperative: how often it has arrived where all blocks meet */
    visits *visits;      /**< by other blocks of its cluster; NULL: there never were any */
    bool copied;         /**< asynchronously, since it began */
    bool brought;        /**< a copy has, what nothing had written, since it began */
    uint32_t turns;      /**< run/still.c: of this block; */
    uint64_t print;      /**< what it looked like, */
    uint64_t anchor;     /**< and so many looks earlier, up to the renewal; */
    uint32_t looks;
    uint32_t renewal;
    uint64_t seen;      /**< launch->changes then; */
    bool still, agreed; /**< it only waits; and has told so for `seen` */
    bool rests;         /**< and since then it has done nothing but read */
    bool spent;         /**< a warp has used up its turn */
    bool waits;         /**< cooperative: has found others missing in this turn */
    bool over;          /**< run/together.c: it has ended */
    bool listens;       /**< it has read a flag that others set */
    uint32_t pushed;    /**< line of a store to another device, with no fence since; 0: none */
    trace *trace;       /**< NULL: it is not the one that is traced */
    counters *counters; /**< by instruction of the module, while launches are counted */
    size_t counter_capacity;
    uint64_t atomics;               /**< of this block, on global memory; likewise */
    uint64_t longest, most_atomics; /**< of any warp, of any block that ran here */
};

/** Where the blocks of a cooperative grid meet: see memory/meeting.c. */
typedef struct grid {
    _Alignas(64) uint32_t words[64]; /**< what kernels see at GRID_WINDOW */
    pthread_mutex_t lock;            /**< guards what follows */
    uint32_t phase;                  /**< meetings completed */
    uint32_t arrived;                /**< blocks at the meeting that is open */
    uint32_t absent;                 /**< blocks that have ended and will not come to it */
    atomic_uint ended;
} grid;

/** One launch, seen by all host threads. */
struct launch {
    device *device;
    const device_launch_request *request;
    const function *function;
    const uint8_t *params; /* padded by 64 bytes */
    uint64_t blocks;
    atomic_uint_fast64_t next;
    uint32_t
        *order; /**< run/shuffle.c: in which the blocks begin; NULL: in that of their numbers */
    atomic_bool *begun;           /**< by number, if there is an order; */
    atomic_uint_fast64_t lowest;  /**< all below have */
    atomic_uint_fast64_t changes; /**< run/still.c: what may have woken a block that waits, and
                                       how many host threads may still run blocks of it; */
    atomic_uint_fast64_t agreed;  /**< who has seen none since */
    atomic_int status;            /**< the first failure */
    atomic_bool stop;             /**< blocks end as soon as they notice */
    bool check_races, check_uninitialised, check_lanes, check_barriers, check_returns;
    bool early;          /**< asynchronous copies move their bytes when they are issued, as
                            device_shuffle says; findings call them under way as ever */
    bool goes_on;        /**< it is of the same run of a graph as the launch before */
    bool watched;        /**< some accesses to global memory are */
    atomic_bool departs; /**< it has bulk copies to global memory */
    int64_t budget;
    uint32_t first_finding; /**< of this launch, in device->findings */
    uint32_t cluster[3];    /**< its size in blocks; 0: blocks are in none */
    uint64_t clusters;
    grid *grid;       /**< cooperative launches; NULL: blocks know nothing of each other */
    counted *counted; /**< where its cost goes; NULL: nobody counts */
    uint64_t longest, block_atomics; /**< so far; see counts.h */
    trace *trace;                    /**< NULL: no block of it is traced */
    /* run/together.c */
    block **resident; /**< its blocks */
    uint64_t ended;   /**< how many of them have */
    bool may_wait;    /**< for launches of other devices */
    bool met;         /**< such a one was in flight at the same time */
    bool passes;      /**< it gives turns to others, or has one of theirs */
    bool in_turn;     /**< it is a work in the order of order.h */
};

enum { LAUNCH_CHANGE = 1 << 16 }; /* one more in launch->changes; below it the host threads */

/** @return how many host threads may still run blocks of it */
static inline uint32_t launch_threads(const launch *l)
{
    return (uint32_t)(l->changes % LAUNCH_CHANGE);
}

/** Ends the launch with a failure, unless it has one. */
void launch_stop(launch *, device_status);
/** Notes a failure that does not end the launch. */
void launch_fail(launch *, device_status);

#endif
