/*
 * instruction.c: a statement of PTX as the counters see it, and the counting operation before it.
 *
 * Interface
 *   add_count, settle_counts
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/counts/count.h"
#include "decode.h"
#include "device/ops/matrix.h"
#include "device/statement/statement.h"

/* ---- instructions
 * ----------------------------------------------------------------------------------- */

static uint32_t add_instruction(decoder *d, traffic traffic, bool executes)
{
    module *m = d->module;
    m->instructions = retake(m->instructions, (m->instruction_count + 1) * sizeof *m->instructions);
    instruction *s = &m->instructions[m->instruction_count];
    bool barrier = d->opcode->decode == decode_barrier;
    *s = (instruction){
        .line = d->now->place, .class = (uint8_t)opcode_class(d), .traffic = (uint8_t)traffic};
    snprintf(s->opcode, sizeof s->opcode, "%s", d->now->opcode);
    if (executes) s->operations = opcode_operations(d);
    if (executes) s->multiplications = opcode_multiplications(d);
    s->barrier = executes && barrier && !has_part(d, "warp");
    return m->instruction_count++;
}

/** How the access of a draft is counted. */
typedef struct access {
    handler *run;
    traffic traffic;
} access;

static bool moves_fragment(const draft *x)
{
    return x->op.run == run_fragment_load || x->op.run == run_fragment_store;
}

static bool is_texture(const draft *x)
{
    return x->op.run == run_texture;
}

static access access_of(const decoder *d, const draft *x)
{
    if (x->op.run == run_copy_async) return (access){run_count_async, TRAFFIC_GLOBAL_LOAD};
    if (x->op.run == run_ldmatrix) return (access){run_count_ldmatrix, TRAFFIC_SHARED_LOAD};
    if (is_texture(x)) return (access){run_count_texture, TRAFFIC_READ_ONLY};
    bool atomic = x->op.run == run_atomic;
    int kind = atomic ? 2 : x->op.is_load ? 0 : 1; /* in the order of `traffic` */
    switch (x->op.space) {
    case SPACE_GLOBAL:
        if (has_part(d, "const")) return (access){run_count_constant, TRAFFIC_CONSTANT};
        return (access){run_count_global, TRAFFIC_GLOBAL_LOAD + kind};
    case SPACE_SHARED: return (access){run_count_shared, TRAFFIC_SHARED_LOAD + kind};
    case SPACE_LOCAL: return (access){run_count_local, TRAFFIC_LOCAL_LOAD + kind};
    case SPACE_GENERIC: return (access){run_count_generic, TRAFFIC_GLOBAL_LOAD + kind};
    }
    return (access){run_count, TRAFFIC_NONE};
}

static uint32_t find_access(const decoder *d, uint32_t first)
{
    for (uint32_t i = first; i < d->count; i++) {
        const draft *x = &d->drafts[i];
        if (x->accesses || x->op.run == run_ldmatrix || moves_fragment(x) || is_texture(x))
            return i;
    }
    return d->count;
}

/* The same operands, but for those that hold values. */
static draft draft_like(const draft *x)
{
    draft y = *x;
    uint16_t addresses = 1u << FIELD_A | 1u << FIELD_GUARD;
    if (x->op.run == run_copy_async)
        addresses =
            1u << FIELD_A | 1u << FIELD_B | 1u << FIELD_C | 1u << FIELD_E | 1u << FIELD_GUARD;
    if (moves_fragment(x)) addresses |= 1u << FIELD_B;             /* the stride */
    if (is_texture(x)) addresses |= 1u << FIELD_B | 1u << FIELD_C; /* the coordinates */
    y.reads &= addresses;
    y.writes = 0;
    y.more_count = 0;
    y.accesses = false;
    y.op.is_load = false;
    y.op.variant = x->op.run == run_atomic ? PATTERN_ATOMIC
                   : x->op.is_load         ? PATTERN_LOAD
                                           : PATTERN_STORE;
    if (is_texture(x)) y.op.variant = x->op.variant;
    return y;
}

/* atom.shared.add.u32 r, [p], 1: a GPU counts the lanes of each word at once, if nobody reads r. */
static bool adds_one(const decoder *d, const draft *x)
{
    bool word = !strcmp(last_part(d), "u32") || !strcmp(last_part(d), "s32");
    const ptx_operand *value = &d->now->operand[d->now->operands - 1];
    return x->op.run == run_atomic && x->op.space == SPACE_SHARED && has_part(d, "add") && word &&
           value->kind == PTX_NUMBER && value->number == 1;
}

static draft count_access(decoder *d, const draft *x)
{
    draft y = draft_like(x);
    access how = access_of(d, x);
    bool generic = how.run == run_count_generic;
    y.op.used = adds_one(d, x);
    y.op.run = moves_fragment(x) ? run_count_fragment : how.run;
    y.op.instruction = add_instruction(d, how.traffic, true);
    if (!generic) return y;
    int kind = (int)how.traffic - TRAFFIC_GLOBAL_LOAD;
    add_instruction(d, y.op.variant == PATTERN_ATOMIC ? TRAFFIC_NONE : TRAFFIC_LOCAL_LOAD + kind,
                    false);
    add_instruction(d, TRAFFIC_SHARED_LOAD + kind, false);
    return y;
}

static bool is_read(const decoder *d, operand reg)
{
    for (uint32_t i = 0; i < d->count; i++) {
        const draft *x = &d->drafts[i];
        for (int f = FIELD_D; f < FIELDS; f++) {
            if (x->reads >> f & 1 && (&x->op.d)[f] == reg) return true;
        }
    }
    return false;
}

/* When all statements are known: an atomic follows its counting operation. */
void settle_counts(decoder *d)
{
    for (uint32_t i = 0; i + 1 < d->count; i++) {
        draft *x = &d->drafts[i];
        const draft *atomic = x + 1;
        if (x->op.run != run_count_shared || !x->op.used) continue;
        bool read = atomic->writes >> FIELD_D & 1 && is_read(d, atomic->op.d);
        if (!read) x->op.variant = PATTERN_STORE;
    }
}

static traffic bulk_traffic(const decoder *d)
{
    if (!has_part(d, "bulk") || !has_part(d, "global") || has_part(d, "prefetch"))
        return TRAFFIC_NONE;
    return has_part(d, "bulk_group") ? TRAFFIC_BULK_STORE : TRAFFIC_BULK_LOAD;
}

static draft count_other(decoder *d)
{
    bool branch = !strcmp(d->part[0], "bra");
    draft y = start(d, branch ? run_count_branch : run_count);
    if (branch) y.reads = 0, y.op.guard = 0;
    y.op.instruction = add_instruction(d, bulk_traffic(d), true);
    return y;
}

/* A bulk copy counts its traffic itself. */
static void name_bulk(decoder *d, uint32_t first, uint32_t instruction)
{
    if (!bulk_traffic(d)) return;
    for (uint32_t i = first; i < d->count; i++) d->drafts[i].op.instruction = instruction;
}

/* An access is counted right before it happens: what comes earlier computes its address. */
void add_count(decoder *d, uint32_t first)
{
    uint32_t at = find_access(d, first);
    bool access = at < d->count;
    draft x = access ? count_access(d, &d->drafts[at]) : count_other(d);
    if (!access) at = first;
    name_bulk(d, first, x.op.instruction);
    append(d, &x);
    memmove(&d->drafts[at + 1], &d->drafts[at], (d->count - 1 - at) * sizeof x);
    d->drafts[at] = x;
}
