/*
 * run.h: a launch from the host's call to the last warp.
 *
 *   device.c     the device is opened; ptx/ and decode/ make a module of PTX
 *   module.c     its variables get memory
 *   launch.c     blocks go to host threads
 *   shuffle.c    in which order they begin
 *   block.c      the warps of a block take turns, and meet at barriers
 *   warp.c       the lane groups of a warp take turns, one handler per operation, 32 lanes a call
 *
 * A launch that is counted (counts/count.h) runs other code, the function's instrumented copy: the
 * same operations with a counting one before each, which looks at the rows and changes nothing. So
 * handlers need not know of counting; only what rewrites or fuses operations while they are decoded
 * must leave alone a function with decoder.counted.
 */
#ifndef SOFTGPU_DEVICE_RUN_H
#define SOFTGPU_DEVICE_RUN_H

#include "device/memory/memory.h"

/* ---- module.c -------------------------------------------------------------------------------- */

/** Make instrumented copies of all its functions, unless they exist. */
bool module_instrument(module *);
void module_free(module *);

/* ---- graph.c --------------------------------------------------------------------------------- */

void graphs_close(device *);

/* ---- launch.c -------------------------------------------------------------------------------- */

/** What comes before its first block, and after its last one. */
void launch_begin(launch *);
device_status launch_over(launch *);

/** @param goes_on it is of the same run of a graph as the launch before */
device_status launch_now(device *, const device_launch_request *, bool goes_on);
pool *pool_open(device *, uint32_t threads);
void pool_close(pool *);
void pool_run(pool *, launch *);
/** A block of their own for that many. */
block **pool_seat(pool *, uint64_t blocks);

/* ---- block.c --------------------------------------------------------------------------------- */

block *block_open(device *);
void block_close(block *);
/** Make room and set up whatever stays the same in all blocks of a launch. */
void block_prepare(block *, launch *);
void block_run(block *, uint64_t number);
/** The same in pieces: begin; then give every warp a turn, until that returns false. */
void block_start(block *, uint64_t number);
bool block_turn(block *);

/* ---- shuffle.c: in which order blocks and warps begin ---------------------------------------- */

/** Of the blocks, if the device has a seed; otherwise in that of their numbers. */
void shuffle_begin(launch *);
void shuffle_end(launch *);
/** @return the number of the block that begins now, and from then on has; or a number that is none
 */
uint64_t shuffle_next(launch *);
/** A block with a lower number begins now, if one has not. */
bool shuffle_lower(launch *, uint64_t below, uint64_t *number);
void shuffle_warps(block *, uint64_t number);

/* ---- still.c: endless loops that wait for what nobody can change ----------------------------- */

void still_start(block *);
void still_turn(block *);
/** An operation is next of a block that `rests`. */
void still_note(warp *, const op *);
void still_end(block *);
/** Does the loop that begins here read memory that the host shares? */
bool still_waits_for_host(const lane_group *);
/** The block has had a turn of a launch that may wait for another device's. @return it has only
 *  read, and is where it was */
bool still_again(block *);
/** Nobody is left who could change what its blocks wait for: the launch ends. */
void still_report(launch *);
/** A host thread has no more blocks of the launch. */
void still_leave(launch *);

/* ---- warp.c ---------------------------------------------------------------------------------- */

/** Compare-and-swaps in vain before lanes that wait for those go on without them. */
enum { PATIENCE = 4 };

void warp_start(warp *, const function *, uint32_t mask);
/** Run until every group waits or has ended, or the warp had its turn, a long one if it is the
 * first of its block that runs. @return it can go on. */
bool warp_run(warp *, bool is_first);

/* ---- follow.c -------------------------------------------------------------------------------- */

/** Run one operation while some rows are undefined, and see what becomes of them. */
const op *follow_step(warp *, const op *);

/* ---- together.c: launches of several devices that wait for each other ------------------------ */

/** Does it read flags, on a device that has peers? */
bool together_may_wait(const launch *);
/** @return DEVICE_UNFINISHED: it waits, and stays in flight */
device_status together_launch(launch *);
/** A warp of such a launch has had its turn. */
void together_between(launch *);

/* ---- cluster.c: blocks that reach each other's shared memory --------------------------------- */

/** Run clusters of the launch until none is left. `kept`: this host thread's. */
void cluster_run(cluster **kept, launch *);
void cluster_close(cluster *);

/* ---- grid.c: blocks that wait for each other ------------------------------------------------- */

/** Take turns at all blocks of a cooperative launch until they have ended. Any number of threads.
 */
void grid_run(block *const *blocks, launch *);

#endif
