/*
 * wgmma_flow.c: which operations touch registers that a wgmma still uses, or that it is to use and
 * no wgmma.fence stands before?
 *
 * Interface
 *   watch_wgmma        for decode.c: puts a check before each such operation
 *
 * A walk over all ways through the function, with a state for each register of a wgmma and each
 * copy of one: under way since so many groups, or written since the last fence. Where ways join,
 * the worse counts. So what is marked *may* be wrong; the check looks whether that way was taken.
 * A function without a wgmma is left as it is, and so is a right one.
 */
#include <stdlib.h>

#include "analysis.h"
#include "device/base/arena.h"
#include "device/tensor/tensor.h"

enum { NOBODY = 0, ENTRY = -1, MOST_AGE = 255, MOST_STATES = 1 << 22 };

/* Of a register: the wgmma that use it, a bit set by their numbers, the groups committed since the
 * latest; draft + 1 of who wrote it after the last fence. */
typedef struct state {
    uint64_t users;
    int32_t writer;
    uint8_t age;
    bool factor; /* it is one of A: who reads it does no harm */
} state;

typedef struct part {
    uint32_t first, last; /* drafts */
    state *in;
    bool reached, waits; /* to be looked at (again) */
} part;

typedef struct walk {
    decoder *decoder;
    uint32_t *number; /* by register: 1 + its number among those that count; 0: none */
    uint32_t numbers; /* the last one is no register's: written at the entry of the kernel */
    part *part;
    uint32_t parts, *part_of;
    state *now;
    touch **before, **behind; /* by draft: what is to be put there */
    bool marks;
} walk;

static bool is_wgmma(const draft *x)
{
    return x->op.run == run_wgmma;
}

static uint64_t bit_of(const draft *x)
{
    return UINT64_C(1) << ((const wgmma *)x->op.extra)->number % 64;
}

static bool moves(const draft *x)
{
    const rule *r = rule_of(x->op.run);
    return r && !strncmp(r->name, "mov.", 4);
}

static bool is_copy(const draft *x)
{
    return moves(x) && x->reads >> FIELD_A & 1 && !x->op.guard;
}

/* ---- registers ------------------------------------------------------------------------------- */

static bool count_register(walk *k, uint32_t reg)
{
    if (k->number[reg]) return false;
    k->number[reg] = ++k->numbers;
    return true;
}

static void find_registers(walk *k)
{
    decoder *d = k->decoder;
    uint8_t found = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        wgmma *m = (wgmma *)(uintptr_t)d->drafts[i].op.extra;
        if (!is_wgmma(&d->drafts[i])) continue;
        m->number = found++;
        for (uint32_t r = 0; r < m->d.registers; r++) count_register(k, m->row[r]);
        for (uint32_t r = 0; m->a_held && r < m->a.registers; r++)
            count_register(k, m->row[m->a.first + r]);
    }
    for (bool more = k->numbers > 0; more;) {
        more = false;
        for (uint32_t i = 0; i < d->count; i++) {
            const op *o = &d->drafts[i].op;
            if (is_copy(&d->drafts[i]) && k->number[o->a]) more |= count_register(k, o->d);
        }
    }
}

static state *state_of(const walk *k, uint32_t reg)
{
    return k->number[reg] ? &k->now[k->number[reg] - 1] : NULL;
}

/* ---- ways ------------------------------------------------------------------------------------ */

static bool ends(const draft *x)
{
    handler *run = x->op.run;
    return run == run_branch || run == run_jump_table || run == run_exit || run == run_return ||
           run == run_trap;
}

static void find_parts(walk *k)
{
    decoder *d = k->decoder;
    k->part_of = arena_take(d->arena, (d->count + 1) * sizeof *k->part_of);
    for (uint32_t i = 0; i < d->count; i++) {
        if (i == 0 || d->drafts[i].leader || ends(&d->drafts[i - 1])) {
            k->part = arena_grow(d->arena, k->part, k->parts, sizeof *k->part);
            k->part[k->parts++] = (part){.first = i};
        }
        k->part[k->parts - 1].last = i;
        k->part_of[i] = k->parts - 1;
    }
}

static part *part_at(const walk *k, const char *label)
{
    const decoder *d = k->decoder;
    for (uint32_t i = 0; label && i < d->count; i++) {
        const draft *x = &d->drafts[i];
        if (x->leader && x->label && !strcmp(x->label, label)) return &k->part[k->part_of[i]];
    }
    return NULL;
}

static bool worsen(state *to, const state *from)
{
    state before = *to;
    if (from->users && (!to->users || from->age < to->age)) to->age = from->age;
    if (from->users) to->factor = from->factor && (to->factor || !to->users);
    to->users |= from->users;
    if (!to->writer) to->writer = from->writer;
    return before.users != to->users || before.age != to->age || before.factor != to->factor ||
           before.writer != to->writer;
}

static void lead_to(walk *k, part *p)
{
    if (!p) return;
    bool changed = !p->reached;
    if (!p->in) p->in = arena_take(k->decoder->arena, k->numbers * sizeof *p->in);
    for (uint32_t i = 0; i < k->numbers; i++) changed |= worsen(&p->in[i], &k->now[i]);
    p->reached = true;
    p->waits |= changed;
}

static void lead_on(walk *k, const part *p)
{
    const draft *end = &k->decoder->drafts[p->last];
    bool through = !ends(end) || (end->op.guard && end->op.run != run_return);
    if (end->op.run == run_branch) lead_to(k, part_at(k, end->label));
    for (uint32_t i = 0; end->list && i < end->list->labels; i++)
        lead_to(k, part_at(k, end->list->label[i]));
    if (through && p + 1 < k->part + k->parts) lead_to(k, &k->part[p + 1 - k->part]);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static void put(walk *k, touch **list, uint32_t at, touch_kind kind, uint64_t users)
{
    decoder *d = k->decoder;
    if (!k->marks) return;
    for (touch *t = list[at]; t; t = t->next)
        if (t->kind == kind) return;
    touch *t = module_keep(d->module, sizeof *t);
    *t = (touch){.next = list[at], .kind = kind, .users = users};
    list[at] = t;
}

/* What the check before the wgmma is to find: its writer says so when it has written. */
static void mark_unfenced(walk *k, uint32_t i, const state *s)
{
    if (!s->writer) return;
    put(k, k->before, i, TOUCH_UNFENCED, 0);
    if (s->writer > 0) put(k, k->behind, (uint32_t)s->writer - 1, TOUCH_WRITTEN, 0);
}

/* ---- one operation --------------------------------------------------------------------------- */

static void take_register(walk *k, uint32_t i, uint32_t reg, bool factor)
{
    state *s = state_of(k, reg);
    mark_unfenced(k, i, s);
    if (s->users && factor && !s->factor) put(k, k->before, i, TOUCH_READ, s->users);
    s->users = bit_of(&k->decoder->drafts[i]);
    s->age = 0;
    s->factor = factor;
}

static void step_wgmma(walk *k, uint32_t i)
{
    const wgmma *m = k->decoder->drafts[i].op.extra;
    mark_unfenced(k, i, &k->now[k->numbers - 1]);
    for (uint32_t r = 0; r < m->d.registers; r++) take_register(k, i, m->row[r], false);
    for (uint32_t r = 0; m->a_held && r < m->a.registers; r++)
        take_register(k, i, m->row[m->a.first + r], true);
}

static void step_commit(walk *k)
{
    for (uint32_t i = 0; i < k->numbers; i++)
        if (k->now[i].users && k->now[i].age < MOST_AGE) k->now[i].age++;
}

static void step_wait(walk *k, uint64_t but)
{
    for (uint32_t i = 0; i < k->numbers; i++)
        if (k->now[i].users && k->now[i].age > but) k->now[i].users = 0;
}

static void step_fence(walk *k)
{
    for (uint32_t i = 0; i < k->numbers; i++) k->now[i].writer = NOBODY;
}

/* Where a number or another register goes to a sum, the compiler chooses: behind the fence, as
 * well.
 */
static void write_register(walk *k, uint32_t i, uint32_t reg)
{
    state *s = state_of(k, reg);
    if (!s) return;
    if (s->users) put(k, k->before, i, s->factor ? TOUCH_FACTOR : TOUCH_WRITE, s->users);
    *s = (state){.writer = moves(&k->decoder->drafts[i]) ? NOBODY : (int32_t)i + 1};
}

/* The assembler gives a copy the register of the original, so that it is none. */
static void step_copy(walk *k, uint32_t i)
{
    const op *o = &k->decoder->drafts[i].op;
    state *to = state_of(k, o->d), *from = state_of(k, o->a);
    if (!to || !from) {
        write_register(k, i, o->d);
        return;
    }
    if (to->users && to->users != from->users)
        put(k, k->before, i, to->factor ? TOUCH_FACTOR : TOUCH_WRITE, to->users);
    *to = *from;
}

static void step_other(walk *k, uint32_t i)
{
    draft *x = &k->decoder->drafts[i];
    use u;
    for (uint32_t n = 0; next_use(x, &n, &u);) {
        const state *s = u.reads ? state_of(k, *u.where) : NULL;
        if (s && s->users && !s->factor) put(k, k->before, i, TOUCH_READ, s->users);
    }
    for (uint32_t n = 0; next_use(x, &n, &u);)
        if (u.writes) write_register(k, i, *u.where);
}

static void step(walk *k, uint32_t i)
{
    const draft *x = &k->decoder->drafts[i];
    handler *run = x->op.run;
    if (is_wgmma(x))
        step_wgmma(k, i);
    else if (run == run_wgmma_commit)
        step_commit(k);
    else if (run == run_wgmma_wait)
        step_wait(k, (uint64_t)x->op.offset);
    else if (run == run_wgmma_fence)
        step_fence(k);
    else if (is_copy(x))
        step_copy(k, i);
    else
        step_other(k, i);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void walk_part(walk *k, part *p)
{
    p->waits = false;
    memcpy(k->now, p->in, k->numbers * sizeof *k->now);
    for (uint32_t i = p->first; i <= p->last; i++) step(k, i);
    if (!k->marks) lead_on(k, p);
}

static void walk_all(walk *k)
{
    k->now[k->numbers - 1].writer = k->decoder->to->kernel ? ENTRY : NOBODY;
    lead_to(k, &k->part[0]);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < k->parts; i++) {
            if (!k->part[i].waits) continue;
            walk_part(k, &k->part[i]);
            more = true;
        }
    }
    k->marks = true;
    for (uint32_t i = 0; i < k->parts; i++)
        if (k->part[i].reached) walk_part(k, &k->part[i]);
}

/* ---- checks in the code ---------------------------------------------------------------------- */

static void append_checks(decoder *d, const touch *t, const draft *of)
{
    for (; t; t = t->next) {
        draft x = {.op = {.run = run_touch, .line = of->op.line, .extra = t}, .target = -1};
        x.op.guard = of->op.guard;
        x.op.guard_negated = of->op.guard_negated;
        x.reads = of->reads & 1u << FIELD_GUARD;
        append(d, &x);
    }
}

static void insert(walk *k)
{
    decoder *d = k->decoder;
    draft *old = d->drafts;
    uint32_t count = d->count;
    d->drafts = NULL;
    d->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        append_checks(d, k->before[i], &old[i]);
        append(d, &old[i]);
        append_checks(d, k->behind[i], &old[i]);
    }
}

static bool has_wgmma(const decoder *d)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (is_wgmma(&d->drafts[i])) return true;
    return false;
}

void watch_wgmma(decoder *d)
{
    walk k = {.decoder = d};
    if (!has_wgmma(d)) return;
    k.number = arena_take(d->arena, (d->registers + 1) * sizeof *k.number);
    k.before = arena_take(d->arena, (d->count + 1) * sizeof *k.before);
    k.behind = arena_take(d->arena, (d->count + 1) * sizeof *k.behind);
    find_registers(&k);
    k.numbers++;
    find_parts(&k);
    if ((uint64_t)k.numbers * k.parts > MOST_STATES) return;
    k.now = arena_take(d->arena, k.numbers * sizeof *k.now);
    walk_all(&k);
    insert(&k);
}
