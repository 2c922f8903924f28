/*
 * decode_control.c: statements that steer lanes or let them exchange values.
 *
 * Interface
 *   decode_branch, decode_jump_table, decode_return, decode_exit, decode_barrier, decode_fence,
 *   decode_shuffle, decode_elect, decode_vote, decode_match, decode_redux, decode_active_mask,
 * decode_trap, decode_nothing
 */
#include "device/tensor/tensor.h"
#include "statement.h"

static bool push_simple(decoder *d, handler *run)
{
    draft x = start(d, run);
    push(d, &x);
    return true;
}

bool decode_nothing(decoder *d)
{
    (void)d;
    return true;
}

bool decode_trap(decoder *d)
{
    return push_simple(d, run_trap);
}

bool decode_exit(decoder *d)
{
    return push_simple(d, run_exit);
}

bool decode_branch(decoder *d)
{
    if (d->now->operands != 1 || d->now->operand[0].kind != PTX_SYMBOL) return false;
    draft x = start(d, run_branch);
    x.label = d->now->operand[0].name;
    push(d, &x);
    return true;
}

/* In a device function every `ret` goes to the one at its end, labelled "", where lanes meet. */
bool decode_return(decoder *d)
{
    if (d->to->kernel) return decode_exit(d);
    draft x = start(d, run_branch);
    x.label = "";
    push(d, &x);
    return true;
}

bool decode_jump_table(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands != 2 || s->guarded || s->operand[1].kind != PTX_SYMBOL) return false;
    draft x = start(d, run_jump_table);
    for (uint32_t i = 0; i < d->from->lists; i++) {
        if (!strcmp(d->from->list[i].name, s->operand[1].name)) x.list = &d->from->list[i];
    }
    if (!x.list || x.list->labels == 0) return false;
    set_read(d, &x, FIELD_A, &s->operand[0], 4);
    push(d, &x);
    return true;
}

/* ---- barriers -------------------------------------------------------------------------------- */

static bool decode_reducing_barrier(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands < 3) return false;
    const ptx_operand *predicate = &s->operand[s->operands - 1];
    draft x = start(d, run_barrier);
    x.op.variant = has_part(d, "popc")  ? BARRIER_POPC
                   : has_part(d, "and") ? BARRIER_AND
                                        : BARRIER_OR;
    set_read(d, &x, FIELD_A, &s->operand[1], 4);
    if (s->operands > 3) set_read(d, &x, FIELD_B, &s->operand[2], 4);
    set_read(d, &x, FIELD_C, predicate, PREDICATE);
    bool counts = x.op.variant == BARRIER_POPC;
    set_write(d, &x, FIELD_D, &s->operand[0], counts ? 4 : PREDICATE, false);
    push(d, &x);
    return true;
}

/* bar.sync a {, b}, bar.arrive a, b, bar.red.op d, a {, b}, p, bar.warp.sync mask */
bool decode_barrier(decoder *d)
{
    const ptx_statement *s = d->now;
    if (has_part(d, "cluster")) return decode_cluster_barrier(d);
    if (has_part(d, "red")) return decode_reducing_barrier(d);
    bool warp = has_part(d, "warp");
    draft x = start(d, warp ? run_warp_sync : run_barrier);
    if (s->operands < 1) return false;
    x.op.variant = has_part(d, "arrive") ? BARRIER_ARRIVE : BARRIER_SYNC;
    x.op.narrow = !strcmp(d->part[0], "barrier") && !has_part(d, "aligned");
    set_read(d, &x, FIELD_A, &s->operand[0], 4);
    if (s->operands > 1) set_read(d, &x, FIELD_B, &s->operand[1], 4);
    push(d, &x);
    return true;
}

bool decode_fence(decoder *d)
{
    const bool proxy = has_part(d, "proxy") && has_part(d, "async");
    draft x = start(d, proxy ? run_fence_proxy : run_fence);
    x.op.in_system = has_part(d, "sys");
    push(d, &x);
    return true;
}

/* ---- lanes talk ------------------------------------------------------------------------------ */

static void write_pair(decoder *d, draft *x, const ptx_operand *to, uint8_t width)
{
    bool pair = to->kind == PTX_PAIR;
    set_write(d, x, FIELD_D, pair ? &to->item[0] : to, width, false);
    if (pair) set_write(d, x, FIELD_V0, &to->item[1], PREDICATE, false);
}

/* shfl.sync.down.b32 d|p, a, b, c, members */
bool decode_shuffle(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands < 4) return false;
    draft x = start(d, run_shuffle);
    x.op.variant = has_part(d, "up")     ? SHUFFLE_UP
                   : has_part(d, "down") ? SHUFFLE_DOWN
                   : has_part(d, "bfly") ? SHUFFLE_XOR
                                         : SHUFFLE_INDEX;
    for (uint32_t i = 0; i < 3; i++) set_read(d, &x, FIELD_A + i, &s->operand[i + 1], 4);
    if (s->operands > 4)
        set_read(d, &x, FIELD_E, &s->operand[4], 4);
    else
        set_constant(d, &x, FIELD_E, ~UINT64_C(0), 4);
    write_pair(d, &x, &s->operand[0], 4);
    push(d, &x);
    return true;
}

/* elect.sync d|p, members */
bool decode_elect(decoder *d)
{
    if (d->now->operands != 2) return false;
    draft x = start(d, run_elect);
    set_read(d, &x, FIELD_A, &d->now->operand[1], 4);
    write_pair(d, &x, &d->now->operand[0], 4);
    push(d, &x);
    return true;
}

/* vote.sync.ballot.b32 d, p, members */
bool decode_vote(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands < 3) return false;
    draft x = start(d, run_vote);
    bool ballot = has_part(d, "ballot");
    x.op.variant = ballot               ? VOTE_BALLOT
                   : has_part(d, "all") ? VOTE_ALL
                   : has_part(d, "any") ? VOTE_ANY
                                        : VOTE_UNIFORM;
    set_read(d, &x, FIELD_A, &s->operand[1], PREDICATE);
    set_read(d, &x, FIELD_B, &s->operand[2], 4);
    set_write(d, &x, FIELD_D, &s->operand[0], ballot ? 4 : PREDICATE, false);
    push(d, &x);
    return true;
}

/* match.any.sync.b32 d, a, members; match.all.sync.b32 d|p, a, members */
bool decode_match(decoder *d)
{
    const ptx_statement *s = d->now;
    int bytes = type_size(last_part(d));
    if (s->operands < 3 || (bytes != 4 && bytes != 8)) return false;
    draft x = start(d, run_match);
    x.op.size = (uint8_t)bytes;
    x.op.variant = has_part(d, "all");
    set_read(d, &x, FIELD_A, &s->operand[1], (uint8_t)bytes);
    set_read(d, &x, FIELD_B, &s->operand[2], 4);
    write_pair(d, &x, &s->operand[0], 4);
    push(d, &x);
    return true;
}

/* redux.sync.add.u32 d, a, members */
bool decode_redux(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands < 3) return false;
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
    draft x = start(d, run_redux);
    for (uint8_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (has_part(d, names[i])) x.op.variant = i;
    }
    x.op.narrow = last_part(d)[0] == 's';
    if (last_part(d)[0] == 'f') return false;
    set_read(d, &x, FIELD_A, &s->operand[1], 4);
    set_read(d, &x, FIELD_B, &s->operand[2], 4);
    set_write(d, &x, FIELD_D, &s->operand[0], 4, false);
    push(d, &x);
    return true;
}

bool decode_active_mask(decoder *d)
{
    if (d->now->operands != 1) return false;
    draft x = start(d, run_active_mask);
    set_write(d, &x, FIELD_D, &d->now->operand[0], 4, false);
    push(d, &x);
    return true;
}
