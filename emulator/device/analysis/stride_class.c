/*
 * stride_class.c: which loads of words may rely on the stride class that an earlier one found for
 * their addresses.
 *
 * Interface
 *   mark_stride_classes     for decode.c
 *
 * Registers have a shape, a number: values of the same shape differ by one amount in all lanes, and
 * so do, of addresses, the stride classes not. Adding a value that is equal in all lanes keeps the
 * shape; sums of two shapes, and products of a shape and a constant, have a shape of their own,
 * always the same. A load notes the stride class for the shape of its address; later loads rely on
 * it.
 *
 * Where the group may be left, the warp itself knows which of its notes still hold (warp.noted). So
 * they outlast barriers, and also the way back to the start of a loop without branches inside, if
 * the shape is the same in each round: the branch then skips the operation at the start, which
 * forgets all notes when the loop is entered.
 *
 * An index of 32 bits may wrap around in some lanes when it moves, and widened to 64 bits it does
 * not: loads by such addresses look whether the ends of the warp still lie as noted (words.h).
 */
#include "analysis.h"

#include "device/ops/matrix.h"

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

/* ---- shapes ---------------------------------------------------------------------------------- */

typedef enum form {
    FORM_COPY,       /* of a */
    FORM_SUM,        /* a + b */
    FORM_DIFFERENCE, /* a - b */
    FORM_PRODUCT,    /* a * b */
    FORM_SHIFT,      /* a << b */
    FORM_MULTIPLY_ADD,
    FORM_CONVERT,
} form;

/* Operations whose results move when their sources do. */
static const struct {
    const char *rule;
    form form;
    bool widens, narrows;
} linears[] = {
    {"mov.b32", FORM_COPY, 0, 0},
    {"mov.b64", FORM_COPY, 0, 0},
    {"add.s32", FORM_SUM, 0, 0},
    {"add.u32", FORM_SUM, 0, 0},
    {"add.s64", FORM_SUM, 0, 0},
    {"add.u64", FORM_SUM, 0, 0},
    {"sub.s32", FORM_DIFFERENCE, 0, 0},
    {"sub.s64", FORM_DIFFERENCE, 0, 0},
    {"mul.lo.s32", FORM_PRODUCT, 0, 0},
    {"mul.lo.s64", FORM_PRODUCT, 0, 0},
    {"mul.wide.s32", FORM_PRODUCT, 1, 0},
    {"mul.wide.u32", FORM_PRODUCT, 1, 0},
    {"mad.lo.s32", FORM_MULTIPLY_ADD, 0, 0},
    {"mad.lo.s64", FORM_MULTIPLY_ADD, 0, 0},
    {"mad.wide.s32", FORM_MULTIPLY_ADD, 1, 0},
    {"mad.wide.u32", FORM_MULTIPLY_ADD, 1, 0},
    {"shl.b32", FORM_SHIFT, 0, 0},
    {"shl.b64", FORM_SHIFT, 0, 0},
    {"cvt.s64.s32", FORM_CONVERT, 1, 0},
    {"cvt.u64.u32", FORM_CONVERT, 1, 0},
    {"cvt.u32.u64", FORM_CONVERT, 0, 1},
};
enum { LINEARS = sizeof linears / sizeof *linears };

/* What a shape is made of. From SHAPE_LINEAR on: a place in `linears`, applied to a shape (a) and
 * an operand equal in all lanes (b). */
enum {
    SHAPE_START,   /* what register a holds at draft b */
    SHAPE_OTHER,   /* what draft a writes to register b */
    SHAPE_SPECIAL, /* special register a */
    SHAPE_SUM,     /* of the shapes a and b */
    SHAPE_LINEAR,
};
enum { NO_SHAPE, UNIFORM }; /* numbers; UNIFORM: equal in all lanes */

typedef struct shape {
    uint32_t kind, a, b;
    uint32_t next;    /* of the same hash */
    bool is_fleeting; /* another one in each round of the loop */
    bool is_widened;
} shape;

enum { BUCKETS = 1024 };

typedef struct marking {
    decoder *decoder;
    const bool *uniform;
    handler *linear[LINEARS];
    shape *shapes; /* by number */
    uint32_t count, bucket[BUCKETS];
    uint32_t *of;   /* by register; NO_SHAPE: what it was at `start` */
    uint32_t start; /* draft */
} marking;

static uint32_t find_shape(marking *m, uint32_t kind, uint32_t a, uint32_t b)
{
    uint32_t *bucket = &m->bucket[(kind + a * 31 + b * 0x9e3779b1u) >> 3 & (BUCKETS - 1)];
    for (uint32_t i = *bucket; i; i = m->shapes[i].next) {
        const shape *s = &m->shapes[i];
        if (s->kind == kind && s->a == a && s->b == b) return i;
    }
    m->shapes = arena_grow(m->decoder->arena, m->shapes, m->count, sizeof *m->shapes);
    m->shapes[m->count] = (shape){.kind = kind, .a = a, .b = b, .next = *bucket};
    return *bucket = m->count++;
}

static void forget_shapes(marking *m, uint32_t start)
{
    memset(m->of, 0, (m->decoder->registers + 1) * sizeof *m->of);
    m->start = start;
}

static uint32_t shape_of_register(marking *m, uint32_t reg)
{
    if (m->uniform[reg]) return UNIFORM;
    if (!m->of[reg]) m->of[reg] = find_shape(m, SHAPE_START, reg, m->start);
    return m->of[reg];
}

static uint32_t shape_of(marking *m, const draft *x, field f)
{
    operand source = (&x->op.d)[f];
    if (x->reads >> f & 1) return shape_of_register(m, source);
    return source >> 30 == BANK_WARP ? find_shape(m, SHAPE_SPECIAL, source, 0) : UNIFORM;
}

/* What may wrap around is in order; with something else added it need not be. */
static uint32_t shape_of_sum(marking *m, uint32_t a, uint32_t b)
{
    if (a == NO_SHAPE || b == NO_SHAPE) return NO_SHAPE;
    if (a == UNIFORM || b == UNIFORM) return a == UNIFORM ? b : a;
    if (m->shapes[a].is_widened || m->shapes[b].is_widened) return NO_SHAPE;
    return find_shape(m, SHAPE_SUM, a < b ? a : b, a < b ? b : a);
}

static uint32_t shape_of_linear(marking *m, uint32_t i, uint32_t a, uint32_t b)
{
    if (a == NO_SHAPE || a == UNIFORM) return a;
    bool widened = m->shapes[a].is_widened;
    if (widened && linears[i].widens) return NO_SHAPE;
    uint32_t result = find_shape(m, SHAPE_LINEAR + i, a, b);
    m->shapes[result].is_widened = (widened || linears[i].widens) && !linears[i].narrows;
    return result;
}

static uint32_t shape_of_product(marking *m, const draft *x, uint32_t i)
{
    if (is_uniform(x, FIELD_B, m->uniform))
        return shape_of_linear(m, i, shape_of(m, x, FIELD_A), x->op.b);
    if (!is_uniform(x, FIELD_A, m->uniform)) return NO_SHAPE;
    return shape_of_linear(m, i, shape_of(m, x, FIELD_B), x->op.a);
}

static uint32_t shape_of_result(marking *m, const draft *x)
{
    uint32_t i = 0, a = shape_of(m, x, FIELD_A), b = shape_of(m, x, FIELD_B);
    while (i < LINEARS && m->linear[i] != x->op.run) i++;
    if (i == LINEARS || x->op.guard) return NO_SHAPE;
    switch (linears[i].form) {
    case FORM_COPY: return a;
    case FORM_SUM: return shape_of_sum(m, a, b);
    case FORM_DIFFERENCE: return b == UNIFORM ? a : NO_SHAPE;
    case FORM_PRODUCT: return shape_of_product(m, x, i);
    case FORM_SHIFT:
        return is_uniform(x, FIELD_B, m->uniform) ? shape_of_linear(m, i, a, x->op.b) : NO_SHAPE;
    case FORM_MULTIPLY_ADD:
        return shape_of_sum(m, shape_of_product(m, x, i), shape_of(m, x, FIELD_C));
    case FORM_CONVERT: return shape_of_linear(m, i, a, 0);
    }
    return NO_SHAPE;
}

static void shape_results(marking *m, uint32_t i)
{
    draft *x = &m->decoder->drafts[i];
    uint32_t result = x->writes >> FIELD_D & 1 ? shape_of_result(m, x) : NO_SHAPE;
    use u;
    for (uint32_t k = 0; next_use(x, &k, &u);) {
        if (!u.writes) continue;
        bool known = u.where == &x->op.d && result != NO_SHAPE;
        m->of[*u.where] = known ? result : find_shape(m, SHAPE_OTHER, i, *u.where);
    }
}

/* ---- notes ----------------------------------------------------------------------------------- */

typedef enum state {
    NOTE_MISSING, /* no load has made it yet */
    NOTE_KEPT,    /* there, if the warp has it */
    NOTE_THERE,
} state;

typedef struct notes {
    uint32_t shape[STRIDES]; /* NO_SHAPE: unused */
    state state[STRIDES];
    uint32_t oldest;
} notes;

/* A new one takes the place of an unused one, or of the oldest. */
static uint32_t note_of(notes *n, uint32_t shape)
{
    for (uint32_t i = 0; i < STRIDES; i++)
        if (n->shape[i] == shape) return i;
    uint32_t i = 0;
    while (i < STRIDES && n->shape[i] != NO_SHAPE) i++;
    if (i == STRIDES) i = n->oldest++ % STRIDES;
    n->shape[i] = shape;
    n->state[i] = NOTE_MISSING;
    return i;
}

static void assign_stride(const marking *m, draft *x, notes *n, uint32_t shape)
{
    uint32_t i = note_of(n, shape);
    x->op.stride = (uint8_t)i;
    x->op.stride_known = n->state[i] == NOTE_THERE;
    x->op.stride_kept = n->state[i] == NOTE_KEPT;
    x->op.stride_ends = m->shapes[shape].is_widened;
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

static void mark_draft(marking *m, uint32_t i, notes *n)
{
    draft *x = &m->decoder->drafts[i];
    if (x->op.run == run_join) {
        *n = (notes){.oldest = 0};
        forget_shapes(m, i);
    }
    for (uint32_t k = 0; may_leave(&x->op) && k < STRIDES; k++) {
        if (n->state[k] == NOTE_THERE) n->state[k] = NOTE_KEPT;
    }
    if (loads_word(x)) {
        if (has_plain_address(x))
            assign_stride(m, x, n, shape_of(m, x, FIELD_A));
        else
            x->op.stride = STRIDES;
    }
    shape_results(m, i);
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

static bool passes(const marking *m, const shape *s, uint32_t number)
{
    if (s->kind == SHAPE_START) return m->of[s->a] != number;
    if (s->kind == SHAPE_OTHER) return true;
    if (s->kind == SHAPE_SPECIAL) return false;
    bool other = s->kind == SHAPE_SUM && m->shapes[s->b].is_fleeting;
    return other || m->shapes[s->a].is_fleeting;
}

/* Which shapes are the same in each round of the loop? Those of registers that end a round in the
 * shape in which they began it, and what is made of them. */
static void study_loop(marking *m, uint32_t start, uint32_t end)
{
    uint32_t first = m->count;
    forget_shapes(m, start);
    for (uint32_t i = start; i <= end; i++) {
        const draft *x = &m->decoder->drafts[i];
        if (loads_word(x)) shape_of(m, x, FIELD_A);
        shape_results(m, i);
    }
    for (uint32_t i = first; i < m->count; i++)
        m->shapes[i].is_fleeting = passes(m, &m->shapes[i], i);
}

static void mark_round(marking *m, uint32_t start, uint32_t end, notes *n)
{
    for (uint32_t i = start; i <= end; i++) mark_draft(m, i, n);
}

static bool holds(const marking *m, const notes *n, uint32_t i, const notes *end)
{
    return end->shape[i] == n->shape[i] && end->state[i] != NOTE_MISSING &&
           !m->shapes[n->shape[i]].is_fleeting;
}

/* Drop notes that do not hold when the round has ended. @return whether there were any. */
static bool drop_changed(const marking *m, notes *n, const notes *end)
{
    bool dropped = false;
    for (uint32_t i = 0; i < STRIDES; i++) {
        if (n->shape[i] == NO_SHAPE || holds(m, n, i, end)) continue;
        n->shape[i] = NO_SHAPE;
        n->state[i] = NOTE_MISSING;
        dropped = true;
    }
    return dropped;
}

/* What holds at the end of the loop, whatever round it is, holds at its start. Before the first
 * round the warp has no notes. */
static void mark_loop(marking *m, uint32_t start, uint32_t end)
{
    notes at_start, at_end = {.oldest = 0};
    study_loop(m, start, end);
    mark_round(m, start, end, &at_end);
    at_start = at_end;
    do {
        drop_changed(m, &at_start, &at_end);
        at_end = at_start;
        forget_shapes(m, start);
        mark_round(m, start + 1, end, &at_end);
    } while (drop_changed(m, &at_start, &at_end));
    for (uint32_t i = 0; i < STRIDES; i++)
        m->decoder->drafts[end].op.closes |= at_start.shape[i] != NO_SHAPE;
}

static marking *start_marking(decoder *d)
{
    marking *m = arena_take(d->arena, sizeof *m);
    m->decoder = d;
    m->uniform = uniform_registers(d);
    m->of = arena_take(d->arena, (d->registers + 1) * sizeof *m->of);
    for (uint32_t i = 0; i < LINEARS; i++) m->linear[i] = rule_find(linears[i].rule)->run;
    while (m->count <= UNIFORM) {
        m->shapes = arena_grow(d->arena, m->shapes, m->count, sizeof *m->shapes);
        m->shapes[m->count++] = (shape){.kind = SHAPE_SPECIAL};
    }
    forget_shapes(m, d->count);
    return m;
}

void mark_stride_classes(decoder *d)
{
    notes n = {.oldest = 0};
    marking *m = start_marking(d);
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t end = find_end(d, i);
        if (end) {
            mark_loop(m, i, end);
            n = (notes){.oldest = 0};
            forget_shapes(m, end);
            i = end;
        } else {
            mark_draft(m, i, &n);
        }
    }
}
