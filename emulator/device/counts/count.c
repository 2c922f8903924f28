/*
 * count.c: the counting operations of an instrumented copy: they count the work of the statement
 * that follows.
 *
 * Interface
 *   run_count            any statement; run_count_branch: one whose guard says where lanes go
 *   run_count_...        a statement that touches memory; its operands are those of the access
 *
 * They look at registers and never write.
 */
#include "count.h"
#include "device/base/cluster.h"
#include "device/trace/trace.h"

counters *count_executed(warp *w, const op *o, uint32_t mask)
{
    counters *t = &w->block->counters[o->instruction];
    t->executed++;
    if (++w->executed > w->block->longest) w->block->longest = w->executed;
    t->lanes += (uint32_t)__builtin_popcount(mask);
    if (__builtin_expect(w->block->trace != NULL, 0))
        trace_step(w->block, w->index, o->instruction, mask);
    return t;
}

const op *run_count(warp *w, const op *o)
{
    count_executed(w, o, active(w, o));
    return o + 1;
}

const op *run_count_branch(warp *w, const op *o)
{
    count_executed(w, o, w->mask);
    return o + 1;
}

/* ---- addresses ------------------------------------------------------------------------------- */

void count_addresses(const warp *w, const op *o, uint64_t address[LANES])
{
    const void *a = row(w, o->a);
    if (o->narrow) {
        const uint32_t *narrow = a;
        for (int i = 0; i < LANES; i++) address[i] = narrow[i] + (uint32_t)o->offset;
    } else {
        const uint64_t *wide = a;
        for (int i = 0; i < LANES; i++) address[i] = wide[i] + (uint64_t)o->offset;
    }
}

static void read_addresses(const warp *w, const op *o, uint32_t mask, pattern *p)
{
    p->mask = mask;
    p->bytes = (uint32_t)o->size * o->count;
    count_addresses(w, o, p->address);
}

static void add_request(const warp *w, counters *t, traffic what, const pattern *p, uint32_t units)
{
    if (__builtin_expect(w->block->trace != NULL, 0))
        trace_access(w->block, what, p->bytes, p->mask, units, p->address);
    t->requests++;
    t->units += units;
    t->bytes += (uint64_t)__builtin_popcount(p->mask) * p->bytes;
}

/* ---- spaces ---------------------------------------------------------------------------------- */

/* How often a block looks whether the others have come is chance, and no cost of the program. */
static void drop_meeting(pattern *p)
{
    for (uint32_t i = 0; i < LANES; i++) {
        if (p->address[i] - GRID_WINDOW < WINDOW_BYTES) p->mask &= ~(1u << i);
    }
}

static void count_atomics(block *b, const pattern *p)
{
    b->atomics += (uint64_t)__builtin_popcount(p->mask) * ((p->bytes + 3) / 4);
    if (b->atomics > b->most_atomics) b->most_atomics = b->atomics;
}

static void count_global(warp *w, counters *t, pattern *p, pattern_kind kind)
{
    uint64_t sector[LANES];
    if (w->block->launch->grid) drop_meeting(p);
    if (!p->mask) return;
    if (kind == PATTERN_ATOMIC) count_atomics(w->block, p);
    uint32_t n = pattern_sectors(p, sector);
    add_request(w, t, TRAFFIC_GLOBAL_LOAD + kind, p,
                kind == PATTERN_ATOMIC ? pattern_atomic_sectors(p) : n);
    counters_touch(w->block->device->counting, sector, n);
}

/* A GPU asks for local memory word by word. */
static void count_local(const warp *w, counters *t, const pattern *p, pattern_kind kind)
{
    if (!p->mask) return;
    add_request(w, t, TRAFFIC_LOCAL_LOAD + kind, p, pattern_local_sectors(p));
    if (p->bytes > 4) t->requests += p->bytes / 4 - 1;
}

/* Lanes that reach another block of the cluster are served there, and take no pass here. */
static pattern_passes own_banks(const block *b, pattern p, pattern_kind kind)
{
    for (uint32_t i = 0; b->cluster && i < LANES; i++) {
        if (rank_at(b, p.address[i]) != b->rank) p.mask &= ~(1u << i);
        p.address[i] = shared_offset(p.address[i]);
    }
    return p.mask ? pattern_banks(&p, kind) : (pattern_passes){0};
}

void count_banks(const warp *w, counters *t, const pattern *p, pattern_kind kind, traffic what)
{
    if (!p->mask) return;
    pattern_passes n = own_banks(w->block, *p, kind);
    add_request(w, t, what, p, n.wavefronts);
    t->least += n.least;
}

static void count_shared(const warp *w, counters *t, const pattern *p, pattern_kind kind)
{
    count_banks(w, t, p, kind, TRAFFIC_SHARED_LOAD + kind);
}

static pattern_kind kind_of(const op *o)
{
    return (pattern_kind)o->variant;
}

const op *run_count_global(warp *w, const op *o)
{
    pattern p;
    uint32_t mask = active(w, o);
    read_addresses(w, o, mask, &p);
    count_global(w, count_executed(w, o, mask), &p, kind_of(o));
    return o + 1;
}

const op *run_count_shared(warp *w, const op *o)
{
    pattern p;
    uint32_t mask = active(w, o);
    read_addresses(w, o, mask, &p);
    count_shared(w, count_executed(w, o, mask), &p, kind_of(o));
    return o + 1;
}

const op *run_count_local(warp *w, const op *o)
{
    pattern p;
    uint32_t mask = active(w, o);
    read_addresses(w, o, mask, &p);
    count_local(w, count_executed(w, o, mask), &p, kind_of(o));
    return o + 1;
}

/* Lanes may go to different spaces: each gets a request of its own. */
static void count_generic(warp *w, counters *t, pattern *p, pattern_kind kind)
{
    uint32_t in[SPACE_PARAM + 1] = {0};
    for (uint32_t m = p->mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        space where = space_of_address(p->address[i]);
        p->address[i] -= window_of(where);
        in[where] |= 1u << i;
    }
    p->mask = in[SPACE_GLOBAL];
    count_global(w, t + GENERIC_GLOBAL, p, kind);
    p->mask = in[SPACE_LOCAL];
    count_local(w, t + GENERIC_LOCAL, p, kind);
    p->mask = in[SPACE_SHARED];
    count_shared(w, t + GENERIC_SHARED, p, kind);
}

const op *run_count_generic(warp *w, const op *o)
{
    pattern p;
    uint32_t mask = active(w, o);
    read_addresses(w, o, mask, &p);
    count_generic(w, count_executed(w, o, mask), &p, kind_of(o));
    return o + 1;
}

void count_request(warp *w, const op *o, counters *t, pattern *p)
{
    switch (o->space) {
    case SPACE_GLOBAL: count_global(w, t, p, kind_of(o)); return;
    case SPACE_SHARED: count_shared(w, t, p, kind_of(o)); return;
    default: count_generic(w, t, p, kind_of(o)); return;
    }
}

/* Constants and texels come from memory as everything else does, by ways of their own, which a
 * profiler counts apart. */
static void count_read_only(warp *w, counters *t, const pattern *p)
{
    uint64_t sector[LANES];
    if (!p->mask) return;
    const uint32_t n = pattern_sectors(p, sector);
    t->requests++;
    t->units += n;
    t->bytes += (uint64_t)__builtin_popcount(p->mask) * p->bytes;
    counters_touch(w->block->device->counting, sector, n);
}

const op *run_count_constant(warp *w, const op *o)
{
    pattern p;
    uint32_t mask = active(w, o);
    read_addresses(w, o, mask, &p);
    counters *t = count_executed(w, o, mask);
    count_read_only(w, t, &p);
    t->least += pattern_addresses(&p);
    return o + 1;
}

/* A texel between others is made of several. */
const op *run_count_texture(warp *w, const op *o)
{
    const uint32_t mask = active(w, o);
    counters *t = count_executed(w, o, mask);
    texels touched = {.bytes = 0};
    texture_touches(w, o, mask, &touched);
    for (int i = 0; i < TEXELS; i++) {
        pattern p = {.mask = touched.mask[i], .bytes = touched.bytes};
        memcpy(p.address, touched.address[i], sizeof p.address);
        count_read_only(w, t, &p);
    }
    return o + 1;
}

static void trace_copy(const warp *w, const op *o, uint32_t mask)
{
    uint64_t to[LANES];
    count_addresses(w, o, to);
    for (uint32_t i = 0; i < LANES; i++) {
        if (space_of_address(to[i]) == SPACE_SHARED) to[i] -= SHARED_WINDOW;
    }
    trace_access(w->block, TRACE_COPY, o->size, mask, 0, to);
}

/* cp.async: a load of global memory. Lanes that read nothing (their bytes become zero) ask for
 * nothing; what is written to shared memory no GPU counts as a store. */
const op *run_count_async(warp *w, const op *o)
{
    pattern p = {.bytes = o->size};
    const uint64_t *from = row(w, o->b), *extra = row(w, o->e);
    const uint32_t *bytes = row(w, o->c);
    for (uint32_t i = 0; i < LANES; i++) {
        p.address[i] = from[i] + extra[i];
        p.mask |= (uint32_t)(bytes[i] != 0) << i;
    }
    uint32_t mask = active(w, o);
    p.mask &= mask;
    count_global(w, count_executed(w, o, mask), &p, PATTERN_LOAD);
    if (w->block->trace) trace_copy(w, o, mask);
    return o + 1;
}
