/*
 * stride_class.c: which loads of words may rely on what an earlier one found out about the stride
 * class of their addresses.
 *
 * Interface
 *   mark_stride_classes     for decode.c
 *
 * A note holds until the register changes. To add what is equal in all lanes moves a stride class:
 * the sum shares the note, in whatever order the two are used. Where the group may be left, the
 * warp itself knows which of its notes still hold (warp.noted). So they outlast barriers, and also
 * the way back to the start of a loop without branches inside, if the register has the same note
 * there: the branch then skips the operation at the start, which forgets all notes when the loop is
 * entered.
 */
#include "decode.h"

/* After these another group of the warp may have run, and noted other stride classes. */
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
    if (x->op.guard || !(parameter || rule_of(x->op.run))) return false;
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

/* The registers whose addresses have the stride class of a note: up to ALIASES, the others do
 * without. */
enum { ALIASES = 8 };

typedef enum state {
    NOTE_MISSING, /* no load has made it yet */
    NOTE_KEPT,    /* there, if the warp has it */
    NOTE_THERE,
} state;

typedef struct notes {
    uint32_t reg[STRIDES][ALIASES]; /* 0: nobody */
    state state[STRIDES];
    uint32_t oldest;
} notes;

static uint32_t find_note(const notes *n, uint32_t reg)
{
    for (uint32_t i = 0; i < STRIDES; i++) {
        for (uint32_t k = 0; k < ALIASES; k++) {
            if (n->reg[i][k] == reg) return i;
        }
    }
    return STRIDES;
}

static bool has_owner(const notes *n, uint32_t note)
{
    for (uint32_t k = 0; k < ALIASES; k++) {
        if (n->reg[note][k]) return true;
    }
    return false;
}

static void add_owner(notes *n, uint32_t note, uint32_t reg)
{
    for (uint32_t k = 0; k < ALIASES; k++) {
        if (n->reg[note][k]) continue;
        n->reg[note][k] = reg;
        return;
    }
}

/* The note of a register; a new one takes the place of one without owners, or of the oldest. */
static uint32_t note_of(notes *n, uint32_t reg)
{
    uint32_t i = find_note(n, reg);
    if (i < STRIDES) return i;
    for (i = 0; i < STRIDES && has_owner(n, i); i++)
        ;
    if (i == STRIDES) i = n->oldest++ % STRIDES;
    memset(n->reg[i], 0, sizeof n->reg[i]);
    n->state[i] = NOTE_MISSING;
    add_owner(n, i, reg);
    return i;
}

static void assign_stride(draft *x, notes *n)
{
    uint32_t i = note_of(n, x->op.a);
    x->op.stride = (uint8_t)i;
    x->op.stride_known = n->state[i] == NOTE_THERE;
    x->op.stride_kept = n->state[i] == NOTE_KEPT;
    n->state[i] = NOTE_THERE;
}

static bool loads_word(const draft *x)
{
    return x->op.run == run_load_global_word || x->op.run == run_load_shared_word;
}

static bool has_plain_address(const draft *x)
{
    return x->reads >> FIELD_A & 1 && !x->op.guard;
}

typedef struct marking {
    decoder *decoder;
    const bool *uniform;
    bool *address; /* registers that hold the address of some load of words */
    /* In a loop, by register: */
    uint32_t *root; /* whose value at the start this is, moved; 0: nobody's */
    bool *steady;   /* a round of the loop only moves it */
    bool *fresh;    /* written once in a round, and not read before */
} marking;

static bool adds(const draft *x)
{
    return !x->op.guard &&
           (x->op.run == rule_find("add.s32")->run || x->op.run == rule_find("add.s64")->run);
}

/* The register to which an addition adds what is equal in all lanes, or 0. */
static uint32_t moved_register(const marking *m, const draft *x)
{
    if (!adds(x)) return 0;
    bool a = x->reads >> FIELD_A & 1, b = x->reads >> FIELD_B & 1;
    if (a && is_uniform(x, FIELD_B, m->uniform)) return x->op.a;
    return b && is_uniform(x, FIELD_A, m->uniform) ? x->op.b : 0;
}

static bool drifts(const marking *m, const draft *x, field f)
{
    if (!(x->reads >> f & 1)) return false;
    uint32_t root = m->root[(&x->op.d)[f]];
    return root && m->steady[root];
}

/* The note that the result of this operation shares, or STRIDES. A sum of registers that a round of
 * the loop only moves is the sum of the round before, moved. */
static uint32_t moved_shape(const marking *m, const draft *x, notes *n)
{
    uint32_t from = moved_register(m, x), to = x->op.d;
    if (from) return m->address[to] ? note_of(n, from) : find_note(n, from);
    bool again = adds(x) && m->fresh[to] && drifts(m, x, FIELD_A) && drifts(m, x, FIELD_B);
    return again ? find_note(n, to) : STRIDES;
}

static void forget_written(draft *x, notes *n)
{
    for (uint32_t k = 0; k < STRIDES * ALIASES; k++) {
        uint32_t *owner = &n->reg[0][0] + k;
        if (*owner && writes(x, *owner)) *owner = 0;
    }
}

static void move_root(const marking *m, draft *x)
{
    uint32_t from = moved_register(m, x), root = from ? m->root[from] : 0;
    use u;
    for (uint32_t k = 0; next_use(x, &k, &u);) {
        if (u.writes) m->root[*u.where] = 0;
    }
    if (from) m->root[x->op.d] = root;
}

static void mark_draft(const marking *m, draft *x, notes *n)
{
    if (x->op.run == run_join) memset(n->reg, 0, sizeof n->reg);
    for (uint32_t i = 0; may_leave(&x->op) && i < STRIDES; i++) {
        if (n->state[i] == NOTE_THERE) n->state[i] = NOTE_KEPT;
    }
    if (loads_word(x)) {
        if (has_plain_address(x))
            assign_stride(x, n);
        else
            x->op.stride = STRIDES;
    }
    uint32_t moved = moved_shape(m, x, n);
    forget_written(x, n);
    if (moved < STRIDES) add_owner(n, moved, x->op.d);
    move_root(m, x);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* The branch that closes the loop that starts at this draft, with no other leader inside; or 0. */
static uint32_t find_end(const decoder *d, uint32_t start)
{
    const char *label = d->drafts[start].leader ? d->drafts[start].label : NULL;
    for (uint32_t i = start + 1; label && i < d->count && !d->drafts[i].leader; i++) {
        const draft *x = &d->drafts[i];
        if (x->op.run == run_branch && !strcmp(x->label, label)) return i;
    }
    return 0;
}

static void reset_roots(const marking *m)
{
    for (uint32_t r = 0; r <= m->decoder->registers; r++) m->root[r] = r;
}

/* What a round of the loop does to each register. */
static void study_loop(const marking *m, uint32_t start, uint32_t end)
{
    uint32_t registers = m->decoder->registers;
    bool *touched = arena_take(m->decoder->arena, registers + 1);
    memset(touched, 0, registers + 1);
    memset(m->fresh, 0, registers + 1);
    reset_roots(m);
    for (uint32_t i = start; i <= end; i++) {
        draft *x = &m->decoder->drafts[i];
        use u;
        for (uint32_t k = 0; next_use(x, &k, &u);) {
            if (u.reads && !m->fresh[*u.where]) touched[*u.where] = true;
        }
        for (uint32_t k = 0; next_use(x, &k, &u);) {
            if (!u.writes) continue;
            m->fresh[*u.where] = !touched[*u.where];
            touched[*u.where] = true;
        }
        move_root(m, x);
    }
    for (uint32_t r = 0; r <= registers; r++) m->steady[r] = r && m->root[r] == r;
}

/* One owner for each note that a load has made: before the first round, owners need not be alike.
 */
static void choose_owners(const marking *m, notes *n)
{
    for (uint32_t i = 0; i < STRIDES; i++) {
        uint32_t best = 0;
        for (uint32_t k = 0; k < ALIASES && n->state[i] != NOTE_MISSING; k++) {
            uint32_t reg = n->reg[i][k];
            if (reg && (!best || (m->steady[reg] && !m->steady[best]))) best = reg;
        }
        memset(n->reg[i], 0, sizeof n->reg[i]);
        n->reg[i][0] = best;
        n->state[i] = NOTE_KEPT;
    }
}

/* Drop owners that are not what they were when the round has ended. @return whether there were any.
 */
static bool drop_changed(notes *n, const notes *end)
{
    bool dropped = false;
    for (uint32_t i = 0; i < STRIDES; i++) {
        if (!n->reg[i][0]) continue;
        bool holds = find_note(end, n->reg[i][0]) == i && end->state[i] != NOTE_MISSING;
        dropped |= !holds;
        if (!holds) n->reg[i][0] = 0;
    }
    return dropped;
}

static void mark_round(const marking *m, uint32_t start, uint32_t end, notes *n)
{
    reset_roots(m);
    for (uint32_t i = start; i <= end; i++) mark_draft(m, &m->decoder->drafts[i], n);
}

/* What holds at the end of the loop, whatever round it is, holds at its start. Before the first
 * round the warp has no notes. */
static void mark_loop(const marking *m, uint32_t start, uint32_t end)
{
    notes at_start = {.oldest = 0}, at_end = at_start;
    study_loop(m, start, end);
    mark_round(m, start, end, &at_end);
    at_start = at_end;
    choose_owners(m, &at_start);
    do {
        at_end = at_start;
        mark_round(m, start + 1, end, &at_end);
    } while (drop_changed(&at_start, &at_end));
    for (uint32_t i = 0; i < STRIDES; i++)
        m->decoder->drafts[end].op.closes |= has_owner(&at_start, i);
}

/* Outside of loops nothing drifts. */
static void leave_loop(const marking *m, notes *n)
{
    memset(n->reg, 0, sizeof n->reg);
    memset(m->fresh, 0, m->decoder->registers + 1);
}

static marking start_marking(decoder *d)
{
    size_t count = d->registers + 1;
    marking m = {.decoder = d, .uniform = uniform_registers(d)};
    m.root = arena_take(d->arena, count * sizeof *m.root);
    m.address = arena_take(d->arena, count);
    m.steady = arena_take(d->arena, count);
    m.fresh = arena_take(d->arena, count);
    memset(m.address, 0, count);
    memset(m.fresh, 0, count);
    reset_roots(&m);
    for (uint32_t i = 0; i < d->count; i++) {
        const draft *x = &d->drafts[i];
        if (loads_word(x) && has_plain_address(x)) m.address[x->op.a] = true;
    }
    return m;
}

void mark_stride_classes(decoder *d)
{
    notes n = {.oldest = 0};
    marking m = start_marking(d);
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t end = find_end(d, i);
        if (end) {
            mark_loop(&m, i, end);
            leave_loop(&m, &n);
            i = end;
        } else {
            mark_draft(&m, &d->drafts[i], &n);
        }
    }
}
