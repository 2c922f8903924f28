/*
 * still.c: endless loops that can be told at once: every warp of every block in flight waits, or
 * goes around a loop that only reads and ends each time with the same registers. No warp is left to
 * change what they read. (Other endless loops spend the instruction budget.)
 *
 * Interface
 *   still_start, still_turn, still_end     for block.c and cluster.c: a block, or the first of a
 *                                          cluster, starts, has had a turn, has ended
 *   still_note                             for warp.c: before an operation of a block that is still
 *   still_waits_for_host                   for warp.c: does it loop until the host writes?
 *   still_leave                            for launch.c: a host thread has no more blocks
 *   still_again, still_report              for together.c: the launches of several devices stand
 * still
 *
 * A block is still when it comes back to the same registers; its first operation that does more
 * than read ends that. launch->changes counts how often a block became still or ceased to be. A
 * host thread that comes back to the same registers while the count is unchanged agrees to it, and
 * when all host threads agree to one count, the loop is endless: a thread that wrote meanwhile had
 * not agreed before, or it would have gone around once more, and it counts before it can. (The
 * number of host threads is in the same word, because a thread that leaves changes both.)
 */
#include "device/base/cluster.h"
#include "device/counts/count.h"
#include "device/ops/ops.h"
#include "run.h"

enum {
    LOOK = 16, /* turns between looks */
    MOST_LOOKS = 1024,
};

/* ---- what a block looks like ----------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const uint64_t *words = data;
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        hash = ((hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15)) ^ hash >> 29;
    return hash;
}

static uint64_t mix_group(uint64_t hash, const lane_group *g)
{
    const uint64_t what[] = {g->state, g->mask, (uintptr_t)g->pc, g->children};
    hash = mix(hash, what, sizeof what);
    return g->state == GROUP_READY ? mix(hash, g->registers, g->function->register_bytes) : hash;
}

/* The blocks of a cluster are one: the first of them keeps what is known of them all. So are two
 * that take turns. */
static block *member(block *b, uint32_t i)
{
    const cluster *c = b->cluster;
    if (c) return i < c->count ? c->block[i] : NULL;
    return i == 0 ? b : i == 1 ? b->beside : NULL;
}

static uint64_t print_of(block *first)
{
    uint64_t hash = 0;
    block *b;
    for (uint32_t r = 0; (b = member(first, r)); r++) {
        hash = hash * 31 + b->live;
        for (uint32_t k = 0; k < b->warp_count; k++) {
            const warp *w = &b->warps[k];
            for (int i = 0; i < w->group_count; i++) hash = mix_group(hash, &w->groups[i]);
        }
    }
    return hash;
}

/* ---- loops that only read -------------------------------------------------------------------- */

/* The host may write to memory that it shares, whatever the device does. */
static bool reads_host_memory(const lane_group *g, const op *o)
{
    if (o->narrow || o->a >> 30 != BANK_REGISTERS) return false;
    const uint64_t *address = (const uint64_t *)(g->registers + (o->a & 0x3fffffff));
    for (uint32_t m = g->mask; m; m &= m - 1) {
        uint64_t at = address[__builtin_ctz(m)] + (uint64_t)o->offset - DEVICE_BASE;
        if (at >= DEVICE_OWN_BYTES && at < DEVICE_BYTES) return true;
    }
    return false;
}

/* It stands before a statement of an instrumented copy and writes nothing that the kernel reads. */
static bool is_counting(handler *run)
{
    return run == run_count || run == run_count_branch || run == run_count_global ||
           run == run_count_shared || run == run_count_local || run == run_count_generic ||
           run == run_count_constant;
}

static bool is_reading(const lane_group *g, const op *o)
{
    handler *run = o->run == run_watched || o->run == run_rounded ? o->inner : o->run;
    if (o->is_load) return !o->is_copy && !reads_host_memory(g, o);
    if (run == run_atomic) return o->d && !reads_host_memory(g, o);
    return rule_of(run) || run == run_branch || run == run_join || run == run_fence ||
           run == run_warp_sync || run == run_local_address || is_counting(run);
}

static const op *end_of_loop(const lane_group *g)
{
    const function *f = g->function;
    const op *end = NULL;
    for (const op *o = g->pc; o < f->code + f->ops; o++)
        if (o->run == run_branch && o->target == g->pc) end = o;
    return end;
}

static bool only_reads(const lane_group *g)
{
    const op *end = end_of_loop(g);
    bool reads = end != NULL;
    for (const op *o = g->pc; reads && o <= end; o++) reads = is_reading(g, o);
    return reads;
}

bool still_waits_for_host(const lane_group *g)
{
    const op *end = end_of_loop(g);
    for (const op *o = g->pc; end && o <= end; o++)
        if ((o->is_load || o->is_atomic) && reads_host_memory(g, o)) return true;
    return false;
}

/* @return whether all groups of a block that can run go around in such loops; one of them */
static bool all_turn(block *b, warp **in, lane_group **found)
{
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp *w = &b->warps[k];
        for (int i = 0; i < w->group_count; i++) {
            lane_group *g = &w->groups[i];
            if (g->state != GROUP_READY) continue;
            bool hopes = w->vain && w->vain < PATIENCE; /* for its own other lanes */
            if (hopes || !only_reads(g)) return false;
            if (!*found) *in = w;
            if (!*found) *found = g;
        }
    }
    return true;
}

/* @return one of the groups that go around in such loops; NULL: there is another one */
static lane_group *find_turning(block *first, warp **in)
{
    lane_group *found = NULL;
    block *b;
    for (uint32_t r = 0; (b = member(first, r)); r++)
        if (b->live && !all_turn(b, in, &found)) return NULL;
    return found;
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* @return whether all host threads have agreed on that count of changes */
static bool agree(launch *l, uint64_t changes)
{
    const uint64_t count = changes - changes % LAUNCH_CHANGE;
    uint64_t old = l->agreed, new;
    do {
        if (old > changes) return false;
        new = (old < count ? count : old) + 1;
    } while (!atomic_compare_exchange_weak(&l->agreed, &old, new));
    return new == changes;
}

static void report_still(warp *w, const lane_group *g)
{
    const op *o = g->pc, *end = end_of_loop(g);
    while (o < end && !o->is_load && !o->is_atomic) o++; /* what it waits for; else where it ends */
    report_at(w->block, g->function, o->line, FINDING_ENDLESS_LOOP,
              w->index * LANES + (uint32_t)__builtin_ctz(g->mask), 0,
              "runs without end: the value that it waits for does not change, and nothing that "
              "still runs could change it");
    launch_stop(w->block->launch, DEVICE_TIMEOUT);
}

/* A loop over a table looks the same again after a whole round only. So there is a second print to
 * compare with, which is renewed after 1, 2, 4 ... looks (Brent). */
static bool recurs(block *b, uint64_t print)
{
    bool same = print == b->print || print == b->anchor;
    b->looks = same ? 0 : b->looks + 1;
    b->print = print;
    return same;
}

static void renew_anchor(block *b)
{
    b->anchor = b->print;
    b->looks = 0;
    if (b->renewal < MOST_LOOKS) b->renewal *= 2;
}

/* From here on it compares with what it looks like now, not with what it was before that change. */
static void begin_count(block *b, uint64_t changes)
{
    b->anchor = b->print;
    b->seen = changes;
    b->agreed = false;
}

static void set_still(block *b, bool still)
{
    block *each;
    b->still = still;
    for (uint32_t r = 0; (each = member(b, r)); r++) each->rests = still;
    begin_count(b, atomic_fetch_add(&b->launch->changes, LAUNCH_CHANGE) + LAUNCH_CHANGE);
}

static void look(block *b)
{
    launch *l = b->launch;
    uint64_t changes = l->changes;
    warp *w = NULL;
    bool same = recurs(b, print_of(b)), was_still = b->still;
    if (was_still && !same && b->looks < b->renewal) return; /* a round is not over */
    if (b->looks >= b->renewal) renew_anchor(b);
    const lane_group *g = same ? find_turning(b, &w) : NULL;
    if (was_still != (g != NULL)) {
        set_still(b, g != NULL);
    } else if (b->still && b->seen != changes) {
        begin_count(b, changes);
    } else if (b->still && !b->agreed) {
        b->agreed = true;
        if (agree(l, changes)) report_still(w, g);
    }
}

void still_start(block *b)
{
    b->turns = 0;
    b->print = b->anchor = 0;
    b->looks = 0;
    b->renewal = 1;
    b->still = b->agreed = false;
    block *each;
    for (uint32_t r = 0; (each = member(b, r)); r++) each->rests = false;
}

/* A turn in which every warp came to a barrier is none in which one went around such a loop. */
void still_turn(block *b)
{
    bool rest = true, spent = false;
    block *each;
    for (uint32_t r = 0; (each = member(b, r)); r++) {
        rest &= each->rests;
        spent |= each->spent;
    }
    if (b->still && !rest) set_still(b, false);
    if (!spent && !b->still) return;
    if (++b->turns % LOOK == 0) look(b);
}

void still_note(warp *w, const op *o)
{
    if (!is_reading(group_now(w), o)) w->block->rests = false;
}

void still_end(block *b)
{
    if (b->still) set_still(b, false);
}

bool still_again(block *b)
{
    warp *w = NULL;
    bool same = recurs(b, print_of(b));
    if (b->looks >= b->renewal) renew_anchor(b);
    return same && find_turning(b, &w);
}

void still_report(launch *l)
{
    warp *w = NULL;
    for (uint64_t i = 0; i < l->blocks && !l->stop; i++) {
        const lane_group *g = l->resident[i]->over ? NULL : find_turning(l->resident[i], &w);
        if (g) report_still(w, g);
    }
    launch_stop(l, DEVICE_TIMEOUT);
}

void still_leave(launch *l)
{
    atomic_fetch_add(&l->changes, LAUNCH_CHANGE - 1);
}
