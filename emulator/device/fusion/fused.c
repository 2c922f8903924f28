/*
 * fused.c: two loads and the multiply-add that alone uses what they load, as one operation: the
 * inner loop of most matrix products.
 *
 * Interface
 *   fuse_loads      for decode.c
 *   count_reads     for gather.c
 *
 * The first of the three operations gets a handler that does all three; the others stay where they
 * are. If any condition fails, it runs its own handler, and the others follow: so nothing is lost,
 * and no finding. The loaded values go straight into the product, not into a row. Of an unrolled
 * loop one handler does several such products, as long as each adds to the one before.
 */
#include "fusion.h"
#include "device/memory/words.h"

/* Where the words of a load lie, for the higher half of the warp too. NULL: not as hoped. */
INLINE const float *find_source(warp *w, const op *o, space where, stride_kind kind,
                                const float **high)
{
    bool rises = kind == RISING || kind == TWICE;
    uint32_t step = rises ? 4 : 0, lanes = kind == SAME || kind == RISING ? LANES : HALF;
    const uint8_t *from = where == SPACE_SHARED && rises ? reach_words(w, o, lanes)
                                                         : reach(w, o, where, step, 0, lanes);
    *high = (const float *)(kind == RISING ? from + HALF * 4 : from);
    if (kind == PAIR) *high = (const float *)reach(w, o, where, 0, HALF, HALF);
    return *high ? (const float *)from : NULL;
}

/* Eight lanes. A row of sums is four variables, not an array, which compilers would keep in memory.
 */
typedef float lanes8 __attribute__((vector_size(32)));
typedef float lanes8_anywhere __attribute__((vector_size(32), aligned(4), may_alias));
typedef struct sums {
    lanes8 a, b, c, d;
} sums;

INLINE void take_lanes(lanes8 *x, const float *from, bool rises)
{
    float one = *from;
    if (rises)
        *x = *(const lanes8_anywhere *)from;
    else
        *x = (lanes8){one, one, one, one, one, one, one, one};
}

INLINE void add_products(lanes8 *sum, const float *p, bool p_rises, const float *q, bool q_rises)
{
    lanes8 x, y, z = *sum, d;
    take_lanes(&x, p, p_rises);
    take_lanes(&y, q, q_rises);
    for (int i = 0; i < 8; i++) d[i] = __builtin_fmaf(x[i], y[i], z[i]);
    *sum = d;
}

INLINE void load_sums(sums *s, const float *from)
{
    take_lanes(&s->a, from, true);
    take_lanes(&s->b, from + 8, true);
    take_lanes(&s->c, from + 16, true);
    take_lanes(&s->d, from + 24, true);
}

INLINE void store_sums(const sums *s, float *to)
{
    lanes8_anywhere *d = (lanes8_anywhere *)to;
    d[0] = s->a, d[1] = s->b, d[2] = s->c, d[3] = s->d;
}

/* The sums stay in registers of the processor from one product to the next. */
INLINE const op *multiply_add(warp *w, const op *o, space where, stride_kind x, stride_kind y)
{
    bool x_rises = x == RISING || x == TWICE, y_rises = y == RISING || y == TWICE;
    const float *p_high, *q_high;
    const float *p, *q;
    const op *first = o;
    bool more;
    sums s;
    load_sums(&s, row(w, o[2].c));
    do {
        p = find_source(w, o, where, x, &p_high);
        q = p ? find_source(w, o + 1, where, y, &q_high) : NULL;
        if (!q) break;
        add_products(&s.a, p, x_rises, q, y_rises);
        add_products(&s.b, p + 8 * x_rises, x_rises, q + 8 * y_rises, y_rises);
        add_products(&s.c, p_high, x_rises, q_high, y_rises);
        add_products(&s.d, p_high + 8 * x_rises, x_rises, q_high + 8 * y_rises, y_rises);
        more = o->chained && o[3].run == o->run && is_noted(w, &o[3]) && is_noted(w, &o[4]);
        o += 3;
    } while (more);
    if (o != first) store_sums(&s, row(w, o[-1].d));
    return q ? go_on(w, o) : o->inner(w, o);
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

uint32_t *count_reads(decoder *d)
{
    uint32_t *reads = arena_take(d->arena, (d->registers + 1) * sizeof *reads);
    memset(reads, 0, (d->registers + 1) * sizeof *reads);
    for (uint32_t i = 0; i < d->count; i++) {
        use u;
        for (uint32_t k = 0; next_use(&d->drafts[i], &k, &u);) reads[*u.where] += u.reads;
    }
    return reads;
}

static bool fuses(const decoder *d, uint32_t i, const uint32_t *reads)
{
    if (i + 2 >= d->count) return false;
    const draft *x = &d->drafts[i], *y = x + 1, *z = x + 2;
    handler *run = x->op.run;
    if (run != run_load_global_word && run != run_load_shared_word) return false;
    if (!loads(x, run) || !loads(y, run) || z->op.run != rule_find("fma.f32")->run || z->op.guard)
        return false;
    if (!reads_both(z, x->op.d, y->op.d) || x->op.d == y->op.d) return false;
    return reads[x->op.d] == 1 && reads[y->op.d] == 1;
}

static bool same_note(const draft *x, const draft *next)
{
    return next->op.space == x->op.space && next->op.stride == x->op.stride &&
           next->op.stride_known;
}

/* Two that are fused: does the second add its product to the sum of the first, which nothing else
 * reads, with addresses of the same stride classes? */
static bool chains(const draft *x, const draft *next, const uint32_t *reads)
{
    uint32_t sum = x[2].op.d;
    if (!same_note(&x[0], &next[0]) || !same_note(&x[1], &next[1])) return false;
    bool adds = next[2].reads >> FIELD_C & 1 && next[2].op.c == sum;
    bool passes = reads[sum] == 1 || next[2].op.d == sum;
    return adds && passes && next[0].op.d != sum && next[1].op.d != sum;
}

void fuse_loads(decoder *d)
{
    const uint32_t *reads = count_reads(d);
    for (uint32_t i = d->count; i-- > 0;) {
        draft *x = &d->drafts[i], *next = x + 3;
        if (!fuses(d, i, reads)) continue;
        x->op.inner = x->op.run;
        x->op.run = x->op.run == run_load_global_word ? run_fused_global : run_fused_shared;
        x->op.chained = i + 3 < d->count && next->op.run == x->op.run && chains(x, next, reads);
    }
}
