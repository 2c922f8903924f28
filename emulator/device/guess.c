/*
 * guess.c: the read that opens a compare-and-swap loop.
 *
 * Interface
 *   mark_guesses        for decode.c
 *
 *     int old = *p, seen;
 *     do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);
 *
 * The first read is an ordinary one, in every textbook. It may see anything: it is a guess, which
 * the loop checks. So a load is taken for an atomic one when a compare-and-swap follows at the very
 * same address.
 */
#include "decode.h"

static bool is_swap(const draft *x)
{
    static const char *const types[] = {"b16", "b32", "b64"};
    if (x->op.run != run_atomic) return false;
    for (int i = 0; i < 3; i++) {
        if (x->op.extra == (const void *)find_atomic("cas", types[i])) return true;
    }
    return false;
}

/* The move of a constant that alone writes a register, or NULL. */
static const draft *move_to(const decoder *d, uint32_t reg)
{
    const draft *only = NULL;
    for (uint32_t i = 0; i < d->count; i++) {
        const draft *x = &d->drafts[i];
        if (!(x->writes >> FIELD_D & 1) || x->op.d != reg) continue;
        if (only) return NULL;
        only = x;
    }
    bool moves = only && (only->op.run == rule_find("mov.b32")->run ||
                          only->op.run == rule_find("mov.b64")->run);
    return moves && !(only->reads >> FIELD_A & 1) ? only : NULL;
}

typedef struct address {
    bool constant;
    uint64_t base; /* a register, or the address of a variable */
} address;

static address address_of(const decoder *d, const draft *x)
{
    address a = {.base = x->op.a};
    uint32_t bytes = 8;
    operand from = x->op.a;
    if (x->reads >> FIELD_A & 1) {
        const draft *move = move_to(d, x->op.a);
        if (!move) return a;
        from = move->op.a;
        bytes = d->width[x->op.a];
    }
    if (from >> 30 != BANK_CONSTANTS) return a;
    a = (address){.constant = true};
    memcpy(&a.base, d->module->constants + (from & 0x3fffffff), bytes);
    return a;
}

static bool is_guess_of(const decoder *d, const draft *load, const draft *swap)
{
    bool like = load->op.is_load && load->op.strength == STRENGTH_PLAIN &&
                load->op.space == swap->op.space && load->op.size == swap->op.size &&
                load->op.offset == swap->op.offset;
    if (!like) return false;
    address a = address_of(d, load), b = address_of(d, swap);
    return a.constant == b.constant && a.base == b.base;
}

void mark_guesses(decoder *d)
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
