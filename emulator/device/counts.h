/*
 * counts.h: what kernels cost, in the terms of Nsight Compute, as plain data.
 *
 * A request is one warp instruction that reaches memory with at least one active lane. A sector is
 * 32 aligned bytes of global memory: of one request, each sector counts once however many lanes
 * want it. A wavefront is one pass over the 32 banks of shared memory: a request without conflicts
 * takes one (of 8-byte elements two, of 16-byte elements four), and each conflict one more.
 *
 * What is less obvious, as an H200 counts it: an atomic visits a sector once for each lane that
 * wants the most wanted of its elements; lanes that update one word of shared memory take turns;
 * local memory is asked for word by word, so that an 8-byte element is two requests; wide loads of
 * shared memory need half the wavefronts when every lane wants what its neighbour wants, or the
 * next but one; cp.async counts as a load of global memory, and not as a store to shared memory;
 * bulk copies count apart, a tile's sectors row by row;
 * wmma.load and wmma.store are several requests each, those that ptxas makes of them.
 *
 * A request to constant memory is one read for each distinct address among its lanes, as the CUDA
 * C++ Programming Guide says (Device Memory Accesses, Constant Memory). No GPU was measured for it.
 *
 * All numbers but the last four are sums over launches, of sums or maxima over blocks, so they do
 * not depend on the order in which blocks run: the same program gives the same counts every time.
 */
#ifndef SOFTGPU_COUNTS_H
#define SOFTGPU_COUNTS_H

#include <stdint.h>

typedef enum device_class {
    CLASS_INTEGER,
    CLASS_FLOAT,   /* fp32, fp16, bf16 */
    CLASS_DOUBLE,  /* fp64 */
    CLASS_TENSOR,  /* mma, wmma */
    CLASS_CONVERT, /* between types */
    CLASS_MOVE,    /* mov, select, predicate logic */
    CLASS_MEMORY,  /* loads, stores, atomics, asynchronous copies */
    CLASS_CONTROL, /* branches, calls, exits */
    CLASS_WARP,    /* shuffles, votes, barriers, fences */
    CLASSES,
} device_class;

typedef struct device_traffic {
    uint64_t requests;
    uint64_t sectors; /**< of 32 bytes; for local memory too */
    uint64_t bytes;   /**< that the active lanes asked for */
} device_traffic;

typedef struct device_banks {
    uint64_t requests;
    uint64_t wavefronts;
    uint64_t conflicts; /**< wavefronts beyond those that the width of the access needs */
} device_banks;

/** Those of read_only that read __constant__ memory. */
typedef struct device_constants {
    uint64_t requests;
    uint64_t sectors;
    uint64_t reads; /**< distinct addresses, request by request: one is read after the other */
} device_constants;

typedef struct device_transfers {
    uint64_t count, bytes;
} device_transfers;

/** The cost of launches, of one kernel or one source line of it, or of a program. Fields that make
 *  no sense there are 0. */
typedef struct device_counts {
    uint64_t launches, blocks, warps, threads;
    uint64_t host_launches; /**< launches less those of a run of a graph after its first */
    uint64_t resident;     /**< blocks that the device holds at once, of each launch; blocks divided
                              by it is what a profiler calls waves */
    uint64_t instructions; /**< warp instructions executed */
    uint64_t longest;      /**< of them, by the warp of each launch that executed most: the longest
                              way, which no other warp shortens */
    uint64_t by_class[CLASSES];
    uint64_t lanes;      /**< active lanes, summed over instructions: at most 32 times as many */
    uint64_t operations; /**< floating-point, of all lanes; a fused multiply-add counts two */
    uint64_t multiplications; /**< of all lanes, of any type, outside of tensor instructions */
    device_traffic global_load, global_store, local_load, local_store;
    device_traffic global_atomic; /**< reductions (red) too */
    device_traffic read_only;     /**< loads through textures and of __constant__ memory */
    device_constants constant;
    device_traffic bulk_load, bulk_store; /**< bulk copies between global and shared memory, the
                                             TMA's tiles too: copies, sectors of global memory,
                                             bytes. Reductions are stores */
    uint64_t block_atomics; /**< atomic operations of single lanes on words of global memory, by the
                               block of each launch that made most */
    device_banks shared_load, shared_store, shared_atomic;
    uint64_t barriers;  /**< warps that arrived at a block's barrier */
    uint64_t footprint; /**< bytes in distinct sectors of global memory that a launch touched,
                           summed over launches: what a cache would have to hold */
    device_transfers to_device, to_host, on_device, fills; /**< copies asked for by the host */
    device_transfers allocated, freed;                     /**< memory of the device, by the host */
    uint64_t peak; /**< bytes of it at once, at most, of what was allocated since counting began */
    uint64_t received, sent; /**< bytes from and to other devices, by copies and by kernels */
    uint64_t busiest; /**< operations of the device that makes most: in a supervisor's account */
    uint64_t span; /**< steps that all copies, fills and launches take if they overlap as streams
                      and events allow: see order.c */
} device_counts;

/** One statement of PTX of a counted kernel, and what it cost in all launches. */
typedef struct device_instruction {
    char file[256]; /**< "" without -lineinfo */
    uint32_t line;
    char opcode[32];
    device_counts counts;
} device_instruction;

/** One launch of a counted kernel. */
typedef struct device_counted_launch {
    uint32_t kernel; /**< as in device_count_kernel */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    device_counts counts;
} device_counted_launch;

#endif
