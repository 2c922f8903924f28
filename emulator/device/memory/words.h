/*
 * words.h: how the addresses of a full warp lie, and what lies behind those of a load of one 32-bit
 * word for each lane. For words.c and fused.c.
 *
 * The addresses have a stride class, or are scattered. An unrolled loop loads [%r7], [%r7+4],
 * [%r7+8] ...: the displacement moves the stride class, it does not change it. So the first load
 * through a register notes the stride class in its warp, and those that follow rely on it
 * (stride_class.c says which).
 */
#ifndef SOFTGPU_DEVICE_WORDS_H
#define SOFTGPU_DEVICE_WORDS_H

#include "device/base/bits.h"
#include "device/checks/shadow.h"
#include "memory.h"

#define INLINE static inline __attribute__((always_inline))
/* Handlers are small functions that end in a jump, so that the common case saves no registers: what
 * is rare is in a function of its own. */
#define APART static __attribute__((noinline))

typedef enum stride_kind {
    SCATTERED,
    SAME,     /* one word for all */
    RISING,   /* consecutive words */
    HALVES,   /* in each half of the warp addresses rise by a step */
    REPEATED, /* the same, and both halves have the same addresses */
    PAIR,     /* one word for each half */
    TWICE,    /* consecutive words for half a warp, and the same for the other: 16 x 16 blocks */
} stride_kind;

enum {
    HALF = LANES / 2,
    MOST_STEP = 1 << 16, /* bytes; what is farther apart counts as scattered */
};

/* ---- what lies behind some lanes ------------------------------------------------------------- */

/* A stride class with step 4 or 0: a contiguous range. NULL: not as a whole. */
INLINE const uint8_t *reach_global(const warp *w, uint64_t address, uint32_t step, uint32_t lanes)
{
    const device *d = w->block->device;
    uint64_t offset = address - DEVICE_BASE, off = 0;
    if (offset >= DEVICE_BYTES || offset % 4) return NULL;
    if (step == 4) {
        if (!bits_all_words(d->initialised, offset, lanes)) return NULL;
    } else if (step == 0) {
        if (!bits_word(d->initialised, offset)) return NULL;
    } else {
        for (uint32_t i = 0; i < lanes; i++)
            off |= !bits_word(d->initialised, offset + (uint64_t)i * step);
        if (off) return NULL;
    }
    return d->bytes + offset;
}

INLINE const uint8_t *reach_shared(warp *w, const op *o, uint32_t address, uint32_t step,
                                   uint32_t lane, uint32_t lanes)
{
    uint32_t room = w->block->shared_bytes - LANES * 4; /* the margin is larger than that */
    uint32_t span = step * (lanes - 1), first = address / 4;
    if (address % 4 || address >= room || span >= room - address) return NULL;
    bool may = step == 0   ? shadow_may_load_word(w, o, first, lane, lanes)
               : step == 4 ? shadow_may_load_words(w, o, first, lane, lanes)
                           : shadow_may_load_spread(w, o, first, step / 4, lane, lanes);
    return may ? w->block->shared + address : NULL;
}

/* Do the ends of each half of the warp lie as noted? Then all lanes do, if they moved by the same
 * amount but for a wrap-around: addresses in order wrap from one lane on. */
INLINE bool ends_agree(const warp *w, const op *o)
{
    const stride_class *s = &w->strides[o->stride];
    const uint64_t *a = row(w, o->a), *b = a + HALF;
    if (s->kind == SCATTERED) return true;
    return a[HALF - 1] - a[0] == (HALF - 1) * (uint64_t)s->step[0] &&
           b[HALF - 1] - b[0] == (HALF - 1) * (uint64_t)s->step[1] && b[0] - a[0] == s->gap;
}

INLINE bool is_noted(const warp *w, const op *o)
{
    bool kept = o->stride_kept && w->noted >> o->stride & 1;
    return (o->stride_known || kept) && (!o->stride_ends || ends_agree(w, o));
}

INLINE void know_stride(warp *w, const op *o)
{
    if (!is_noted(w, o)) note_stride(w, o);
}

INLINE const uint8_t *reach(warp *w, const op *o, space where, uint32_t step, uint32_t lane,
                            uint32_t lanes)
{
    const void *a = row(w, o->a);
    if (where == SPACE_GLOBAL) {
        return reach_global(w, ((const uint64_t *)a)[lane] + (uint64_t)o->offset, step, lanes);
    }
    uint32_t address = ((const uint32_t *)a)[lane] + (uint32_t)o->offset;
    return reach_shared(w, o, address, step, lane, lanes);
}

INLINE uint32_t shared_address(const warp *w, const op *o, uint32_t lane)
{
    return ((const uint32_t *)row(w, o->a))[lane] + (uint32_t)o->offset;
}

/* Whole pages that are quiet: nothing to check. */
INLINE bool is_quiet(const block *b, uint32_t address, uint32_t lanes)
{
    bool quiet = address < b->shared_bytes && address % (4 * PAGE_WORDS) == 0;
    for (uint32_t i = 0; quiet && i < lanes; i += PAGE_WORDS)
        quiet = shadow_quiet_word(b, address / 4 + i);
    return quiet;
}

/* Consecutive words for all lanes, or for each half of them; not as hoped, or not yet noted. */
APART const uint8_t *reach_busy(warp *w, const op *o, uint32_t lanes)
{
    uint32_t address = shared_address(w, o, 0), *read = w->block->words.read + address / 4;
    const uint8_t *from = reach_shared(w, o, address, 4, 0, lanes);
    for (uint32_t i = 0; from && lanes == HALF && i < HALF; i++) read[i] |= MANY;
    return from;
}

INLINE const uint8_t *reach_words(warp *w, const op *o, uint32_t lanes)
{
    uint32_t address = shared_address(w, o, 0);
    if (!is_quiet(w->block, address, lanes)) return reach_busy(w, o, lanes);
    return w->block->shared + address;
}

/* Eight words that move at once, wherever they lie: memcpy of so few bytes moves less. */
typedef uint32_t eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t word __attribute__((may_alias));

INLINE void fetch(uint32_t *d, const uint8_t *from, uint32_t step, uint32_t lanes)
{
    if (step == 4) {
        for (uint32_t i = 0; i < lanes / 8; i++) ((eight *)d)[i] = ((const eight *)from)[i];
    } else if (step == 0) {
        uint32_t value = *(const word *)from;
        for (uint32_t i = 0; i < lanes; i++) d[i] = value;
    } else {
        for (uint32_t i = 0; i < lanes; i++) d[i] = *(const word *)(from + (size_t)i * step);
    }
}

#endif
