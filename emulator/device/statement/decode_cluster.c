/*
 * decode_cluster.c: statements that only blocks of a cluster need.
 *
 * Interface
 *   decode_cluster_barrier, decode_map, decode_rank_of
 */
#include "device/cluster/barrier.h"
#include "statement.h"

/* barrier.cluster.arrive {.release, .relaxed} {.aligned}, barrier.cluster.wait ... */
bool decode_cluster_barrier(decoder *d)
{
    bool arrives = has_part(d, "arrive");
    if (!arrives && !has_part(d, "wait")) return false;
    draft x = start(d, arrives ? run_cluster_arrive : run_cluster_wait);
    x.op.variant = has_part(d, "relaxed");
    d->to->asks_cluster = true;
    push(d, &x);
    return true;
}

static draft start_on_address(decoder *d, handler *run)
{
    draft x = start(d, run);
    x.op.size = (uint8_t)type_size(last_part(d));
    set_read(d, &x, FIELD_A, &d->now->operand[1], x.op.size);
    d->to->asks_cluster = true;
    return x;
}

/* mapa {.shared::cluster} .u64 d, address, rank */
bool decode_map(decoder *d)
{
    const ptx_statement *s = d->now;
    int bytes = type_size(last_part(d));
    if (s->operands != 3 || bytes < 4) return false;
    draft x = start_on_address(d, run_map);
    x.op.narrow = has_part(d, "shared::cluster");
    set_read(d, &x, FIELD_B, &s->operand[2], 4);
    set_write(d, &x, FIELD_D, &s->operand[0], x.op.size, false);
    push(d, &x);
    return true;
}

/* getctarank {.shared::cluster} .u64 d, address */
bool decode_rank_of(decoder *d)
{
    const ptx_statement *s = d->now;
    int bytes = type_size(last_part(d));
    if (s->operands != 2 || bytes < 4) return false;
    draft x = start_on_address(d, run_rank_of);
    x.op.narrow = has_part(d, "shared::cluster");
    set_write(d, &x, FIELD_D, &s->operand[0], 4, false);
    push(d, &x);
    return true;
}
