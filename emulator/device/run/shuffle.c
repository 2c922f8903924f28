/*
 * shuffle.c: the order in which the blocks of a grid and the warps of a block begin. CUDA promises
 * none; a device that always takes the same one hides mistakes that depend on it. With a seed it is
 * drawn.
 *
 * Interface
 *   device_shuffle
 *   shuffle_begin, shuffle_next, shuffle_lower, shuffle_end, shuffle_warps
 *
 * Programs may rely on one thing, and many do: a block that waits for one of a lower number finds
 * that it has begun, as on a GPU. So a block that has waited for long lets those begin (block.c).
 */
#include <stdlib.h>

#include "device/base/arena.h"
#include "run.h"

enum { MOST_SHUFFLED = 1 << 20 }; /* blocks of a grid; a larger one begins in order */

void device_shuffle(device *d, uint64_t seed)
{
    d->seed = seed;
}

/* ---- drawing (splitmix64) -------------------------------------------------------------------- */

static uint32_t draw(uint64_t *state, uint32_t below)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % below);
}

static void permute(uint32_t *order, uint32_t count, uint64_t state)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = draw(&state, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void shuffle_begin(launch *l)
{
    if (!l->device->seed || l->blocks > MOST_SHUFFLED) return;
    l->order = take(l->blocks, sizeof *l->order);
    l->begun = take(l->blocks, sizeof *l->begun);
    permute(l->order, (uint32_t)l->blocks, l->device->seed);
}

void shuffle_end(launch *l)
{
    free(l->order);
    free(l->begun);
}

uint64_t shuffle_next(launch *l)
{
    for (;;) {
        uint64_t number = atomic_fetch_add(&l->next, 1);
        if (number >= l->blocks || !l->order) return number;
        number = l->order[number];
        if (!atomic_exchange(&l->begun[number], true)) return number;
    }
}

bool shuffle_lower(launch *l, uint64_t below, uint64_t *number)
{
    if (!l->order) return false;
    uint64_t n = l->lowest;
    while (n < below && atomic_exchange(&l->begun[n], true)) n++;
    l->lowest = n;
    *number = n;
    return n < below;
}

/* ---- warps ----------------------------------------------------------------------------------- */

void shuffle_warps(block *b, uint64_t number)
{
    uint64_t seed = b->device->seed;
    if (seed)
        permute(b->order, b->warp_count, seed + number);
    else
        for (uint32_t k = 0; k < b->warp_count; k++) b->order[k] = k;
}
