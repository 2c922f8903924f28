/*
 * mbarrier.c: barriers that are 8-byte objects in shared memory: cuda::barrier and its kin.
 *
 * Interface
 *   run_mbarrier_init, run_mbarrier, run_mbarrier_count, mbarrier_bytes, mbarrier_told,
 *   mbarrier_phase
 *
 * The object: arrivals that its phase still waits for, arrivals that each later phase needs, and
 * the number of the phase. An arrival returns the object as it was before.
 *
 * Accesses count as atomic. The end of a phase orders what the threads of the block did before it;
 * which of them arrived, and which waited, is beyond the shadow.
 */
#include <stdio.h>

#include "device/base/arena.h"
#include "device/base/cluster.h"
#include "device/trace/trace.h"
#include "ops.h"

enum {
    COUNT_BITS = 20,
    PHASE_SHIFT = 2 * COUNT_BITS,
    PATIENCE = 1000000, /* polls in vain, with nothing else happening to any mbarrier */
};

#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)

static uint64_t make_state(uint64_t pending, uint64_t wanted, uint64_t phase)
{
    return (pending & COUNT_MASK) | (wanted & COUNT_MASK) << COUNT_BITS | phase << PHASE_SHIFT;
}

static uint64_t address_of(const warp *w, const op *o, uint32_t lane)
{
    const void *a = row(w, o->a);
    if (o->narrow) return (uint32_t)(((const uint32_t *)a)[lane] + (uint64_t)o->offset);
    return ((const uint64_t *)a)[lane] + (uint64_t)o->offset;
}

static uint64_t *reach(warp *w, const op *o, uint32_t lane, access_kind how, const void *value)
{
    return (uint64_t *)(void *)reach_lane(w, o, o->space, address_of(w, o, lane), sizeof(uint64_t),
                                          lane, how, value);
}

/* Whose memory it lies in. */
static block *owner_of(const warp *w, const op *o, uint32_t lane)
{
    uint64_t offset = address_of(w, o, lane) - (o->space == SPACE_GENERIC ? SHARED_WINDOW : 0);
    block *b = w->block, *to = b->cluster ? peer_of(b, offset) : b;
    return to ? to : b;
}

/* What this block did so far comes before what the other one does when it has waited. */
static void offer(block *b, const block *to)
{
    if (b == to) return;
    shadow_tick(b);
    b->cluster->offered[to->rank][b->rank] = tick_now(b);
}

static void take_offers(const block *b)
{
    cluster *c = b->cluster;
    if (c) memcpy(c->known[b->rank], c->offered[b->rank], sizeof c->known[b->rank]);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static uint32_t offset_of(const block *b, const uint64_t *memory)
{
    return (uint32_t)((const uint8_t *)memory - b->shared);
}

static transactions *find_transactions(const block *b, uint32_t offset)
{
    for (uint32_t i = 0; i < b->transaction_count; i++)
        if (b->transactions[i].offset == offset) return &b->transactions[i];
    return NULL;
}

static transactions *transactions_of(block *b, uint32_t offset)
{
    transactions *t = find_transactions(b, offset);
    if (t) return t;
    if (b->transaction_count == b->transaction_capacity) {
        b->transaction_capacity = b->transaction_capacity ? 2 * b->transaction_capacity : 8;
        b->transactions =
            retake(b->transactions, b->transaction_capacity * sizeof *b->transactions);
    }
    t = &b->transactions[b->transaction_count++];
    *t = (transactions){.offset = offset};
    return t;
}

static bool has_all_bytes(const block *b, uint32_t offset)
{
    const transactions *t = find_transactions(b, offset);
    return !t || t->expected == t->arrived;
}

static void forget_bytes(const block *b, const uint64_t *memory)
{
    transactions *t = find_transactions(b, offset_of(b, memory));
    if (t) t->expected = t->arrived = 0;
}

const op *run_mbarrier_init(warp *w, const op *o)
{
    const uint32_t *count = row(w, o->b);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t state = make_state(count[lane], count[lane], 0);
        uint64_t *memory = reach(w, o, lane, ACCESS_STORE, &state);
        if (!memory) continue;
        *memory = state;
        forget_bytes(w->block, memory);
    }
    return o + 1;
}

/* ---- arrivals -------------------------------------------------------------------------------- */

static void arrive(block *b, uint64_t *memory, uint64_t count)
{
    uint64_t state = *memory, pending = (state - count) & COUNT_MASK;
    uint64_t wanted = state >> COUNT_BITS & COUNT_MASK, phase = state >> PHASE_SHIFT;
    b->polls = 0;
    *memory = make_state(pending, wanted, phase);
    if (pending || !has_all_bytes(b, offset_of(b, memory))) return;
    transactions *t = find_transactions(b, offset_of(b, memory));
    if (t) t->expected = t->arrived = 0;
    *memory = make_state(wanted, wanted, phase + 1);
    flights_land(b, offset_of(b, memory));
    order_accesses(b, false);
}

uint64_t mbarrier_phase(const block *b, uint32_t offset)
{
    return *(const uint64_t *)(const void *)(b->shared + offset) >> PHASE_SHIFT;
}

void mbarrier_bytes(block *b, uint32_t offset, uint32_t bytes, uint32_t line)
{
    transactions *t = transactions_of(b, offset);
    uint64_t *memory = (uint64_t *)(void *)(b->shared + offset);
    t->arrived += bytes;
    t->copy_line = line;
    if (!(*memory & COUNT_MASK)) arrive(b, memory, 0);
}

void mbarrier_told(block *by, block *b, uint32_t offset, uint32_t bytes, uint32_t line)
{
    offer(by, b);
    b->polls = 0;
    mbarrier_bytes(b, offset, bytes, line);
}

static void expect(block *b, const op *o, const uint64_t *memory, uint64_t bytes)
{
    transactions *t = transactions_of(b, offset_of(b, memory));
    t->expected += bytes;
    t->expect_line = o->line;
}

static void drop(uint64_t *memory, uint64_t count)
{
    uint64_t state = *memory, wanted = (state >> COUNT_BITS & COUNT_MASK) - count;
    *memory = make_state(state, wanted, state >> PHASE_SHIFT);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* The phase of a token, or the one before the next with that parity, is over. */
static bool is_over(const op *o, uint64_t state, uint64_t asked)
{
    uint64_t phase = state >> PHASE_SHIFT;
    if (o->variant == MBARRIER_PARITY) return (phase & 1) != (asked & 1);
    return phase << PHASE_SHIFT != (asked >> PHASE_SHIFT) << PHASE_SHIFT;
}

static void report_bytes(warp *w, const op *o, uint32_t lane, const transactions *t)
{
    uint32_t expect = 0, copy = 0;
    const module *m = w->block->launch->function->module;
    char from[40] = "";
    module_file(m, t->expect_line, &expect);
    module_file(m, t->copy_line, &copy);
    if (t->copy_line) snprintf(from, sizeof from, ", the last by line %u", copy);
    report(w, o, FINDING_DEADLOCK, lane, address_of(w, o, lane),
           "waits for ever at an mbarrier: it expects %llu bytes (line %u), and %llu have come%s: "
           "expect the sum of the bytes of all copies of the phase",
           (unsigned long long)t->expected, expect, (unsigned long long)t->arrived, from);
    launch_stop(w->block->launch, DEVICE_DEADLOCK);
}

static const transactions *transactions_at(const warp *w, const op *o, uint32_t lane)
{
    uint64_t offset = address_of(w, o, lane) - (o->space == SPACE_GENERIC ? SHARED_WINDOW : 0);
    return find_transactions(w->block, (uint32_t)offset);
}

/* All have arrived, and so have more bytes than the phase expects: it never ends. */
static bool has_too_many(const warp *w, const op *o, uint32_t lane, uint64_t state)
{
    const transactions *t = transactions_at(w, o, lane);
    return !(state & COUNT_MASK) && t && t->arrived > t->expected;
}

/* The two ways to wait for a parity in vain that are no lack of arrivals. */
static void name_phase(char *text, size_t bytes, uint64_t phase)
{
    snprintf(text, bytes,
             " to phase %llu, counted from 0: either the parity is that of another phase, or other "
             "threads went on and ended the one before, too",
             (unsigned long long)phase);
}

static void give_up(warp *w, const op *o, uint32_t lane, uint64_t state)
{
    const transactions *t = transactions_at(w, o, lane);
    if (t && t->expected != t->arrived) {
        report_bytes(w, o, lane, t);
        return;
    }
    unsigned wanted = state >> COUNT_BITS & COUNT_MASK, pending = state & COUNT_MASK;
    char phase[160] = "";
    if (o->variant == MBARRIER_PARITY) name_phase(phase, sizeof phase, state >> PHASE_SHIFT);
    report(w, o, FINDING_DEADLOCK, lane, address_of(w, o, lane),
           "waits for ever at a barrier in shared memory: %u of the %u arrivals that it expects "
           "have come%s",
           wanted - pending, wanted, phase);
    launch_stop(w->block->launch, DEVICE_DEADLOCK);
}

/* Who asked in vain lets others go on, at its next jump backward. */
static bool test(warp *w, const op *o, uint32_t lane, uint64_t state, uint64_t asked)
{
    if (is_over(o, state, asked)) {
        w->block->polls = 0;
        take_offers(w->block);
        return true;
    }
    w->slice = 1;
    if (++w->block->polls == PATIENCE || has_too_many(w, o, lane, state))
        give_up(w, o, lane, state);
    return false;
}

/* ---- one lane -------------------------------------------------------------------------------- */

/* b: how many arrive, or what a test asks about. @return what it says. */
static uint64_t operate(warp *w, const op *o, uint32_t lane, uint64_t *memory)
{
    block *b = owner_of(w, o, lane);
    uint64_t before = *memory;
    uint64_t asked = o->variant == MBARRIER_TEST ? ((const uint64_t *)row(w, o->b))[lane]
                                                 : ((const uint32_t *)row(w, o->b))[lane];
    offer(w->block, b);
    switch (o->variant) {
    case MBARRIER_DROP: drop(memory, asked); /* fall through */
    case MBARRIER_ARRIVE: arrive(b, memory, asked); return before;
    case MBARRIER_EXPECT: expect(b, o, memory, asked); return 0;
    case MBARRIER_ARRIVE_EXPECT:
        expect(b, o, memory, asked);
        arrive(b, memory, 1);
        return before;
    case MBARRIER_COPIES:
        flights_assign(w, lane, offset_of(b, memory));
        if (asked) arrive(b, memory, asked);
        return 0;
    case MBARRIER_INVAL: return 0;
    default:
        if (b->arrive_bytes && !is_over(o, before, asked)) b->arrive_bytes(b, offset_of(b, memory));
        return test(w, o, lane, *memory, asked);
    }
}

/* The phase at which they arrived, or that they have waited for, or that is not over. */
static void trace_lanes(const warp *w, const op *o, uint32_t mask, uint32_t kind, uint64_t phase)
{
    uint64_t at[LANES];
    const uint64_t window = o->space == SPACE_GENERIC ? SHARED_WINDOW : 0;
    for (uint32_t i = 0; i < LANES; i++) at[i] = address_of(w, o, i) - window;
    trace_access(w->block, kind, sizeof(uint64_t), mask, (uint32_t)phase, at);
}

const op *run_mbarrier(warp *w, const op *o)
{
    bool asks = o->variant == MBARRIER_TEST || o->variant == MBARRIER_PARITY;
    uint32_t yes = 0, mask = active(w, o);
    uint64_t phase = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t *memory = reach(w, o, lane, ACCESS_ATOMIC, NULL);
        if (memory && !asks) phase = *memory >> PHASE_SHIFT;
        uint64_t answer = memory ? operate(w, o, lane, memory) : 1;
        if (memory && asks) phase = (*memory >> PHASE_SHIFT) - answer;
        if (asks)
            yes |= (uint32_t)answer << lane;
        else if (o->d)
            ((uint64_t *)row(w, o->d))[lane] = answer;
    }
    if (w->block->trace && mask)
        trace_lanes(w, o, mask, !asks ? TRACE_ARRIVE : yes ? TRACE_WAITED : TRACE_POLL, phase);
    if (!asks) return o + 1;
    uint32_t *p = row(w, o->d);
    *p = (*p & ~mask) | (yes & mask);
    return o + 1;
}

/* mbarrier.pending_count: of the phase that a token belongs to, when it was given. */
const op *run_mbarrier_count(warp *w, const op *o)
{
    const uint64_t *token = row(w, o->a);
    uint32_t *d = row(w, o->d);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        d[lane] = (uint32_t)(token[lane] & COUNT_MASK);
    }
    return o + 1;
}
