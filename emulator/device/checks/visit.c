/*
 * visit.c: a block's shared memory as the other blocks of its cluster use it.
 *
 * Interface
 *   visit_lane                             may a lane touch another block's memory?
 *   visit_copy                             may a copy come there?
 *   visits_meet, visits_start, visits_end, visits_close
 *
 * The shadow of a block (shadow.c) knows the threads of that block alone. Accesses of other blocks
 * to a word are kept here, and the word's cell says VISITED, so that the block's own accesses come
 * here too. Of two accesses by different blocks cluster.h says which comes before; mostly that
 * takes a barrier of the cluster, because no barrier of one block orders the accesses of another.
 *
 * A block's memory is there from when a barrier of the cluster says that it has begun until it
 * ends. So an access that nothing orders before the block's end is a mistake, even if it came in
 * time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/cluster.h"
#include "visit.h"

enum { READERS = 2 };

/** By another block, to a word. */
typedef struct visit {
    uint32_t tick; /**< of that block, never starting anew; 0: there was none */
    uint32_t line;
    uint16_t thread;
    uint8_t rank, bytes; /**< of the block; a bit each */
    bool atomic;
} visit;

typedef struct visited {
    visit write, read[READERS]; /**< the last ones; reads by different blocks */
    uint32_t cell, line;        /**< the read cell before VISITED */
} visited;

struct visits {
    visited *word;
    uint32_t words, first, end; /**< those from `first` to `end` may have been visited */
    visit last[MAX_CLUSTER];    /**< by rank */
};

/* ---- memory ---------------------------------------------------------------------------------- */

static visits *visits_of(block *b)
{
    uint32_t words = b->shared_capacity / 4;
    if (!b->visits) b->visits = take(1, sizeof *b->visits);
    visits *v = b->visits;
    if (v->words >= words) return v;
    free(v->word);
    v->word = take(words, sizeof *v->word);
    v->words = v->first = words;
    v->end = 0;
    return v;
}

void visits_close(block *b)
{
    if (b->visits) free(b->visits->word);
    free(b->visits);
}

static void clear(cells *c, uint32_t i)
{
    if (c->written[i] == VISITED) c->written[i] = 0;
    if (c->read[i] == VISITED) c->read[i] = 0;
}

void visits_start(block *b)
{
    visits *v = b->visits;
    if (!v || v->end == 0) return;
    for (uint32_t i = v->first; i < v->end && i < b->shared_capacity / 4; i++) {
        clear(&b->words, i);
        for (uint32_t k = 0; k < 4; k++) clear(&b->bytes, 4 * i + k);
    }
    memset(&v->word[v->first], 0, (v->end - v->first) * sizeof *v->word);
    memset(v->last, 0, sizeof v->last);
    v->first = v->words;
    v->end = 0;
}

static visited *visited_at(block *b, uint32_t word)
{
    visits *v = visits_of(b);
    if (word < v->first) v->first = word;
    if (word >= v->end) v->end = word + 1;
    return &v->word[word];
}

/* ---- words ----------------------------------------------------------------------------------- */

static uint32_t number_of(const block *b, uint32_t line)
{
    uint32_t number = 0;
    if (line) module_file(b->launch->function->module, line, &number);
    return number;
}

static const char *access_name(access_kind how)
{
    return how == ACCESS_LOAD ? "reads" : how == ACCESS_STORE ? "overwrites" : "updates";
}

void report_visit(warp *w, const op *o, uint32_t offset, uint32_t lane, access_kind how,
                  const conflict *c)
{
    const block *b = w->block;
    char me[48], other[48];
    const race r = {.how = how, .line = c->line, .wrote = c->wrote};
    report_race(w, o, FINDING_RACE, lane, offset, &r,
                "thread%s of block %u of a cluster %s what thread%s of block %u %s at line %u with "
                "no barrier of the cluster in between: write cluster.sync() there; __syncthreads() "
                "orders the threads of one block only",
                thread_name(b, w->index * LANES + lane, me), b->rank, access_name(how),
                thread_name(b, c->thread, other), c->rank, c->wrote ? "wrote" : "read",
                number_of(b, c->line));
}

static void report_early(warp *w, const op *o, uint32_t offset, uint32_t lane, const block *to)
{
    char me[48];
    report(w, o, FINDING_RACE, lane, offset,
           "thread%s of block %u of a cluster accesses the shared memory of block %u, which may "
           "not have begun: write cluster.sync() before the first access to another block's memory",
           thread_name(w->block, w->index * LANES + lane, me), w->block->rank, to->rank);
}

static void report_late(warp *w, const op *o, uint32_t offset, uint32_t lane, const block *to)
{
    char me[48];
    report(w, o, FINDING_RACE, lane, offset,
           "thread%s of block %u of a cluster accesses the shared memory of block %u, which has "
           "ended: that block must wait, so write cluster.sync() after the last access to another "
           "block's memory, in all blocks",
           thread_name(w->block, w->index * LANES + lane, me), w->block->rank, to->rank);
}

/* ---- what comes before what ------------------------------------------------------------------ */

static const block *block_of(const block *b, const visit *v)
{
    return b->cluster->block[v->rank];
}

/* Does the earlier visit race with what this lane does now to those bytes? */
static bool races(const warp *w, const op *o, uint32_t lane, uint32_t bytes, const visit *v)
{
    if (!v->tick || !(v->bytes & bytes) || v->rank == w->block->rank) return false;
    if (v->atomic && o->strength == STRENGTH_ATOMIC) return false;
    return !cluster_orders(w, lane, block_of(w->block, v), v->thread / LANES, v->tick);
}

static void meet(conflict *found, const visit *v, bool wrote)
{
    found->cell = VISITED;
    found->line = v->line;
    found->wrote = wrote;
    found->rank = v->rank;
    found->thread = v->thread;
}

static void meet_visits(const warp *w, const op *o, uint32_t lane, uint32_t bytes, const visited *x,
                        bool written, access_kind how, conflict *found)
{
    if (written && races(w, o, lane, bytes, &x->write)) meet(found, &x->write, true);
    for (uint32_t k = 0; how != ACCESS_LOAD && !found->cell && k < READERS; k++)
        if (races(w, o, lane, bytes, &x->read[k])) meet(found, &x->read[k], false);
}

/* Of this block, just before the barrier of the cluster that orders the visit for this lane, and so
 * for all blocks. @return 0: none does */
static uint32_t tick_before(const warp *w, uint32_t lane, const visit *v)
{
    const block *b = w->block;
    const cluster *c = b->cluster;
    uint32_t passed = cluster_passed(w, lane), phase = (passed - 1) % PHASES;
    if (!passed || v->tick >= c->warp[v->rank][v->thread / LANES].released[phase]) return 0;
    uint32_t released = c->warp[b->rank][0].released[phase];
    return released > b->rewound + b->first_tick ? released - b->rewound - 1 : 0;
}

/* What no longer can race is as if this block had done it before. A load leaves what an mbarrier
 * orders: that other blocks do not know. */
static void settle(const warp *w, cells *c, uint32_t i, uint32_t lane, const visited *x,
                   access_kind how)
{
    const block *b = w->block;
    uint32_t tick = how == ACCESS_STORE ? b->epoch_tick - 1 : tick_before(w, lane, &x->write);
    if (how != ACCESS_ATOMIC && tick && b->epoch_tick > b->first_tick && c->written[i] == VISITED) {
        c->written[i] = tick << TICK_SHIFT;
        c->written_line[i] = x->write.line;
    }
    if (how != ACCESS_STORE || c->read[i] != VISITED) return;
    c->read[i] = x->cell;
    c->read_line[i] = x->line;
}

bool visits_meet(warp *w, const op *o, cells *c, uint32_t i, uint32_t lane, access_kind how,
                 conflict *found)
{
    block *b = w->block;
    bool byte = c == &b->bytes, written = c->written[i] == VISITED;
    if (!written && (how == ACCESS_LOAD || c->read[i] != VISITED)) return false;
    const visited *x = &b->visits->word[byte ? i / 4 : i];
    conflict here = {0};
    meet_visits(w, o, lane, byte ? 1u << i % 4 : 15, x, written, how, &here);
    if (here.cell)
        *found = here;
    else
        settle(w, c, i, lane, x, how);
    return here.cell || c->written[i] == VISITED;
}

/* ---- a visit --------------------------------------------------------------------------------- */

/** One lane's access to the memory of another block. */
typedef struct call_on {
    warp *warp;
    const op *op;
    block *to;
    uint32_t lane;
    access_kind how;
} call_on;

/* A cell of the block that is visited: what its own thread did. */
static bool races_with_own(const call_on *x, uint32_t cell)
{
    const block *to = x->to;
    uint32_t tick = (cell & ~CROWD) >> TICK_SHIFT;
    if (tick < to->first_tick || tick < 2) return false; /* of the block before; long ago */
    if (cell & ATOMIC && x->op->strength == STRENGTH_ATOMIC) return false;
    return !cluster_orders(x->warp, x->lane, to, (cell & WARP) / LANES, to->rewound + tick);
}

static void meet_own(const call_on *x, uint32_t cell, uint32_t line, bool wrote, conflict *found)
{
    if (races_with_own(x, cell))
        meet(found, &(visit){.line = line, .rank = (uint8_t)x->to->rank, .thread = cell & THREAD},
             wrote);
}

static void look(const call_on *x, const cells *c, uint32_t i, uint32_t bytes, const visited *v,
                 conflict *found)
{
    uint32_t written = c->written[i], read = c->read[i];
    if (written == UNOWNED)
        found->unowned = true;
    else if (is_flying(written, x->op))
        found->cell = FLYING, found->line = c->written_line[i];
    else if (x->how != ACCESS_LOAD && read == READING)
        found->cell = READING, found->line = c->read_line[i];
    else if (written == VISITED || read == VISITED)
        meet_visits(x->warp, x->op, x->lane, bytes, v, written == VISITED, x->how, found);
    if (found->cell || written >= VISITED) return;
    uint32_t own = read == VISITED ? v->cell : read;
    if (x->how != ACCESS_LOAD && own < VISITED)
        meet_own(x, own, read == VISITED ? v->line : c->read_line[i], false, found);
    if (!found->cell) meet_own(x, written, c->written_line[i], true, found);
}

static visit visit_now(const call_on *x, uint32_t bytes)
{
    const warp *w = x->warp;
    return (visit){.tick = tick_now(w->block),
                   .line = x->op->line,
                   .thread = (uint16_t)(w->index * LANES + x->lane),
                   .rank = (uint8_t)w->block->rank,
                   .bytes = (uint8_t)bytes,
                   .atomic = x->op->strength == STRENGTH_ATOMIC};
}

/* The bytes of a visit before, of the same thread at the same time, stay. */
static void note(visit *v, visit now)
{
    if (v->tick == now.tick && v->rank == now.rank && v->thread == now.thread)
        now.bytes |= v->bytes;
    *v = now;
}

static void mark(const call_on *x, cells *c, uint32_t i, uint32_t bytes, visited *v)
{
    const visit now = visit_now(x, bytes);
    if (x->how != ACCESS_LOAD) {
        note(&v->write, now);
        if (c->written[i] == ADDING) return;
        c->written[i] = VISITED;
        c->written_line[i] = now.line;
        return;
    }
    if (c->read[i] != VISITED) {
        v->cell = c->read[i] < VISITED ? c->read[i] : 0;
        v->line = c->read_line[i];
        memset(v->read, 0, sizeof v->read);
    }
    if (v->read[0].rank != now.rank && v->read[0].tick) v->read[1] = v->read[0];
    note(&v->read[0], now);
    if (c->read[i] != READING) c->read[i] = VISITED;
}

static void visit_cells(const call_on *x, uint32_t offset, uint32_t bytes, conflict *found,
                        bool marking)
{
    block *b = x->to;
    for (uint32_t at = offset; at < offset + bytes;) {
        uint32_t word = at / 4;
        bool whole = at % 4 == 0 && at + 4 <= offset + bytes;
        if (!whole) shadow_split(b, word);
        bool parts = b->words.written[word] == SPLIT;
        cells *c = parts ? &b->bytes : &b->words;
        visited *v = visited_at(b, word);
        uint32_t i = parts ? at : word, mask = parts ? 1u << at % 4 : 15;
        if (marking) {
            shadow_wake(b, word, word);
            mark(x, c, i, mask, v);
        } else {
            look(x, c, i, mask, v, found);
        }
        at += parts ? 1 : 4;
    }
}

static bool has_begun(const warp *w, uint32_t lane, const block *to)
{
    const cluster *c = w->block->cluster;
    uint32_t rank = w->block->rank;
    return c->warp[rank][w->index].waited[lane] || c->joined[rank] || c->known[rank][to->rank];
}

static bool is_unchanged(const block *b, uint32_t offset, uint32_t bytes, const void *value)
{
    return value && !memcmp(b->shared + offset, value, bytes);
}

/* It is not there, whatever lies in it. @return whether that was said */
static bool tell_absent(const call_on *x, uint32_t offset)
{
    warp *w = x->warp;
    bool begun = has_begun(w, x->lane, x->to);
    if (begun && x->to->live) return false;
    if (!w->block->launch->check_races) return true;
    if (begun)
        report_late(w, x->op, offset, x->lane, x->to);
    else
        report_early(w, x->op, offset, x->lane, x->to);
    return true;
}

static void tell(const call_on *x, uint32_t offset, uint32_t bytes, const void *value,
                 const conflict *found)
{
    warp *w = x->warp;
    if (!w->block->launch->check_races) return;
    if (found->cell == FLYING)
        report_shared_copy(w, x->op, offset, x->lane, x->how, found);
    else if (found->cell == READING)
        report_shared_reading(w, x->op, offset, x->lane, found);
    else if (found->cell && !is_unchanged(x->to, offset, bytes, value))
        report_visit(w, x->op, offset, x->lane, x->how, found);
}

bool visit_lane(warp *w, const op *o, block *to, uint32_t offset, uint32_t bytes, uint32_t lane,
                access_kind how, const void *value)
{
    const call_on x = {w, o, to, lane, how};
    conflict found = {.unowned = offset >= to->shared_bytes || bytes > to->shared_bytes - offset};
    if (!found.unowned) visit_cells(&x, offset, bytes, &found, false);
    if (found.unowned) {
        report_shared_bounds(w, o, offset, bytes, lane, how);
        return false;
    }
    bool absent = tell_absent(&x, offset);
    if (!absent) tell(&x, offset, bytes, value, &found);
    if (absent && how == ACCESS_LOAD) return true;
    visit_cells(&x, offset, bytes, &found, true);
    if (!absent) to->visits->last[w->block->rank] = visit_now(&x, 15);
    return true;
}

bool visit_copy(warp *w, const op *o, block *to, uint32_t offset, uint32_t bytes, uint32_t lane)
{
    const bool adds = o->strength == STRENGTH_ATOMIC;
    const call_on x = {w, o, to, lane, adds ? ACCESS_ATOMIC : ACCESS_STORE};
    conflict found = {.unowned = offset >= to->shared_bytes || bytes > to->shared_bytes - offset};
    if (!found.unowned) visit_cells(&x, offset, bytes, &found, false);
    if (found.unowned)
        report_shared_bounds(w, o, offset, bytes, lane, x.how);
    else if (!tell_absent(&x, offset))
        tell(&x, offset, bytes, NULL, &found);
    return !found.unowned;
}

/* ---- the end of a block ---------------------------------------------------------------------- */

static uint32_t last_passed(const block *b)
{
    const cluster *c = b->cluster;
    uint32_t passed = c->joined[b->rank];
    for (uint32_t k = 0; k < b->warp_count; k++)
        for (uint32_t i = 0; i < LANES; i++)
            if (c->warp[b->rank][k].waited[i] > passed) passed = c->warp[b->rank][k].waited[i];
    return passed;
}

/* Is it before the end of the block, whose last barrier of the cluster was that one? */
static bool is_before_end(const block *b, const visit *v, uint32_t passed)
{
    const cluster *c = b->cluster;
    const block *by = block_of(b, v);
    uint32_t k = v->thread / LANES;
    if (passed && v->tick < c->warp[v->rank][k].released[(passed - 1) % PHASES]) return true;
    return v->tick < c->known[b->rank][v->rank] || v->tick < by->warps[k].published;
}

static void report_leaving(const block *b, const visit *v)
{
    block *by = b->cluster->block[v->rank];
    char text[400], who[48];
    snprintf(text, sizeof text,
             "thread%s of block %u of a cluster accesses the shared memory of block %u, which may "
             "have ended: nothing makes that block wait, so write cluster.sync() after the last "
             "access to another block's memory, in all blocks",
             thread_name(by, v->thread, who), v->rank, b->rank);
    report_at(by, by->launch->function, v->line, FINDING_RACE, v->thread, 0, text);
}

static void report_unwritten(const block *b, const visit *v, uint32_t offset)
{
    block *by = b->cluster->block[v->rank];
    const uint32_t *grid = b->launch->request->grid;
    uint32_t number = (by->index[2] * grid[1] + by->index[1]) * grid[0] + by->index[0];
    char text[200];
    snprintf(text, sizeof text,
             "reads shared memory of block %u of the cluster that nothing has written", b->rank);
    report_of(by, number, by->launch->function, v->line, FINDING_UNINITIALISED,
              CAUSE_UNWRITTEN_SHARED, v->thread, offset, text);
}

/* What was read and never written. (If it was written later, that is a race.) */
static void check_written(const block *b, const cells *c, uint32_t i, uint32_t word)
{
    uint32_t written = c->written[i];
    if (c->read[i] == VISITED && written < VISITED && written >> TICK_SHIFT < b->first_tick)
        report_unwritten(b, &b->visits->word[word].read[0], 4 * word);
}

static void check_all_written(const block *b)
{
    const visits *v = b->visits;
    for (uint32_t i = v->first; i < v->end; i++) {
        bool parts = b->words.written[i] == SPLIT;
        if (!parts) check_written(b, &b->words, i, i);
        for (uint32_t k = 0; parts && k < 4; k++) check_written(b, &b->bytes, 4 * i + k, i);
    }
}

void visits_end(block *b)
{
    const visits *v = b->visits;
    if (!v || v->end == 0) return;
    const uint32_t passed = last_passed(b);
    if (b->launch->check_uninitialised) check_all_written(b);
    for (uint32_t i = 0; b->launch->check_races && i < b->cluster->count; i++)
        if (v->last[i].tick && !is_before_end(b, &v->last[i], passed))
            report_leaving(b, &v->last[i]);
}
