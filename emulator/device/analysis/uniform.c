/*
 * uniform.c: which stores write one and the same value, whichever thread executes them?
 *
 * Interface
 *   mark_uniform        for decode.c: sets op.uniform of such stores to global memory
 *
 * The value is computed from constants and parameters of the kernel alone, in registers that have
 * one definition each: `seen = 1`, `level[to] = now + 1`. A thread that reads such memory meanwhile
 * sees the old value or that one (global_race.c).
 */
#include "device/base/arena.h"
#include "device/ops/rules.h"
#include "analysis.h"

enum { NONE = -1, SEVERAL = -2, DEPTH = 8 };

typedef struct definitions {
    const decoder *decoder;
    int *of; /* by register: the draft, or NONE, or SEVERAL */
} definitions;

static bool is_uniform(const definitions *s, const draft *x, int depth);

static bool is_uniform_field(const definitions *s, const draft *x, int f, int depth)
{
    operand r = (&x->op.d)[f];
    if (!(x->reads >> f & 1)) return r >> 30 != BANK_BLOCK && r >> 30 != BANK_WARP;
    return depth && s->of[r] >= 0 && is_uniform(s, &s->decoder->drafts[s->of[r]], depth - 1);
}

static bool is_uniform(const definitions *s, const draft *x, int depth)
{
    bool parameter = x->op.is_load && x->op.space == SPACE_PARAM && s->decoder->from->kernel;
    if (parameter) return !(x->reads >> FIELD_A & 1);
    if (!rule_of(x->op.run == run_rounded ? x->op.inner : x->op.run)) return false;
    bool uniform = true;
    for (int f = FIELD_A; f <= FIELD_E && uniform; f++) uniform = is_uniform_field(s, x, f, depth);
    return uniform;
}

static void define(definitions *s, int i)
{
    const draft *x = &s->decoder->drafts[i];
    for (int f = FIELD_D; f <= FIELD_V2; f++) {
        if (!(x->writes >> f & 1)) continue;
        int *of = &s->of[(&x->op.d)[f]];
        *of = *of == NONE ? i : SEVERAL;
    }
}

void mark_uniform(decoder *d)
{
    definitions s = {d, arena_take(d->arena, (d->registers + 1) * sizeof(int))};
    for (uint32_t r = 0; r <= d->registers; r++) s.of[r] = NONE;
    for (uint32_t i = 0; i < d->count; i++) define(&s, (int)i);
    for (uint32_t i = 0; i < d->count; i++) {
        draft *x = &d->drafts[i];
        bool stores = x->accesses && !x->op.is_load && !x->op.is_atomic && !x->op.is_copy;
        if (!stores || x->op.strength != STRENGTH_PLAIN) continue;
        x->op.uniform = true;
        for (int k = 0; k < x->op.count; k++) x->op.uniform &= is_uniform_field(&s, x, k, DEPTH);
    }
}
