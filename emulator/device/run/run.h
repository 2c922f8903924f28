/*
 * run.h: a launch from the host's call to the last warp.
 *
 *   PTX text -> ptx/parse.c (syntax) -> decode/decode.c (operations) -> decode/flow.c (where
 * diverged lanes meet) -> decode/slots.c (registers to rows) -> launch.c (blocks over host threads)
 * -> block.c (warps, barriers) -> warp.c (lanes that run together) -> one handler per operation
 *
 * A launch that is counted (counts/count.h) runs other code, the function's twin: the same
 * operations with a counting one before each, which looks at the rows and changes nothing. So
 * handlers need not know of counting; only what rewrites or fuses operations while they are decoded
 * must leave alone a function with decoder.counted.
 */
#ifndef SOFTGPU_DEVICE_RUN_H
#define SOFTGPU_DEVICE_RUN_H

#include "device/memory/memory.h"

/* ---- module.c -------------------------------------------------------------------------------- */

/** Make the twins of all its functions, unless they exist. */
bool module_make_twins(module *);
void module_free(module *);

/* ---- graph.c --------------------------------------------------------------------------------- */

void graphs_close(device *);

/* ---- launch.c -------------------------------------------------------------------------------- */

/** @param goes_on it is of the same run of a graph as the launch before */
device_status launch_now(device *, const device_launch_request *, bool goes_on);
pool *pool_open(device *, uint32_t threads);
void pool_close(pool *);
void pool_run(pool *, launch *);

/* ---- block.c --------------------------------------------------------------------------------- */

block *block_open(device *);
void block_close(block *);
/** Make room and set up whatever stays the same in all blocks of a launch. */
void block_prepare(block *, launch *);
void block_run(block *, uint64_t number);
/** The same in pieces: begin; then give every warp a turn, until that returns false. */
void block_start(block *, uint64_t number);
bool block_turn(block *);

/* ---- warp.c ---------------------------------------------------------------------------------- */

void warp_start(warp *, const function *, uint32_t mask);
/** Run until every path waits or has ended, or the warp had its turn. @return it can go on. */
bool warp_run(warp *);

/* ---- follow.c -------------------------------------------------------------------------------- */

/** Run one operation while some rows are undefined, and see what becomes of them. */
const op *follow_step(warp *, const op *);

/* ---- grid.c: blocks that wait for each other ------------------------------------------------- */

/** Take turns at all blocks of a cooperative launch until they have ended. Any number of threads.
 */
void grid_run(block *const *blocks, launch *);

#endif
