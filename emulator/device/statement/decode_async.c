/*
 * decode_async.c: asynchronous copies, the barriers in shared memory that wait for them, and cache
 * policies, which softgpu ignores.
 *
 * Interface
 *   decode_copy_async, decode_mbarrier, decode_policy
 */
#include "statement.h"

/* ---- cp.async -------------------------------------------------------------------------------- */

static bool decode_group(decoder *d)
{
    bool commit = has_part(d, "commit_group");
    draft x = start(d, commit ? run_copy_commit : run_copy_wait);
    x.op.variant = has_part(d, "wait_all");
    if (has_part(d, "wait_group")) {
        if (d->now->operands != 1 || d->now->operand[0].kind != PTX_NUMBER) return false;
        x.op.offset = (int64_t)(uint32_t)d->now->operand[0].number;
    }
    push(d, &x);
    return true;
}

/* The third number is how many bytes to read: all, as many as a register says, or none if a
 * predicate says so. */
static bool set_source_size(decoder *d, draft *x, const ptx_operand *o)
{
    if (!o) {
        set_constant(d, x, FIELD_C, x->op.size, 4);
    } else if (o->kind == PTX_REGISTER && d->width[o->reg] == PREDICATE) {
        uint32_t bytes = new_register(d, 4);
        draft choose = start(d, rule_find("selp.b32")->run);
        set_constant(d, &choose, FIELD_A, 0, 4);
        set_constant(d, &choose, FIELD_B, x->op.size, 4);
        set_read(d, &choose, FIELD_C, o, PREDICATE);
        set_register(&choose, FIELD_D, bytes, true);
        push(d, &choose);
        set_register(x, FIELD_C, bytes, false);
    } else {
        set_read(d, x, FIELD_C, o, 4);
    }
    return x->op.run != NULL;
}

static uint8_t address_width(const decoder *d, const ptx_operand *o)
{
    return o->kind == PTX_REGISTER && d->width[o->reg] == 4 ? 4 : 8;
}

/* cp.async.ca.shared.global [to], [from], 16 {, size or predicate} {, policy} */
static bool decode_copy(decoder *d)
{
    const ptx_statement *s = d->now;
    uint32_t operands = s->operands - has_part(d, "L2::cache_hint");
    if (operands < 3 || operands > 4 || s->operand[2].kind != PTX_NUMBER) return false;
    if (s->operand[0].kind != PTX_MEMORY || s->operand[1].kind != PTX_MEMORY) return false;
    draft x = start(d, run_copy_async);
    x.op.is_copy = true;
    x.accesses = true;
    x.op.size = (uint8_t)s->operand[2].number;
    x.op.count = 1;
    if (x.op.size != 4 && x.op.size != 8 && x.op.size != 16) return false;
    const ptx_operand *to = &s->operand[0].item[0], *from = &s->operand[1].item[0];
    x.op.narrow = address_width(d, to) == 4;
    set_read(d, &x, FIELD_A, to, address_width(d, to));
    set_read(d, &x, FIELD_B, from, 8);
    x.op.offset = (int64_t)s->operand[0].number;
    set_constant(d, &x, FIELD_E, s->operand[1].number, 8);
    if (!set_source_size(d, &x, operands > 3 ? &s->operand[3] : NULL)) return false;
    push(d, &x);
    return true;
}

bool decode_copy_async(decoder *d)
{
    if (has_part(d, "bulk")) return decode_bulk(d);
    if (d->parts < 2 || strcmp(d->part[1], "async")) return false;
    if (has_part(d, "mbarrier")) return decode_mbarrier(d);
    bool group =
        has_part(d, "commit_group") || has_part(d, "wait_group") || has_part(d, "wait_all");
    return group ? decode_group(d) : decode_copy(d);
}

/* ---- mbarrier -------------------------------------------------------------------------------- */

/* `at` is the operand that is the object; the count of arrivals, 1 if left out, comes after it. */
static bool push_mbarrier(decoder *d, draft *x, uint32_t at)
{
    const ptx_statement *s = d->now;
    if (s->operands <= at) return false;
    bool token = x->op.run == run_mbarrier && x->op.variant == MBARRIER_TEST;
    x->op.space = space_named(d);
    x->op.strength = x->op.run == run_mbarrier ? STRENGTH_ATOMIC : STRENGTH_PLAIN;
    if (!set_address(d, x, &s->operand[at])) return false;
    if (s->operands > at + 1)
        set_read(d, x, FIELD_B, &s->operand[at + 1], token ? 8 : 4);
    else
        set_constant(d, x, FIELD_B, x->op.variant != MBARRIER_COPIES || has_part(d, "noinc"), 4);
    push(d, x);
    return true;
}

static bool decode_mbarrier_test(decoder *d)
{
    draft x = start(d, run_mbarrier);
    x.op.variant = has_part(d, "parity") ? MBARRIER_PARITY : MBARRIER_TEST;
    if (d->now->operands < 3) return false; /* how long to try may follow */
    set_write(d, &x, FIELD_D, &d->now->operand[0], PREDICATE, false);
    return push_mbarrier(d, &x, 1);
}

static bool decode_mbarrier_count(decoder *d)
{
    if (d->now->operands != 2) return false;
    draft x = start(d, run_mbarrier_count);
    set_read(d, &x, FIELD_A, &d->now->operand[1], 8);
    set_write(d, &x, FIELD_D, &d->now->operand[0], 4, false);
    push(d, &x);
    return true;
}

/* What the object is told. */
static int kind_of(const decoder *d)
{
    const bool drops = has_part(d, "arrive_drop"), arrives = has_part(d, "arrive");
    if (!strcmp(d->part[0], "cp")) return MBARRIER_COPIES;
    if (has_part(d, "inval")) return MBARRIER_INVAL;
    if (has_part(d, "complete_tx")) return MBARRIER_COMPLETE;
    if (has_part(d, "expect_tx"))
        return drops ? MBARRIER_DROP_EXPECT : arrives ? MBARRIER_ARRIVE_EXPECT : MBARRIER_EXPECT;
    return drops ? MBARRIER_DROP : arrives ? MBARRIER_ARRIVE : -1;
}

static bool gives_token(int kind)
{
    return kind == MBARRIER_ARRIVE || kind == MBARRIER_ARRIVE_EXPECT || kind == MBARRIER_DROP ||
           kind == MBARRIER_DROP_EXPECT;
}

bool decode_mbarrier(decoder *d)
{
    if (has_part(d, "pending_count")) return decode_mbarrier_count(d);
    if (has_part(d, "test_wait") || has_part(d, "try_wait")) return decode_mbarrier_test(d);
    const bool init = has_part(d, "init");
    const int kind = kind_of(d);
    if (!init && kind < 0) return false;
    draft x = start(d, init ? run_mbarrier_init : run_mbarrier);
    if (!init) x.op.variant = (uint8_t)kind;
    const bool token = !init && gives_token(kind);
    if (token && d->now->operands) set_write(d, &x, FIELD_D, &d->now->operand[0], 8, false);
    return push_mbarrier(d, &x, token);
}

/* ---- policies -------------------------------------------------------------------------------- */

bool decode_policy(decoder *d)
{
    if (!d->now->operands) return false;
    draft x = start(d, rule_find("mov.b64")->run);
    set_constant(d, &x, FIELD_A, 0, 8);
    set_write(d, &x, FIELD_D, &d->now->operand[0], 8, false);
    push(d, &x);
    return true;
}
