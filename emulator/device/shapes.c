/*
 * shapes.c: which loads of words may rely on what an earlier one found out about the shape of their
 * addresses.
 *
 * Interface
 *   mark_shapes     for decode.c
 *
 * A note holds until the register changes or the path may be left. To add what is equal in all
 * lanes moves a shape: the sum shares the note.
 */
#include "decode.h"

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
