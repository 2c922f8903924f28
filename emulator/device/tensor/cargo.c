/*
 * cargo.c: the bytes of a bulk copy, and which of them nothing had written where they came from.
 *
 * Interface
 *   cargo_new, cargo_copy, cargo_free
 *   cargo_gap, cargo_has_gap
 *
 * A copy is no use: what was unwritten is so where it arrives, and a finding where it is used.
 */
#include <stdlib.h>

#include "bulk.h"
#include "device/base/arena.h"
#include "device/base/bits.h"

cargo cargo_new(uint32_t bytes)
{
    return (cargo){.data = take(1, bytes + CHUNK), .bytes = bytes};
}

static size_t gap_words(const cargo *c)
{
    return c->bytes / 64 + 1;
}

cargo cargo_copy(const cargo *c)
{
    cargo copy = cargo_new(c->bytes);
    memcpy(copy.data, c->data, c->bytes);
    if (c->gaps) copy.gaps = take(gap_words(c), sizeof *c->gaps);
    if (c->gaps) memcpy(copy.gaps, c->gaps, gap_words(c) * sizeof *c->gaps);
    return copy;
}

void cargo_free(const cargo *c)
{
    free(c->data);
    free(c->gaps);
}

void cargo_gap(cargo *c, uint32_t at)
{
    if (!c->gaps) c->gaps = take(gap_words(c), sizeof *c->gaps);
    bits_set(c->gaps, at, 1);
}

bool cargo_has_gap(const cargo *c, uint32_t at)
{
    return c->gaps && bits_any(c->gaps, at, 1);
}
