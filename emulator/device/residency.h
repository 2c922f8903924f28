/*
 * residency.h: the size of the device, and how many blocks of a kernel it holds at once: on each
 * multiprocessor the least of what threads, registers, shared memory and block slots allow.
 * Registers are the device's estimate.
 *
 * Interface
 *   resident_blocks
 *
 * The runtime answers questions about occupancy with it, the device counts waves; each by itself,
 * for they may be different processes.
 */
#ifndef SOFTGPU_DEVICE_RESIDENCY_H
#define SOFTGPU_DEVICE_RESIDENCY_H

#include "device.h"

enum {
    WARP_SIZE = 32,
    MULTIPROCESSORS = 8,
    MAX_SM_THREADS = 2048,
    MAX_SM_BLOCKS = 32,
    SM_REGISTERS = 65536,
    SHARED_PER_SM = 164 << 10,
    SHARED_PER_SM_90 = 228 << 10, /* of compute capability 9.0 */
    SHARED_RESERVED = 1 << 10,    /* of each block, by the system */
    REGISTER_UNIT = 256,          /* registers go by warp */
    REGISTER_STEP = 8,            /* of a thread, for setmaxnreg, */
    LEAST_REGISTERS = 24,         /* and what it may ask for */
    MOST_REGISTERS = 256,
    SHARED_UNIT = 128, /* shared memory by block */
};

static inline uint64_t units(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/** On one multiprocessor. @param threads of a block, 1 or more */
static inline uint32_t resident_blocks(const device_function_facts *f, uint64_t threads,
                                       uint64_t dynamic_shared_bytes)
{
    const uint64_t warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
    const uint64_t of_a_warp = units((uint64_t)f->registers * WARP_SIZE, REGISTER_UNIT);
    const uint64_t shared =
        units(f->static_shared_bytes + dynamic_shared_bytes + SHARED_RESERVED, SHARED_UNIT);
    uint64_t blocks = least(MAX_SM_BLOCKS, MAX_SM_THREADS / WARP_SIZE / warps);
    if (of_a_warp) blocks = least(blocks, SM_REGISTERS / of_a_warp / warps);
    const uint64_t room = shared > SHARED_PER_SM ? SHARED_PER_SM_90 : SHARED_PER_SM;
    return (uint32_t)least(blocks, room / shared);
}

#endif
