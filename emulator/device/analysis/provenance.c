/*
 * provenance.c: from which parameter of the kernel does the address of an access come?
 *
 * Interface
 *   mark_origins        for decode.c: sets draft.origin of every access to global memory
 *
 * Registers that can hold an address have a set of origins: the parameters (or variables of the
 * module) whose values have gone into them by moves, additions, selections; whatever was loaded
 * from memory, returned or put together from halves has an unknown origin. All writes of a register
 * count, in any order. An error on either side is harmless: it can only leave an access unwatched.
 */
#include <stdlib.h>

#include "analysis.h"

typedef struct origins {
    const decoder *decoder;
    uint64_t *of; /* by register */
} origins;

static uint64_t constant_value(const module *m, operand r)
{
    uint64_t value;
    memcpy(&value, m->constants + (r & 0x3fffffff), sizeof value);
    return value;
}

/* Two equal words in a row look like one long one. */
static bool is_long(const module *m, operand r)
{
    for (uint32_t i = 0; i < m->constant_count; i++) {
        if (m->constant[i].offset == (r & 0x3fffffff)) return m->constant[i].width == 8;
    }
    return false;
}

static uint64_t origin_of_constant(const module *m, operand r)
{
    if (r >> 30 != BANK_CONSTANTS || (r & 0x3fffffff) + 8 > m->constant_bytes) return 0;
    bool address = constant_value(m, r) - DEVICE_BASE < DEVICE_BYTES;
    return address && is_long(m, r) ? ORIGIN_VARIABLE : 0;
}

static uint64_t origin_of_field(const origins *s, const draft *x, int f)
{
    operand r = (&x->op.d)[f];
    if (x->reads >> f & 1) return s->of[r];
    return x->writes >> f & 1 ? 0 : origin_of_constant(s->decoder->module, r);
}

/* Component k of a load of parameters at a known offset. */
static uint64_t origin_of_param(const origins *s, const draft *x, uint32_t k)
{
    if (x->reads >> FIELD_A & 1) return ORIGIN_UNKNOWN;
    uint64_t at = constant_value(s->decoder->module, x->op.a) + (uint64_t)x->op.offset + 8 * k;
    return at / 8 < ORIGIN_PARAMS ? UINT64_C(1) << at / 8 : ORIGIN_UNKNOWN;
}

static bool from_afar(const draft *x)
{
    return x->op.is_load || x->op.run == run_atomic || x->op.run == run_pack ||
           x->op.run == run_param_load || x->op.run == run_call;
}

static uint64_t origin_of_result(const origins *s, const draft *x, uint32_t k)
{
    bool parameter = x->op.is_load && x->op.space == SPACE_PARAM && s->decoder->from->kernel;
    if (parameter) return origin_of_param(s, x, k);
    if (from_afar(x)) return ORIGIN_UNKNOWN;
    uint64_t origin = 0;
    for (int f = FIELD_A; f <= FIELD_E; f++) origin |= origin_of_field(s, x, f);
    return origin;
}

static bool flow(origins *s)
{
    const decoder *d = s->decoder;
    bool changed = false;
    for (uint32_t i = 0; i < d->count; i++) {
        const draft *x = &d->drafts[i];
        for (uint32_t f = FIELD_D; f <= FIELD_V2; f++) {
            uint32_t reg = (&x->op.d)[f];
            if (!(x->writes >> f & 1) || d->width[reg] != 8) continue;
            uint64_t origin = s->of[reg] | origin_of_result(s, x, f);
            changed |= origin != s->of[reg];
            s->of[reg] = origin;
        }
    }
    return changed;
}

void mark_origins(decoder *d)
{
    origins s = {d, arena_take(d->arena, (d->registers + 1) * sizeof(uint64_t))};
    while (flow(&s)) continue;
    for (uint32_t i = 0; i < d->count; i++) {
        draft *x = &d->drafts[i];
        bool global = x->op.space == SPACE_GLOBAL || x->op.space == SPACE_GENERIC;
        bool copies = x->op.run == run_copy_async;
        if (x->accesses) {
            x->origin = copies   ? origin_of_field(&s, x, FIELD_B)
                        : global ? origin_of_field(&s, x, FIELD_A)
                                 : 0;
        }
    }
}
