/*
 * address.c: addresses of the shared memory of a cluster's blocks.
 *
 * Interface
 *   run_map, run_rank_of
 */
#include "barrier.h"

static uint64_t value_of(const warp *w, operand r, uint32_t lane, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)row(w, r) + lane * bytes, bytes);
    return value;
}

/* What is no address of shared memory stays what it is, and is found where it is used. */
const op *run_map(warp *w, const op *o)
{
    uint64_t window = o->narrow ? 0 : SHARED_WINDOW;
    const uint32_t *rank = row(w, o->b);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        uint64_t address = value_of(w, o->a, i, o->size) - window;
        bool shared = !window || address < WINDOW_BYTES;
        if (shared) address = cluster_address(address, rank[i] & 0xff);
        address += window;
        memcpy((uint8_t *)row(w, o->d) + i * o->size, &address, o->size);
    }
    return o + 1;
}

const op *run_rank_of(warp *w, const op *o)
{
    uint64_t window = o->narrow ? 0 : SHARED_WINDOW;
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        ((uint32_t *)row(w, o->d))[i] = rank_at(w->block, value_of(w, o->a, i, o->size) - window);
    }
    return o + 1;
}
