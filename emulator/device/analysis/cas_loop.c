/*
 * cas_loop.c: the read that opens a compare-and-swap loop.
 *
 * Interface
 *   mark_cas_loops        for decode.c
 *
 *     int old = *p, seen;
 *     do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);
 *
 * The first read is an ordinary one, in every textbook. It may see anything: it is a guess, which
 * the loop checks. So a load is taken for an atomic one when a compare-and-swap follows at the very
 * same address.
 */
#include "analysis.h"

static bool is_swap(const draft *x)
{
    static const char *const types[] = {"b16", "b32", "b64"};
    if (x->op.run != run_atomic) return false;
    for (int i = 0; i < 3; i++) {
        if (x->op.extra == (const void *)find_atomic("cas", types[i])) return true;
    }
    return false;
}

static bool is_sum(handler *run)
{
    return run == rule_find("add.u64")->run || run == rule_find("add.s64")->run;
}

/* What alone writes a register, if it is a move or adds a constant, as conversions between address
 * spaces do; or NULL. */
static const draft *source_of(const decoder *d, uint32_t reg)
{
    const draft *only = NULL;
    for (uint32_t i = 0; i < d->count; i++) {
        const draft *x = &d->drafts[i];
        if (!(x->writes >> FIELD_D & 1) || x->op.d != reg) continue;
        if (only || x->op.guard) return NULL;
        only = x;
    }
    if (!only) return NULL;
    handler *run = only->op.run;
    if (run == rule_find("mov.b32")->run || run == rule_find("mov.b64")->run ||
        run == rule_find("cvt.u64.u32")->run)
        return only;
    bool adds = is_sum(run) && !(only->reads >> FIELD_B & 1);
    return adds && only->op.b >> 30 == BANK_CONSTANTS ? only : NULL;
}

static uint64_t constant_value(const decoder *d, operand r, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, d->module->constants + (r & 0x3fffffff), bytes);
    return value;
}

/** A generic address: a register, 0 for none, and a sum of constants. */
typedef struct address {
    bool known;
    uint32_t reg;
    uint64_t sum;
} address;

enum { MOST_STEPS = 8 }; /* moves and sums in a row */

static address address_of(const decoder *d, const draft *access)
{
    address a = {.sum = window_of(access->op.space) + (uint64_t)access->op.offset};
    const draft *x = access;
    uint32_t bytes = access->op.narrow ? 4 : 8;
    for (int i = 0; i < MOST_STEPS && x->reads >> FIELD_A & 1; i++) {
        a.reg = x->op.a;
        bytes = d->width[a.reg];
        const draft *next = source_of(d, a.reg);
        a.known = !next;
        if (!next) return a;
        if (is_sum(next->op.run)) a.sum += constant_value(d, next->op.b, 8);
        x = next;
    }
    if (x->reads >> FIELD_A & 1 || x->op.a >> 30 != BANK_CONSTANTS) return a;
    a.sum += constant_value(d, x->op.a, x == access ? 8 : bytes);
    a.reg = 0;
    a.known = true;
    return a;
}

static bool is_guess_of(const decoder *d, const draft *load, const draft *swap)
{
    bool like = load->op.is_load && load->op.strength == STRENGTH_PLAIN &&
                load->op.space != SPACE_PARAM && load->op.size == swap->op.size;
    if (!like) return false;
    address a = address_of(d, load), b = address_of(d, swap);
    return a.known && b.known && a.reg == b.reg && a.sum == b.sum;
}

void mark_cas_loops(decoder *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        if (!is_swap(&d->drafts[i])) continue;
        for (uint32_t k = 0; k < i; k++) {
            op *o = &d->drafts[k].op;
            if (!is_guess_of(d, &d->drafts[k], &d->drafts[i])) continue;
            o->strength = STRENGTH_ATOMIC;
            if (o->space == SPACE_SHARED) o->run = run_load;
        }
    }
}
