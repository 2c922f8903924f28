/*
 * collective.c: operations in which the lanes of a warp exchange values.
 *
 * Interface
 *   run_shuffle, run_vote, run_match, run_redux, run_active_mask
 *
 * Lanes wait for all the members that their mask names (lane_group.c). Lanes of one warp may come
 * with different masks, as the tiles of a partition do; each is answered by its own members. Memory
 * is taken to be ordered by each of them: stricter than the specification, but it makes no false
 * finding.
 */
#include "ops.h"

static uint32_t members_of(const warp *w, operand r, uint32_t lane)
{
    return ((const uint32_t *)row(w, r))[lane];
}

static uint32_t all_members(const warp *w, operand r, uint32_t mask)
{
    uint32_t all = 0;
    for (uint32_t m = mask; m; m &= m - 1) all |= members_of(w, r, (uint32_t)__builtin_ctz(m));
    return all;
}

void report_left_out(warp *w, const op *o, uint32_t lane, uint32_t members)
{
    char name[48];
    thread_name(w->block, w->index * LANES + lane, name);
    report(w, o, FINDING_INACTIVE_LANE, lane, 0,
           "thread%s (lane %u) takes part with the mask 0x%x, which leaves out its own lane", name,
           lane, members);
}

/* A GPU waits for ever for lanes that the mask names and that never come; and a lane that the mask
 * leaves out must not call at all. */
static void check_members(warp *w, const op *o, operand members, uint32_t mask)
{
    uint32_t missing = group_missing(w, all_members(w, members, mask)), left_out = 0;
    char name[48], other[48];
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        left_out |= (~members_of(w, members, i) >> i & 1) << i;
    }
    if (!missing && !left_out) return;
    uint32_t lane = (uint32_t)__builtin_ctz(missing ? mask : left_out);
    uint32_t named = members_of(w, members, lane), thread = w->index * LANES;
    if (left_out) {
        report_left_out(w, o, lane, named);
        return;
    }
    thread_name(w->block, thread + lane, name);
    thread_name(w->block, thread + (uint32_t)__builtin_ctz(missing), other);
    report(w, o, FINDING_INACTIVE_LANE, lane, 0,
           "thread%s waits with the mask 0x%x for thread%s, which does not come: the mask must "
           "name the lanes that take part, and no others",
           name, named, other);
}

static bool gather(warp *w, const op *o, operand members, uint32_t mask)
{
    if (!group_gather(w, o, all_members(w, members, mask))) return false;
    if (w->block->launch->check_lanes) check_members(w, o, members, active(w, o));
    w->synced = shadow_tick(w->block);
    return true;
}

/* ---- shfl ------------------------------------------------------------------------------------ */

/* c: the clamp in bits 0..4, the segment mask in bits 8..12, as the compiler packs them. */
static uint32_t source_lane(shuffle_kind kind, uint32_t lane, uint32_t b, uint32_t c, bool *valid)
{
    uint32_t segment = c >> 8 & 31, clamp = c & 31, by = b & 31;
    uint32_t limit = (lane & segment) | (clamp & ~segment), from = 0;
    switch (kind) {
    case SHUFFLE_UP:
        from = lane - by;
        *valid = (int32_t)from >= (int32_t)limit;
        break;
    case SHUFFLE_DOWN:
        from = lane + by;
        *valid = from <= limit;
        break;
    case SHUFFLE_XOR:
        from = lane ^ by;
        *valid = from <= limit;
        break;
    case SHUFFLE_INDEX:
        from = (lane & segment) | (by & ~segment);
        *valid = from <= limit;
        break;
    }
    return *valid ? from & 31 : lane;
}

const op *run_shuffle(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    if (!gather(w, o, o->e, mask)) return NULL;
    mask = active(w, o);
    const uint32_t *a = row(w, o->a), *b = row(w, o->b), *c = row(w, o->c);
    uint32_t *d = row(w, o->d), result[LANES], in_range = 0;
    uint8_t source[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        bool valid = false;
        source[i] = (uint8_t)source_lane(o->variant, i, b[i], c[i], &valid);
        result[i] = a[source[i]];
        in_range |= (uint32_t)valid << i;
    }
    for (uint32_t i = 0; i < LANES; i++) d[i] = mask >> i & 1 ? result[i] : d[i];
    if (o->v[0]) {
        uint32_t *p = row(w, o->v[0]);
        *p = (*p & ~mask) | (in_range & mask);
    }
    bool others = !is_all(mask) && w->block->launch->check_lanes;
    return others || w->undefined_count ? undefined_read(w, o, mask, source) : o + 1;
}

/* ---- votes ----------------------------------------------------------------------------------- */

static void write_votes(warp *w, const op *o, uint32_t mask, uint32_t votes)
{
    uint32_t yes = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m), members = members_of(w, o->b, i) & mask;
        bool all = (votes & members) == members, any = (votes & members) != 0;
        bool answer = o->variant == VOTE_ALL ? all : o->variant == VOTE_ANY ? any : all || !any;
        yes |= (uint32_t)answer << i;
    }
    uint32_t *p = row(w, o->d);
    *p = (*p & ~mask) | yes;
}

/* The lowest lane that takes part. */
const op *run_elect(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    uint32_t members = ((const uint32_t *)row(w, o->a))[__builtin_ctz(mask)];
    if (!group_gather(w, o, members)) return NULL;
    mask = active(w, o);
    uint32_t leader = (uint32_t)__builtin_ctz(mask), *d = row(w, o->d);
    for (uint32_t m = mask; m; m &= m - 1) d[__builtin_ctz(m)] = leader;
    if (!o->v[0]) return o + 1;
    uint32_t *elected = row(w, o->v[0]);
    *elected = (*elected & ~mask) | 1u << leader;
    return o + 1;
}

const op *run_vote(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    if (!gather(w, o, o->b, mask)) return NULL;
    mask = active(w, o);
    uint32_t votes = *(uint32_t *)row(w, o->a) & mask;
    if (o->variant != VOTE_BALLOT) {
        write_votes(w, o, mask, votes);
        return o + 1;
    }
    uint32_t *d = row(w, o->d);
    for (uint32_t i = 0; i < LANES; i++) {
        if (mask >> i & 1) d[i] = votes & members_of(w, o->b, i);
    }
    return o + 1;
}

const op *run_active_mask(warp *w, const op *o)
{
    uint32_t mask = active(w, o), *d = row(w, o->d);
    for (uint32_t i = 0; i < LANES; i++) {
        if (mask >> i & 1) d[i] = w->mask;
    }
    return o + 1;
}

/* ---- match, redux ---------------------------------------------------------------------------- */

static uint64_t value_at(const warp *w, const op *o, uint32_t lane)
{
    const void *a = row(w, o->a);
    return o->size == 8 ? ((const uint64_t *)a)[lane] : ((const uint32_t *)a)[lane];
}

const op *run_match(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    if (!gather(w, o, o->b, mask)) return NULL;
    mask = active(w, o);
    uint32_t equal[LANES] = {0}, *d = row(w, o->d), agree = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        for (uint32_t k = 0; k < LANES; k++) {
            equal[i] |= (uint32_t)(value_at(w, o, i) == value_at(w, o, k)) << k;
        }
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m), members = members_of(w, o->b, i) & mask;
        bool all = (equal[i] & members) == members;
        agree |= (uint32_t)all << i;
        d[i] = o->variant ? all ? members : 0 : equal[i] & members;
    }
    if (o->v[0]) {
        uint32_t *p = row(w, o->v[0]);
        *p = (*p & ~mask) | agree;
    }
    return o + 1;
}

/* In the order of decode_redux: add, min, max, and, or, xor. */
static uint32_t combine(const op *o, uint32_t x, uint32_t y)
{
    bool less = o->narrow ? (int32_t)x < (int32_t)y : x < y; /* narrow: signed */
    switch (o->variant) {
    case 0: return x + y;
    case 1: return less ? x : y;
    case 2: return less ? y : x;
    case 3: return x & y;
    case 4: return x | y;
    default: return x ^ y;
    }
}

const op *run_redux(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    if (!gather(w, o, o->b, mask)) return NULL;
    mask = active(w, o);
    uint32_t *a = row(w, o->a), *d = row(w, o->d), result[LANES];
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m),
                 members = (members_of(w, o->b, i) | 1u << i) & mask;
        uint32_t sum = a[__builtin_ctz(members)];
        for (uint32_t k = members & (members - 1); k; k &= k - 1)
            sum = combine(o, sum, a[__builtin_ctz(k)]);
        result[i] = sum;
    }
    for (uint32_t m = mask; m; m &= m - 1) d[__builtin_ctz(m)] = result[__builtin_ctz(m)];
    return o + 1;
}
