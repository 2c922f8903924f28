/*
 * pattern.h: what one request of a warp costs the memory system, from the addresses of its lanes
 * alone. Pure functions.
 *
 * Interface
 *   pattern_sectors          global memory: the distinct sectors of 32 bytes
 *   pattern_atomic_sectors   ... of an atomic, where lanes that update one element take turns
 *   pattern_local_sectors    the same for local memory, which a GPU lays out word by word
 *   pattern_addresses        constant memory: the distinct addresses
 *   pattern_banks            shared memory: passes over its 32 banks
 *
 * The rules are those of an H200, found with and checked against tests/counters.
 */
#ifndef SOFTGPU_DEVICE_PATTERN_H
#define SOFTGPU_DEVICE_PATTERN_H

#include <stdint.h>

enum { PATTERN_LANES = 32, SECTOR_BYTES = 32 };

/** One element of `bytes` (1, 2, 4, 8 or 16) for each lane in `mask`, at an aligned address. */
typedef struct pattern {
    uint64_t address[PATTERN_LANES];
    uint32_t mask; /**< not 0 */
    uint32_t bytes;
} pattern;

/** @param sector their numbers (address / 32), in no order. @return how many */
uint32_t pattern_sectors(const pattern *, uint64_t sector[PATTERN_LANES]);
uint32_t pattern_atomic_sectors(const pattern *);
uint32_t pattern_local_sectors(const pattern *);
uint32_t pattern_addresses(const pattern *);

typedef enum pattern_kind { PATTERN_LOAD, PATTERN_STORE, PATTERN_ATOMIC } pattern_kind;

typedef struct pattern_passes {
    uint32_t wavefronts;
    uint32_t least; /**< what they would be without bank conflicts */
} pattern_passes;
pattern_passes pattern_banks(const pattern *, pattern_kind);

#endif
