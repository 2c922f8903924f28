/*
 * counts.h: what is counted of a call on softgpu, for traffic tests. case.h includes it.
 */
#ifndef GRADER_COUNTS_H
#define GRADER_COUNTS_H

#include "course/exercise.h"

/** In sectors of global and local memory, each counted as its 32 bytes, whichever way they are
 * read, and in copies and fills. */
double moved_bytes(const device_counts *);
/** That the threads stored to global memory, whatever sectors those lie in, and copies and fills.
 */
double stored_bytes(const device_counts *);
/** Sectors of global memory a request, where a request of more than 4 bytes a thread counts as
 *  several: 4 when neighbours take neighbours, 32 when each lane takes a sector of its own. */
double sectors_per_request(const device_counts *);
/** Wavefronts of shared memory beyond those that are needed. */
double bank_conflicts(const device_counts *);
/** Atomic operations on global memory, of single threads, on 4 bytes. */
double atomics(const device_counts *);
/** Atomic operations on global memory, of single threads, by the busiest block of each launch. */
double atomics_per_block(const device_counts *);
/** The length of what a warp executes: the longest of each launch, launch after launch. */
double instructions_per_warp(const device_counts *);
/** What all warps execute. */
double warp_instructions(const device_counts *);
double kernel_launches(const device_counts *);
/** What the host launched: a graph counts once, however many kernels it launches. */
double host_launches(const device_counts *);
/** Blocks of all launches, of those that the device holds at once: 1 when every block starts at
 *  once and no more would have. */
double waves(const device_counts *);
/** Copies between host and device. */
double host_copies(const device_counts *);
/** To other devices or from them, whichever is more, of the device of which it is most. */
double link_bytes(const device_counts *);
/** Of device memory, that the host allocated. */
double allocated_bytes(const device_counts *);
double peak_bytes(const device_counts *); /**< ... and that was held at once, at most; what modules
                                             bring along, too */
/** Of global memory in distinct sectors that each launch touches, whoever allocated it; and all that
 *  goes to local memory and back, which could hold the same. */
double footprint_bytes(const device_counts *);
double tensor_instructions(const device_counts *); /**< of warps: mma, wmma, wgmma */
/** Warp instructions that reach global memory, and shared memory; atomics too. */
double global_requests(const device_counts *);
double shared_requests(const device_counts *);
double shared_loads(const device_counts *); /**< such requests that read: ldmatrix, atomics too */
/** Of the bytes that kernels load from global memory, by atomics too, the share that bulk copies
 *  bring, as the TMA does. */
double loads_in_bulk(const device_counts *);
/** Floating-point, of all threads; a fused multiply-add counts two. */
double operations(const device_counts *);
double busiest_operations(const device_counts *); /**< ... of the device that makes most */

#endif
