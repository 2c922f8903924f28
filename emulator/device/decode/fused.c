/*
 * fused.c: two loads and the multiply-add that alone uses what they load, as one operation: the
 * inner loop of most matrix products.
 *
 * Interface
 *   fuse_loads     for decode.c
 *
 * The first of the three operations gets a handler that does all three; the others stay where they
 * are. Whatever is not as hoped, it runs its own handler, and the others follow: so nothing is
 * lost, findings least of all. What was loaded goes straight into the product, not into a row.
 */
#include "decode.h"
#include "device/memory/words.h"

/* Where the words of a load lie, for the higher half of the warp too. NULL: not as hoped. */
INLINE const float *find_source(warp *w, const op *o, space where, stride_kind kind,
                                const float **high)
{
    bool rises = kind == RISING || kind == TWICE;
    uint32_t step = rises ? 4 : 0, lanes = kind == SAME || kind == RISING ? LANES : HALF;
    const uint8_t *from = where == SPACE_SHARED && rises ? reach_quiet(w, o, lanes)
                                                         : reach(w, o, where, step, 0, lanes);
    *high = (const float *)(kind == RISING ? from + HALF * 4 : from);
    if (kind == PAIR) *high = (const float *)reach(w, o, where, 0, HALF, HALF);
    return *high ? (const float *)from : NULL;
}

INLINE void add_products(float *d, const float *c, const float *p, bool p_rises, const float *q,
                         bool q_rises)
{
    float x = *p, y = *q;
#pragma GCC ivdep
    for (uint32_t i = 0; i < HALF; i++) {
        d[i] = __builtin_fmaf(p_rises ? p[i] : x, q_rises ? q[i] : y, c[i]);
    }
}

INLINE const op *multiply_add(warp *w, const op *o, space where, stride_kind x, stride_kind y)
{
    bool x_rises = x == RISING || x == TWICE, y_rises = y == RISING || y == TWICE;
    const float *p_high, *q_high, *p = find_source(w, o, where, x, &p_high);
    if (!p) return o->inner(w, o);
    const float *q = find_source(w, o + 1, where, y, &q_high);
    if (!q) return o->inner(w, o);
    float *d = row(w, o[2].d);
    const float *c = row(w, o[2].c);
    add_products(d, c, p, x_rises, q, y_rises);
    add_products(d + HALF, c + HALF, p_high, x_rises, q_high, y_rises);
    return go_on(w, o + 3);
}

#define DEFINE(name, where, x, y)                                                                  \
    APART const op *name(warp *w, const op *o)                                                     \
    {                                                                                              \
        return multiply_add(w, o, where, x, y);                                                    \
    }

#define EACH_PAIR(X, space, where)                                                                 \
    X(space##_same_rising, where, SAME, RISING)                                                    \
    X(space##_rising_same, where, RISING, SAME)                                                    \
    X(space##_pair_twice, where, PAIR, TWICE)                                                      \
    X(space##_twice_pair, where, TWICE, PAIR)                                                      \
    X(space##_rising_rising, where, RISING, RISING)
EACH_PAIR(DEFINE, global, SPACE_GLOBAL)
EACH_PAIR(DEFINE, shared, SPACE_SHARED)

#define TRY(name, where, p, q)                                                                     \
    if (x == p && y == q) return name(w, o);

static const op *run_fused_global(warp *w, const op *o)
{
    if (!is_all(w->mask)) return o->inner(w, o);
    know_stride(w, &o[0]);
    know_stride(w, &o[1]);
    uint32_t x = w->strides[o[0].stride].kind, y = w->strides[o[1].stride].kind;
    EACH_PAIR(TRY, global, )
    return o->inner(w, o);
}

static const op *run_fused_shared(warp *w, const op *o)
{
    if (!is_all(w->mask)) return o->inner(w, o);
    know_stride(w, &o[0]);
    know_stride(w, &o[1]);
    uint32_t x = w->strides[o[0].stride].kind, y = w->strides[o[1].stride].kind;
    EACH_PAIR(TRY, shared, )
    return o->inner(w, o);
}

/* ---- which loads to fuse --------------------------------------------------------------------- */

static bool loads(const draft *x, handler *run)
{
    return x->op.run == run && x->op.stride < STRIDES;
}

static bool reads_both(const draft *x, uint32_t p, uint32_t q)
{
    bool registers = x->reads >> FIELD_A & 1 && x->reads >> FIELD_B & 1;
    return registers && ((x->op.a == p && x->op.b == q) || (x->op.a == q && x->op.b == p));
}

void fuse_loads(decoder *d)
{
    uint32_t *reads = arena_take(d->arena, (d->registers + 1) * sizeof *reads);
    memset(reads, 0, (d->registers + 1) * sizeof *reads);
    for (uint32_t i = 0; i < d->count; i++) {
        use u;
        for (uint32_t k = 0; next_use(&d->drafts[i], &k, &u);) reads[*u.where] += u.reads;
    }
    handler *fma = rule_find("fma.f32")->run;
    for (uint32_t i = 0; i + 2 < d->count; i++) {
        draft *x = &d->drafts[i], *y = x + 1, *z = x + 2;
        handler *run = x->op.run;
        if (run != run_load_global_word && run != run_load_shared_word) continue;
        if (!loads(x, run) || !loads(y, run) || z->op.run != fma || z->op.guard) continue;
        if (!reads_both(z, x->op.d, y->op.d) || x->op.d == y->op.d) continue;
        if (reads[x->op.d] != 1 || reads[y->op.d] != 1) continue;
        x->op.inner = run;
        x->op.run = run == run_load_global_word ? run_fused_global : run_fused_shared;
    }
}
