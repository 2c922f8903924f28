/*
 * mbarrier.c: barriers that are 8-byte objects in shared memory: cuda::barrier and its kin.
 *
 * Interface
 *   run_mbarrier_init, run_mbarrier, run_mbarrier_count, mbarrier_bytes, mbarrier_phase
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
    AWBARRIER = 1 << 15,
    LOOP = 64, /* operations of one that asks again and again, at most */
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

/* ---- what is known of it --------------------------------------------------------------------- */

static uint32_t offset_of(const block *b, const uint64_t *memory)
{
    return (uint32_t)((const uint8_t *)memory - b->shared);
}

static mbarrier *find_mbarrier(const block *b, uint32_t offset)
{
    for (uint32_t i = 0; i < b->mbarrier_count; i++)
        if (b->mbarriers[i].offset == offset) return &b->mbarriers[i];
    return NULL;
}

/* What is known of it; stale after the next one. */
static mbarrier *mbarrier_of(block *b, uint32_t offset)
{
    mbarrier *m = find_mbarrier(b, offset);
    if (m) return m;
    if (b->mbarrier_count == b->mbarrier_capacity) {
        b->mbarrier_capacity = b->mbarrier_capacity ? 2 * b->mbarrier_capacity : 8;
        b->mbarriers = retake(b->mbarriers, b->mbarrier_capacity * sizeof *b->mbarriers);
    }
    m = &b->mbarriers[b->mbarrier_count++];
    *m = (mbarrier){.offset = offset};
    return m;
}

static uint32_t pending_in(uint64_t state)
{
    return state & COUNT_MASK;
}

static uint32_t wanted_in(uint64_t state)
{
    return state >> COUNT_BITS & COUNT_MASK;
}

/* Where a function for one instruction was called, rather than the line of its asm. */
static uint32_t line_of(const block *b, uint32_t place)
{
    const module *m = b->launch->function->module;
    uint32_t line = 0;
    if (place && !*module_outer_file(m, place, &line)) module_file(m, place, &line);
    return line;
}

/* What PTX does not define, and a GPU need not survive. */
static void misuse(warp *w, const op *o, uint32_t lane, const char *text)
{
    report(w, o, FINDING_MISUSE, lane, address_of(w, o, lane), "%s", text);
    launch_stop(w->block->launch, DEVICE_DEADLOCK);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* The last warp that asked in vain goes around a loop that asks again. */
static bool has_waiter(const warp *by, const mbarrier *m)
{
    const warp *w = m->wait_op ? &by->block->warps[m->waiter] : NULL;
    for (int i = 0; w && i < w->group_count; i++) {
        const lane_group *g = &w->groups[i];
        if (g->state != GROUP_READY || (w == by && i == w->current)) continue;
        if (g->pc <= m->wait_op && m->wait_op < g->pc + LOOP) return true;
    }
    return false;
}

/* Initialised again: whatever was to happen with the old one happens no more. */
static void check_unused(warp *w, const op *o, uint32_t lane, const mbarrier *m, uint64_t state)
{
    char text[400], why[200] = "";
    const uint32_t wanted = wanted_in(state), pending = pending_in(state);
    if (!m->live) return;
    if (m->coming || m->expected != m->arrived)
        snprintf(why, sizeof why, "it expects %llu bytes, and %llu are on their way",
                 (unsigned long long)m->expected, (unsigned long long)m->coming);
    else if (pending != wanted)
        snprintf(why, sizeof why, "%u of the %u arrivals of its phase have come", wanted - pending,
                 wanted);
    else if (has_waiter(w, m))
        snprintf(why, sizeof why, "a thread of warp %u still waits for it, at line %u", m->waiter,
                 line_of(w->block, m->wait_op->line));
    else
        snprintf(why, sizeof why, "no arrival has come, but it lives until mbarrier.inval");
    snprintf(text, sizeof text,
             "initialises an mbarrier that has been in use since line %u: %s; let one thread "
             "initialise it once, before the loop, and wait for its phases in turn, or let all "
             "threads come to a barrier and write mbarrier.inval first",
             line_of(w->block, m->init_line), why);
    misuse(w, o, lane, text);
}

const op *run_mbarrier_init(warp *w, const op *o)
{
    const uint32_t *count = row(w, o->b);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t state = make_state(count[lane], count[lane], 0);
        uint64_t *memory = reach(w, o, lane, ACCESS_STORE, &state);
        if (!memory) continue;
        mbarrier *x = mbarrier_of(w->block, offset_of(w->block, memory));
        check_unused(w, o, lane, x, *memory);
        *x = (mbarrier){.offset = x->offset,
                        .live = true,
                        .init_line = o->line,
                        .init_warp = w->index,
                        .init_tick = tick_now(w->block),
                        .coming = x->coming};
        *memory = state;
    }
    return o + 1;
}

/* A fence orders the initialisation before what its own thread does then; that it is over, only a
 * barrier tells another warp. Without the fence it is a race as any other. */
static void check_ready(warp *w, const op *o, uint32_t lane, const block *b, const mbarrier *m)
{
    if (!m->live || b != w->block || m->init_warp == w->index || m->init_tick < b->met) return;
    if (b->rewound + b->warps[m->init_warp].fenced <= m->init_tick) return;
    if (!b->launch->check_races) return;
    report(w, o, FINDING_RACE, lane, address_of(w, o, lane),
           "uses the mbarrier that a thread of warp %u initialises at line %u, with no barrier in "
           "between: the fence makes the initialisation visible, but only __syncthreads() (in a "
           "cluster, cluster.sync()) says that it is over",
           m->init_warp, line_of(b, m->init_line));
}

/* ---- arrivals -------------------------------------------------------------------------------- */

/* Phases that end and no thread asks: more than one, and arrivals run ahead of who waits. A barrier
 * of the block may have told of their end as well. */
static void note_end(const block *b, mbarrier *m)
{
    if (m->unseen_epoch != b->epoch_tick) m->unseen = 0;
    m->unseen_epoch = b->epoch_tick;
    m->unseen++;
}

static void end_phase(block *b, mbarrier *m, uint64_t *memory)
{
    const uint32_t wanted = wanted_in(*memory);
    if (pending_in(*memory) || m->expected != m->arrived) return;
    m->expected = m->arrived = 0;
    m->over = m->told;
    note_end(b, m);
    *memory = make_state(wanted, wanted, (*memory >> PHASE_SHIFT) + 1);
    flights_land(b, m->offset);
    order_accesses(b, false);
    if (m->init_tick < b->met) b->met = tick_now(b);
}

static void report_too_many(warp *w, const op *o, uint32_t lane, const mbarrier *m, uint64_t state,
                            uint64_t count)
{
    char text[400];
    snprintf(text, sizeof text,
             "arrives %llu times at an mbarrier that waits for %u more arrivals: line %u "
             "initialised it for %u in a phase, and this phase lacks %llu bytes; initialise it "
             "with the number of arrivals, or wait for the phase before arriving again",
             (unsigned long long)count, pending_in(state), line_of(w->block, m->init_line),
             wanted_in(state), (unsigned long long)(m->expected - m->arrived));
    misuse(w, o, lane, text);
}

static void arrive(warp *w, const op *o, uint32_t lane, block *b, uint64_t *memory, uint64_t count)
{
    const uint64_t state = *memory;
    mbarrier *m = mbarrier_of(b, offset_of(b, memory));
    b->polls = 0;
    /* awbarrier arrives 2^15 times, too, and relies on a count that wraps. */
    if (m->live && count > pending_in(state) && count < AWBARRIER) {
        report_too_many(w, o, lane, m, state, count);
        return;
    }
    known_tell(w, b, m);
    m->arrive_line = o->line;
    m->arrive_thread = w->index * LANES + lane;
    *memory = make_state(state - count, wanted_in(state), state >> PHASE_SHIFT);
    end_phase(b, m, memory);
}

uint64_t mbarrier_phase(const block *b, uint32_t offset)
{
    return *(const uint64_t *)(const void *)(b->shared + offset) >> PHASE_SHIFT;
}

void mbarrier_coming(const warp *w, block *b, uint32_t offset, uint32_t bytes)
{
    mbarrier *m = mbarrier_of(b, offset);
    m->coming += bytes;
    known_tell(w, b, m);
}

static void add_bytes(block *b, mbarrier *m, uint32_t bytes, uint32_t line)
{
    m->arrived += bytes;
    m->copy_line = line;
    end_phase(b, m, (uint64_t *)(void *)(b->shared + m->offset));
}

void mbarrier_bytes(block *b, uint32_t offset, uint32_t bytes, uint32_t line)
{
    mbarrier *m = mbarrier_of(b, offset);
    m->coming -= bytes;
    add_bytes(b, m, bytes, line);
}

static void complete(warp *w, const op *o, block *b, const uint64_t *memory, uint64_t bytes)
{
    mbarrier *m = mbarrier_of(b, offset_of(b, memory));
    b->polls = 0;
    known_tell(w, b, m);
    add_bytes(b, m, (uint32_t)bytes, o->line);
}

/* All that the phase waits for is here or on its way, so it may be over. */
static void report_late(warp *w, const op *o, uint32_t lane, const mbarrier *m, uint64_t bytes)
{
    char text[300];
    snprintf(text, sizeof text,
             "expects %llu more bytes of a phase that may be over: all its arrivals have come, and "
             "the %llu bytes that line %u expects are on their way; expect the bytes of all copies "
             "before the last arrival",
             (unsigned long long)bytes, (unsigned long long)m->expected,
             line_of(w->block, m->expect_line));
    misuse(w, o, lane, text);
}

static void expect(warp *w, const op *o, uint32_t lane, block *b, const uint64_t *memory,
                   uint64_t bytes)
{
    mbarrier *m = mbarrier_of(b, offset_of(b, memory));
    const bool arrives = o->variant != MBARRIER_EXPECT;
    if (!arrives && !pending_in(*memory) && m->expected && m->arrived + m->coming >= m->expected)
        report_late(w, o, lane, m, bytes);
    m->expected += bytes;
    m->expect_line = o->line;
}

static void drop(uint64_t *memory, uint64_t count)
{
    *memory = make_state(*memory, wanted_in(*memory) - count, *memory >> PHASE_SHIFT);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* The phase of a token, or the one before the next with that parity, is over. */
static bool is_over(const op *o, uint64_t state, uint64_t asked)
{
    uint64_t phase = state >> PHASE_SHIFT;
    if (o->variant == MBARRIER_PARITY) return (phase & 1) != (asked & 1);
    return phase << PHASE_SHIFT != (asked >> PHASE_SHIFT) << PHASE_SHIFT;
}

static void report_bytes(warp *w, const op *o, uint32_t lane, const mbarrier *m)
{
    const block *b = w->block;
    char from[40] = "";
    if (m->copy_line)
        snprintf(from, sizeof from, ", the last by line %u", line_of(b, m->copy_line));
    report(w, o, FINDING_DEADLOCK, lane, address_of(w, o, lane),
           "waits for ever at an mbarrier: it expects %llu bytes (line %u), and %llu have come%s: "
           "expect the sum of the bytes of all copies of the phase",
           (unsigned long long)m->expected, line_of(b, m->expect_line),
           (unsigned long long)m->arrived, from);
}

/* All have arrived, and so have more bytes than the phase expects: it never ends. */
static bool has_too_many(const mbarrier *m, uint64_t state)
{
    return !pending_in(state) && m->arrived > m->expected;
}

/* The two ways to wait for a parity in vain that are no lack of arrivals. */
static void name_phase(char *text, size_t bytes, uint64_t phase)
{
    snprintf(text, bytes,
             " to phase %llu, counted from 0: either the parity is that of another phase, or other "
             "threads went on and ended the phase before, too",
             (unsigned long long)phase);
}

/* Some came, and others did not. */
static void name_lack(char *text, size_t bytes, const block *b, const mbarrier *m, uint32_t came)
{
    snprintf(
        text, bytes,
        ", the last by line %u: let each thread that line %u counts arrive once in a phase, or "
        "initialise it with %u",
        line_of(b, m->arrive_line), line_of(b, m->init_line), came);
}

/* Of the three ways to wait in vain the first two say what is wrong. */
typedef enum vain { VAIN_BYTES, VAIN_ARRIVALS, VAIN_PHASE } vain;

static vain why_in_vain(const block *b, const mbarrier *m)
{
    const uint64_t state = *(const uint64_t *)(const void *)(b->shared + m->offset);
    if (m->expected != m->arrived) return VAIN_BYTES;
    return m->init_line && pending_in(state) != wanted_in(state) ? VAIN_ARRIVALS : VAIN_PHASE;
}

static void report_wait(const block *b, const mbarrier *m)
{
    warp *w = (warp *)&b->warps[m->waiter];
    const op *o = m->wait_op;
    const uint64_t state = *(const uint64_t *)(const void *)(b->shared + m->offset);
    const uint32_t wanted = wanted_in(state), came = wanted - pending_in(state);
    char why[200] = "";
    const vain is = why_in_vain(b, m);
    if (is == VAIN_BYTES) {
        report_bytes(w, o, m->wait_lane, m);
        return;
    }
    if (is == VAIN_ARRIVALS)
        name_lack(why, sizeof why, b, m, came);
    else if (o->variant == MBARRIER_PARITY)
        name_phase(why, sizeof why, state >> PHASE_SHIFT);
    report(w, o, FINDING_DEADLOCK, m->wait_lane, m->offset,
           "waits for ever at a barrier in shared memory: %u of the %u arrivals that it expects "
           "have come%s",
           came, wanted, why);
}

/* All that is waited for in vain, or what alone may be the cause. */
static void give_up(warp *w, const mbarrier *asked)
{
    const block *b = w->block;
    vain least = why_in_vain(b, asked);
    for (uint32_t i = 0; i < b->mbarrier_count; i++) {
        const mbarrier *m = &b->mbarriers[i];
        if (has_waiter(w, m) && why_in_vain(b, m) < least) least = why_in_vain(b, m);
    }
    for (uint32_t i = 0; i < b->mbarrier_count; i++) {
        const mbarrier *m = &b->mbarriers[i];
        if ((m == asked || has_waiter(w, m)) && why_in_vain(b, m) == least) report_wait(b, m);
    }
    launch_stop(b->launch, DEVICE_DEADLOCK);
}

/* More than one phase has ended, and a thread asks only now. */
static void check_seen(warp *w, mbarrier *m, uint64_t state)
{
    block *b = w->block;
    const uint32_t unseen = m->unseen_epoch == b->epoch_tick ? m->unseen : 0;
    char text[400];
    m->unseen = 0;
    if (unseen < 2) return;
    snprintf(text, sizeof text,
             "too many arrivals at an mbarrier: line %u initialised it for %u in a phase, and %u "
             "phases have ended since a thread last waited there; initialise it with the number "
             "of arrivals, or let only one of these threads arrive",
             line_of(b, m->init_line), wanted_in(state), unseen);
    report_at(b, b->launch->function, m->arrive_line, FINDING_MISUSE, m->arrive_thread, m->offset,
              text);
    launch_stop(b->launch, DEVICE_DEADLOCK);
}

/* Who asked in vain lets others go on, at its next jump backward. */
static bool test(warp *w, const op *o, uint32_t lane, uint64_t *memory, uint64_t asked)
{
    block *b = w->block;
    const uint32_t offset = offset_of(b, memory);
    check_seen(w, mbarrier_of(b, offset), *memory);
    if (b->arrive_bytes && !is_over(o, *memory, asked)) b->arrive_bytes(b, offset);
    mbarrier *m = mbarrier_of(b, offset);
    m->unseen = 0;
    if (is_over(o, *memory, asked)) {
        if (m->waiter == w->index) m->wait_op = NULL;
        b->polls = 0;
        take_offers(b);
        known_learn(w, m);
        return true;
    }
    m->waiter = w->index;
    m->wait_op = o;
    m->wait_lane = (uint8_t)lane;
    w->slice = 1;
    if (++b->polls == PATIENCE || has_too_many(m, *memory)) give_up(w, m);
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
    check_ready(w, o, lane, b, mbarrier_of(b, offset_of(b, memory)));
    offer(w->block, b);
    switch (o->variant) {
    case MBARRIER_DROP: drop(memory, asked); /* fall through */
    case MBARRIER_ARRIVE: arrive(w, o, lane, b, memory, asked); return before;
    case MBARRIER_EXPECT: expect(w, o, lane, b, memory, asked); return 0;
    case MBARRIER_COMPLETE: complete(w, o, b, memory, asked); return 0;
    case MBARRIER_DROP_EXPECT:
    case MBARRIER_ARRIVE_EXPECT:
        expect(w, o, lane, b, memory, asked);
        if (o->variant == MBARRIER_DROP_EXPECT) drop(memory, 1);
        arrive(w, o, lane, b, memory, 1);
        return before;
    case MBARRIER_COPIES:
        flights_assign(w, lane, offset_of(b, memory));
        if (asked) arrive(w, o, lane, b, memory, asked);
        return 0;
    case MBARRIER_INVAL: mbarrier_of(b, offset_of(b, memory))->live = false; return 0;
    default: return test(w, o, lane, memory, asked);
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
