/*
 * words.c: the loads that kernels spend their time in: one 32-bit word for each lane of a full
 * warp, from global or shared memory.
 *
 * Interface
 *   run_load_global_word, run_load_shared_word     handlers
 *   mark_shapes                                    for decode.c
 *
 * The lanes' addresses have one of a few shapes, or access.c deals with them. An unrolled loop
 * loads [%r7], [%r7+4], [%r7+8] ...: the displacement moves the shape, it does not change it. So
 * the first load through a register notes the shape in its warp, and those that follow rely on it,
 * until the register changes or the path may be left. To add what is equal in all lanes moves a
 * shape as well: the sum shares the note.
 */
#include "bits.h"
#include "decode.h"
#include "shadow.h"

#define INLINE static inline __attribute__((always_inline))

typedef enum shape {
    SCATTERED,
    SAME,   /* one word for all */
    RISING, /* consecutive words */
    TWICE,  /* consecutive words for half a warp, and the same for the other: 16 x 16 blocks */
    HALVES, /* each half for itself; + 1: the lower one rises, + 2: the higher one does */
} shape;

enum { HALF = LANES / 2 };

#define DEFINE_SHAPE(name, T)                                                                      \
    static inline shape name(const T *a)                                                           \
    {                                                                                              \
        static const T rises[2][HALF] = {                                                          \
            {0}, {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60}};                   \
        const T *b = a + HALF;                                                                     \
        T low = (T)(a[1] - a[0]), high = (T)(b[1] - b[0]), between = (T)(b[0] - a[0]), off = 0;    \
        if ((low | high) & ~(T)4) return SCATTERED;                                                \
        const T *x = rises[low / 4], *y = rises[high / 4];                                         \
        for (int i = 0; i < HALF; i++) {                                                           \
            off |= (a[0] + x[i]) ^ a[i];                                                           \
            off |= (b[0] + y[i]) ^ b[i];                                                           \
        }                                                                                          \
        if (off) return SCATTERED;                                                                 \
        if (low == high && between == HALF * low) return low ? RISING : SAME;                      \
        if (low == high && between == 0) return TWICE;                                             \
        return (shape)(HALVES + low / 4 + high / 2);                                               \
    }
DEFINE_SHAPE(shape_of_32, uint32_t)
DEFINE_SHAPE(shape_of_64, uint64_t)

/* ---- global memory --------------------------------------------------------------------------- */

/* NULL: not as a whole. */
INLINE const uint8_t *reach_global(const warp *w, uint64_t address, bool rising, uint32_t lanes)
{
    const device *d = w->block->device;
    uint64_t offset = address - DEVICE_BASE;
    if (offset >= DEVICE_BYTES || offset % 4) return NULL;
    bool may =
        rising ? bits_all_words(d->initialised, offset, lanes) : bits_word(d->initialised, offset);
    return may ? d->bytes + offset : NULL;
}

INLINE const uint8_t *reach_shared(warp *w, const op *o, uint32_t address, bool rising,
                                   uint32_t lane, uint32_t lanes)
{
    uint32_t room = w->block->shared_bytes - LANES * 4; /* the margin is larger than that */
    if (address >= room || address % 4) return NULL;
    bool may = rising ? shadow_may_load_words(w, o, address / 4, lane, lanes)
                      : shadow_may_load_word(w, o, address / 4, lane, lanes);
    return may ? w->block->shared + address : NULL;
}

INLINE const uint8_t *reach(warp *w, const op *o, space where, bool rising, uint32_t lane,
                            uint32_t lanes)
{
    const void *a = row(w, o->a);
    if (where == SPACE_GLOBAL) {
        return reach_global(w, ((const uint64_t *)a)[lane] + (uint64_t)o->offset, rising, lanes);
    }
    uint32_t address = ((const uint32_t *)a)[lane] + (uint32_t)o->offset;
    return reach_shared(w, o, address, rising, lane, lanes);
}

/* ---- handlers -------------------------------------------------------------------------------- */

/* Eight words that move at once, wherever they lie: memcpy of so few bytes moves less. */
typedef uint32_t eight __attribute__((vector_size(32), aligned(4), may_alias));

INLINE void copy(uint32_t *d, const uint8_t *from, bool rising, uint32_t lanes)
{
    if (rising) {
        for (uint32_t i = 0; i < lanes / 8; i++) ((eight *)d)[i] = ((const eight *)from)[i];
        return;
    }
    uint32_t value;
    memcpy(&value, from, sizeof value);
    for (uint32_t i = 0; i < lanes; i++) d[i] = value;
}

INLINE bool load_whole(warp *w, const op *o, space where, bool rising)
{
    const uint8_t *from = reach(w, o, where, rising, 0, LANES);
    if (from) copy(row(w, o->d), from, rising, LANES);
    return from != NULL;
}

INLINE bool load_twice(warp *w, const op *o, space where)
{
    uint32_t *d = row(w, o->d);
    const uint8_t *from = reach(w, o, where, true, 0, HALF);
    if (!from) return false;
    if (where == SPACE_SHARED) {
        shadow_note_more(w->block, (uint32_t)(from - w->block->shared) / 4, HALF);
    }
    copy(d, from, true, HALF);
    copy(d + HALF, from, true, HALF);
    return true;
}

/* Nothing is written before both are known to be there: d may be the row of the addresses. */
INLINE bool load_halves(warp *w, const op *o, space where, bool low_rises, bool high_rises)
{
    uint32_t *d = row(w, o->d);
    const uint8_t *low = reach(w, o, where, low_rises, 0, HALF);
    const uint8_t *high = reach(w, o, where, high_rises, HALF, HALF);
    if (!low || !high) return false;
    copy(d, low, low_rises, HALF);
    copy(d + HALF, high, high_rises, HALF);
    return true;
}

INLINE bool load_words(warp *w, const op *o, space where)
{
    if (!is_all(active(w, o))) return false;
    const void *a = row(w, o->a);
    uint8_t *s = &w->shapes[o->shape];
    if (!o->shape_known) *s = where == SPACE_GLOBAL ? shape_of_64(a) : shape_of_32(a);
    if (*s == SAME) return load_whole(w, o, where, false);
    if (*s == RISING) return load_whole(w, o, where, true);
    if (*s == TWICE) return load_twice(w, o, where);
    if (*s == SCATTERED) return false;
    if (*s == HALVES) return load_halves(w, o, where, false, false);
    return load_halves(w, o, where, (*s - HALVES) & 1, (*s - HALVES) & 2);
}

const op *run_load_global_word(warp *w, const op *o)
{
    return load_words(w, o, SPACE_GLOBAL) ? o + 1 : run_load_global(w, o);
}

const op *run_load_shared_word(warp *w, const op *o)
{
    return load_words(w, o, SPACE_SHARED) ? o + 1 : run_load_shared(w, o);
}

/* ---- which loads may rely on a note ---------------------------------------------------------- */

/* After these another path of the warp may have run, and noted other shapes. */
static bool may_leave(const op *o)
{
    static handler *const handlers[] = {
        run_join,     run_branch,   run_jump_table,    run_call,           run_return,
        run_exit,     run_barrier,  run_warp_sync,     run_shuffle,        run_vote,
        run_match,    run_redux,    run_fragment_load, run_fragment_store, run_multiply,
        run_ldmatrix, run_movmatrix};
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        if (o->run == handlers[i]) return true;
    }
    return false;
}

static bool writes(draft *x, uint32_t reg)
{
    use u;
    for (uint32_t k = 0; next_use(x, &k, &u);) {
        if (u.writes && *u.where == reg) return true;
    }
    return false;
}

static bool is_uniform(const draft *x, field f, const bool *uniform)
{
    operand source = (&x->op.d)[f];
    return x->reads >> f & 1 ? uniform[source] : source >> 30 != BANK_WARP;
}

static bool makes_uniform(const draft *x, const bool *uniform)
{
    bool parameter = x->op.is_load && x->op.space == SPACE_PARAM && !(x->reads >> FIELD_A & 1);
    if (x->op.guard || !(parameter || rule_runs(x->op.run))) return false;
    for (int f = FIELD_A; f <= FIELD_E; f++) {
        if (!is_uniform(x, (field)f, uniform)) return false;
    }
    return true;
}

/* Registers that hold one value for all lanes that have it: written once, by an operation of the
 * tables whose sources are constants, the same in a block, or such registers; or parameters. */
static bool *uniform_registers(const decoder *d)
{
    bool *uniform = arena_take(d->arena, d->registers + 1);
    uint8_t *written = arena_take(d->arena, d->registers + 1);
    memset(uniform, 0, d->registers + 1);
    memset(written, 0, d->registers + 1);
    for (uint32_t i = 0; i < d->count; i++) {
        use u;
        for (uint32_t k = 0; next_use(&d->drafts[i], &k, &u);) {
            uint8_t *times = &written[*u.where];
            if (u.writes && *times < 2) ++*times;
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < d->count; i++) {
            const draft *x = &d->drafts[i];
            uint32_t to = x->op.d;
            if (!(x->writes >> FIELD_D & 1) || written[to] != 1 || uniform[to]) continue;
            if (!makes_uniform(x, uniform)) continue;
            uniform[to] = more = true;
        }
    }
    return uniform;
}

/* The registers whose addresses have the shape of a note: up to ALIASES, the others do without. */
enum { ALIASES = 4 };

typedef struct owners {
    uint32_t reg[SHAPES][ALIASES]; /* 0: nobody */
    uint32_t oldest;
} owners;

static uint32_t find_shape(const owners *o, uint32_t reg)
{
    for (uint32_t i = 0; i < SHAPES; i++) {
        for (uint32_t k = 0; k < ALIASES; k++) {
            if (o->reg[i][k] == reg) return i;
        }
    }
    return SHAPES;
}

static void add_owner(owners *o, uint32_t shape, uint32_t reg)
{
    for (uint32_t k = 0; k < ALIASES; k++) {
        if (o->reg[shape][k]) continue;
        o->reg[shape][k] = reg;
        return;
    }
}

static void assign_shape(draft *x, owners *o)
{
    uint32_t i = find_shape(o, x->op.a);
    x->op.shape_known = i < SHAPES;
    if (i == SHAPES) {
        i = o->oldest++ % SHAPES;
        memset(o->reg[i], 0, sizeof o->reg[i]);
        add_owner(o, i, x->op.a);
    }
    x->op.shape = (uint8_t)i;
}

/* The note that the result of this operation shares, or SHAPES. */
static uint32_t moved_shape(const draft *x, const owners *o, const bool *uniform)
{
    static const char *const names[] = {"add.s32", "add.s64"};
    bool adds = false;
    for (int i = 0; i < 2; i++) adds |= x->op.run == rule_find(names[i])->run;
    if (!adds || x->op.guard) return SHAPES;
    bool a = x->reads >> FIELD_A & 1, b = x->reads >> FIELD_B & 1;
    if (a && is_uniform(x, FIELD_B, uniform)) return find_shape(o, x->op.a);
    if (b && is_uniform(x, FIELD_A, uniform)) return find_shape(o, x->op.b);
    return SHAPES;
}

void mark_shapes(decoder *d)
{
    owners o = {.oldest = 0};
    const bool *uniform = uniform_registers(d);
    for (uint32_t i = 0; i < d->count; i++) {
        draft *x = &d->drafts[i];
        bool word = x->op.run == run_load_global_word || x->op.run == run_load_shared_word;
        bool plain = x->reads >> FIELD_A & 1 && !x->op.guard;
        if (may_leave(&x->op)) memset(o.reg, 0, sizeof o.reg);
        if (word && plain) assign_shape(x, &o);
        if (word && !plain) x->op.shape = SHAPES;
        uint32_t moved = moved_shape(x, &o, uniform);
        for (uint32_t k = 0; k < SHAPES * ALIASES; k++) {
            uint32_t *owner = &o.reg[0][0] + k;
            if (*owner && writes(x, *owner)) *owner = 0;
        }
        if (moved < SHAPES) add_owner(&o, moved, x->op.d);
    }
}
