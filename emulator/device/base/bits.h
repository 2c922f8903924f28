/*
 * bits.h: the maps of device memory: which bytes are initialised, a bit each, and which are owned,
 * a count for each 256.
 *
 * Interface
 *   bits_all, bits_word, bits_all_words, bits_any, bits_set, bits_clear, bits_copy
 *   owned_all
 *
 * Blocks on several host threads set and clear bits at once: a word that is not changed as a whole
 * is changed by an atomic operation. Copying happens between launches.
 */
#ifndef SOFTGPU_DEVICE_BITS_H
#define SOFTGPU_DEVICE_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bits [from, from + count) of one word; 0 < count and from + count <= 64. */
static inline uint64_t bits_mask(uint64_t from, uint64_t count)
{
    return (~UINT64_C(0) >> (64 - count)) << from;
}

static inline uint64_t bits_in_word(uint64_t first, uint64_t count)
{
    uint64_t rest = 64 - first % 64;
    return count < rest ? count : rest;
}

static inline bool bits_all(const uint64_t *map, uint64_t first, uint64_t count)
{
    while (count) {
        uint64_t n = bits_in_word(first, count), mask = bits_mask(first % 64, n);
        if ((map[first / 64] & mask) != mask) return false;
        first += n;
        count -= n;
    }
    return true;
}

static __attribute__((noinline, unused)) bool bits_all_apart(const uint64_t *map, uint64_t first,
                                                             uint64_t count)
{
    return bits_all(map, first, count);
}

/** The four bits of an aligned word. */
static inline bool bits_word(const uint64_t *map, uint64_t first)
{
    return (map[first / 64] >> first % 64 & 15) == 15;
}

/** The bits of 16 or 32 aligned words: most often they fill bytes of the map. */
static inline bool bits_all_words(const uint64_t *map, uint64_t first, uint32_t words)
{
    if (first % 8) return bits_all_apart(map, first, 4 * (uint64_t)words);
    uint64_t low, high;
    memcpy(&low, (const uint8_t *)map + first / 8, 8);
    memcpy(&high, (const uint8_t *)map + first / 8 + (words == 32 ? 8 : 0), 8);
    return (low & high) == ~UINT64_C(0);
}

static inline bool bits_any(const uint64_t *map, uint64_t first, uint64_t count)
{
    while (count) {
        uint64_t n = bits_in_word(first, count);
        if (map[first / 64] & bits_mask(first % 64, n)) return true;
        first += n;
        count -= n;
    }
    return false;
}

static inline void bits_set(uint64_t *map, uint64_t first, uint64_t count)
{
    while (count) {
        uint64_t n = bits_in_word(first, count), mask = bits_mask(first % 64, n);
        if (n == 64)
            map[first / 64] = mask;
        else
            __atomic_fetch_or(&map[first / 64], mask, __ATOMIC_RELAXED);
        first += n;
        count -= n;
    }
}

static inline void bits_clear(uint64_t *map, uint64_t first, uint64_t count)
{
    while (count) {
        uint64_t n = bits_in_word(first, count);
        if (n == 64)
            map[first / 64] = 0;
        else
            __atomic_fetch_and(&map[first / 64], ~bits_mask(first % 64, n), __ATOMIC_RELAXED);
        first += n;
        count -= n;
    }
}

static inline void bits_copy(uint64_t *map, uint64_t to, uint64_t from, uint64_t count)
{
    bool down = to > from; /* ranges may overlap */
    for (uint64_t i = 0; i < count; i++) {
        uint64_t k = down ? count - 1 - i : i;
        uint64_t bit = map[(from + k) / 64] >> (from + k) % 64 & 1, mask = UINT64_C(1)
                                                                           << (to + k) % 64;
        uint64_t *word = &map[(to + k) / 64];
        *word = bit ? *word | mask : *word & ~mask;
    }
}

/** Does an allocation hold all these bytes? `owned`: see struct device. */
static inline bool owned_all(const uint16_t *owned, uint64_t first, uint64_t count)
{
    while (count) {
        uint64_t in_grain = first % 256, n = count < 256 - in_grain ? count : 256 - in_grain;
        if (in_grain + n > owned[first / 256]) return false;
        first += n;
        count -= n;
    }
    return true;
}

#endif
