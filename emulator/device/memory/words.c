/*
 * words.c: the accesses that kernels spend their time in: one 32-bit word for each lane, from or to
 * global or shared memory.
 *
 * Interface
 *   run_load_global_word, run_load_shared_word, run_store_shared_word, note_stride
 *
 * An access that does not pass here as a whole is left to access.c, which finds out why.
 */
#include "words.h"

/* The 15 differences between neighbours, in two overlapping loops that fill vectors. */
#define DEFINE_STRIDE(name, T)                                                                     \
    INLINE T unlike_##name(const T *a, T step)                                                     \
    {                                                                                              \
        enum { VECTOR = 32 / sizeof(T) };                                                          \
        T off = 0;                                                                                 \
        for (int i = 0; i < HALF - VECTOR; i++) off |= (a[i + 1] - a[i]) ^ step;                   \
        a += HALF - 1 - VECTOR;                                                                    \
        for (int i = 0; i < VECTOR; i++) off |= (a[i + 1] - a[i]) ^ step;                          \
        return off;                                                                                \
    }                                                                                              \
    INLINE stride_class name(const T *a)                                                           \
    {                                                                                              \
        const T *b = a + HALF;                                                                     \
        T low = (T)(a[1] - a[0]), high = (T)(b[1] - b[0]);                                         \
        if ((low | high) % 4 || low > MOST_STEP || high > MOST_STEP) return (stride_class){0};     \
        if (unlike_##name(a, low) | unlike_##name(b, high)) return (stride_class){0};              \
        stride_class s = {HALVES, {(uint32_t)low, (uint32_t)high}, (uint64_t)(b[0] - a[0])};       \
        if ((low | high) == 0) s.kind = PAIR;                                                      \
        if (low == high && low && b[0] == a[0]) s.kind = low == 4 ? TWICE : REPEATED;              \
        if (low == high && b[0] - a[0] == HALF * low && low <= 4) s.kind = low ? RISING : SAME;    \
        return s;                                                                                  \
    }
DEFINE_STRIDE(stride_of_32, uint32_t)
DEFINE_STRIDE(stride_of_64, uint64_t)

void note_stride(warp *w, const op *o)
{
    const void *a = row(w, o->a);
    w->strides[o->stride] = o->space == SPACE_GLOBAL ? stride_of_64(a) : stride_of_32(a);
    w->noted |= 1u << o->stride;
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* ---- global memory */

INLINE const op *load_whole_global(warp *w, const op *o, uint32_t step)
{
    const uint64_t *a = row(w, o->a);
    const uint8_t *from = reach_global(w, a[0] + (uint64_t)o->offset, step, LANES);
    if (!from) return run_load_global(w, o);
    fetch(row(w, o->d), from, step, LANES);
    return go_on(w, o + 1);
}

APART const op *load_same_global(warp *w, const op *o)
{
    return load_whole_global(w, o, 0);
}

APART const op *load_rising_global(warp *w, const op *o)
{
    return load_whole_global(w, o, 4);
}

/* Nothing is written before both are known to be there: d may be the row of the addresses. */
INLINE const op *load_halves(warp *w, const op *o, space where, uint32_t low, uint32_t high)
{
    uint32_t *d = row(w, o->d);
    const uint8_t *from[2];
    from[0] = reach(w, o, where, low, 0, HALF);
    from[1] = reach(w, o, where, high, HALF, HALF);
    if (!from[0] || !from[1])
        return where == SPACE_GLOBAL ? run_load_global(w, o) : run_load_shared(w, o);
    fetch(d, from[0], low, HALF);
    fetch(d + HALF, from[1], high, HALF);
    return go_on(w, o + 1);
}

APART const op *load_halves_global(warp *w, const op *o)
{
    const stride_class *s = &w->strides[o->stride];
    return load_halves(w, o, SPACE_GLOBAL, s->step[0], s->step[1]);
}

/* The same row twice, or two elements: 16 x 16 blocks. */
APART const op *load_twice_global(warp *w, const op *o)
{
    return load_halves(w, o, SPACE_GLOBAL, 4, 4);
}

APART const op *load_pair_global(warp *w, const op *o)
{
    return load_halves(w, o, SPACE_GLOBAL, 0, 0);
}

/* ---- shared memory */

APART const op *load_same_shared(warp *w, const op *o)
{
    const uint8_t *from = reach_shared(w, o, shared_address(w, o, 0), 0, 0, LANES);
    if (!from) return run_load_shared(w, o);
    fetch(row(w, o->d), from, 0, LANES);
    return go_on(w, o + 1);
}

APART const op *load_rising_shared(warp *w, const op *o)
{
    const uint8_t *from = reach_words(w, o, LANES);
    if (!from) return run_load_shared(w, o);
    fetch(row(w, o->d), from, 4, LANES);
    return go_on(w, o + 1);
}

APART const op *load_pair_shared(warp *w, const op *o)
{
    return load_halves(w, o, SPACE_SHARED, 0, 0);
}

APART const op *load_halves_shared(warp *w, const op *o)
{
    const stride_class *s = &w->strides[o->stride];
    return load_halves(w, o, SPACE_SHARED, s->step[0], s->step[1]);
}

APART const op *load_twice_shared(warp *w, const op *o)
{
    uint32_t *d = row(w, o->d);
    const uint8_t *from = reach_words(w, o, HALF);
    if (!from) return run_load_shared(w, o);
    fetch(d, from, 4, HALF);
    fetch(d + HALF, from, 4, HALF);
    return go_on(w, o + 1);
}

APART const op *load_strided_twice_shared(warp *w, const op *o)
{
    uint32_t *d = row(w, o->d), first = shared_address(w, o, 0);
    uint32_t step = w->strides[o->stride].step[0];
    const uint8_t *from = reach_shared(w, o, first, step, 0, HALF);
    if (!from) return run_load_shared(w, o);
    for (uint32_t i = 0; i < HALF; i++) shadow_note_more(w->block, (first + i * step) / 4, 1);
    fetch(d, from, step, HALF);
    memcpy(d + HALF, d, HALF * sizeof *d);
    return go_on(w, o + 1);
}

/* ---- by stride class */

const op *run_load_global_word(warp *w, const op *o)
{
    if (!is_all(active(w, o))) return run_load_global(w, o);
    know_stride(w, o);
    uint32_t kind = w->strides[o->stride].kind;
    if (kind == RISING) return load_rising_global(w, o);
    if (kind == SAME) return load_same_global(w, o);
    if (kind == PAIR) return load_pair_global(w, o);
    if (kind == TWICE) return load_twice_global(w, o);
    if (kind == SCATTERED) return run_load_global(w, o);
    return load_halves_global(w, o);
}

const op *run_load_shared_word(warp *w, const op *o)
{
    if (!is_all(active(w, o))) return run_load_shared(w, o);
    know_stride(w, o);
    uint32_t kind = w->strides[o->stride].kind;
    if (kind == RISING) return load_rising_shared(w, o);
    if (kind == SAME) return load_same_shared(w, o);
    if (kind == PAIR) return load_pair_shared(w, o);
    if (kind == TWICE) return load_twice_shared(w, o);
    if (kind == REPEATED) return load_strided_twice_shared(w, o);
    if (kind == SCATTERED) return run_load_shared(w, o);
    return load_halves_shared(w, o);
}

/* ---- stores ---------------------------------------------------------------------------------- */

APART const op *store_rising_shared(warp *w, const op *o)
{
    uint32_t address = shared_address(w, o, 0), room = w->block->shared_bytes - LANES * 4;
    if (address % 4 || address >= room) return run_store_shared(w, o);
    if (!shadow_untouched(w->block, address / 4, LANES)) return run_store_shared(w, o);
    shadow_note_write(w, o, address / 4, LANES, 0);
    memcpy(w->block->shared + address, row(w, o->d), LANES * 4);
    return go_on(w, o + 1);
}

/* Lane by lane, in their order, so that two that write to one word are noticed. Those from the
 * first on that does not pass are left to access.c. */
APART const op *store_each_shared(warp *w, const op *o)
{
    const block *b = w->block;
    const uint32_t *a = row(w, o->a), *d = row(w, o->d);
    uint32_t room = b->shared_bytes - LANES * 4, mask = active(w, o);
    for (; mask; mask &= mask - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(mask), address = a[i] + (uint32_t)o->offset;
        if (address % 4 || address >= room || !shadow_may_store_word(w, address / 4, i)) break;
        shadow_note_write(w, o, address / 4, 1, i);
        *(word *)(b->shared + address) = d[i];
    }
    if (mask) store_lanes(w, o, mask);
    return go_on(w, o + 1);
}

const op *run_store_shared_word(warp *w, const op *o)
{
    if (is_all(active(w, o)) && stride_of_32(row(w, o->a)).kind == RISING)
        return store_rising_shared(w, o);
    return store_each_shared(w, o);
}
