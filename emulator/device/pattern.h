/*
 * pattern.h: what one request of a warp costs the memory system, from the addresses of its lanes
 * alone. Pure functions.
 *
 * Interface
 *   pattern_sectors          global memory: the distinct sectors of 32 bytes
 *   pattern_local_sectors    the same for local memory, which a GPU lays out word by word
 *   pattern_wavefronts       shared memory: passes over its 32 banks
 *   pattern_least            ... that the width of the access needs without any conflict
 *   pattern_atomic_wavefronts
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
uint32_t pattern_local_sectors(const pattern *);
uint32_t pattern_wavefronts(const pattern *);
uint32_t pattern_least(const pattern *);
/** Lanes that update the same word take turns. */
uint32_t pattern_atomic_wavefronts(const pattern *);

#endif
