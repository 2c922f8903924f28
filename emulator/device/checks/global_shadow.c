/*
 * global_shadow.c: races in global memory: the cells, and what an access does to them.
 *
 * Interface
 *   global_shadow_open, global_shadow_over, global_shadow_close, global_shadow_forget
 *   global_shadow_start, global_shadow_fence, global_shadow_grid_sync, global_shadow_end
 *   global_shadow_access, global_shadow_stored
 *   global_shadow_renew, global_shadow_event     for order.c and order_race.c
 *
 * See global_shadow.h for the cells. A coalesced access of a whole warp is decided and noted eight
 * words at a time; anything else word by word.
 *
 * Blocks on several host threads share the cells. A cell is one aligned word, written as a whole;
 * of two accesses of whole warps at the very same moment one may be lost, which hides a race but
 * makes none up.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "device/base/arena.h"
#include "device/base/pages.h"
#include "global_shadow.h"
#include "order.h"

/* ---- memory ---------------------------------------------------------------------------------- */

enum { SLACK = 4096 };
#define CELL_BYTES  (DEVICE_BYTES + SLACK)
#define EVENT_BYTES (MOST_EVENTS * sizeof(event))
#define EPOCH_BYTES (MOST_EPOCHS * sizeof(uint32_t))

void global_shadow_close(device *d)
{
    global_shadow *g = d->global_shadow;
    if (!g) return;
    pages_release(g->written, CELL_BYTES);
    pages_release(g->read, CELL_BYTES);
    pages_release(g->events, EVENT_BYTES);
    pages_release(g->released, EPOCH_BYTES);
    free(g);
    d->global_shadow = NULL;
}

static bool make(device *d)
{
    if (d->global_shadow) return true;
    global_shadow *g = d->global_shadow = take(1, sizeof *g);
    g->written = pages_reserve_huge(CELL_BYTES);
    g->read = pages_reserve_huge(CELL_BYTES);
    g->events = pages_reserve(EVENT_BYTES);
    g->released = pages_reserve(EPOCH_BYTES);
    g->next = 1;
    if (g->written && g->read && g->events && g->released) return true;
    global_shadow_close(d);
    return false;
}

void global_shadow_renew(device *d)
{
    global_shadow *g = d->global_shadow;
    if (!g || g->next <= MOST_EVENTS / 2) return;
    madvise(g->written, CELL_BYTES, MADV_DONTNEED);
    madvise(g->read, CELL_BYTES, MADV_DONTNEED);
    madvise(g->events, EVENT_BYTES, MADV_DONTNEED);
    g->next = 1;
    order_forget(d);
}

void global_shadow_forget(device *d, uint64_t offset, uint64_t bytes)
{
    const global_shadow *g = d->global_shadow;
    order_forget_range(d, offset, bytes);
    if (!g) return;
    pages_clear((uint8_t *)g->written, offset, bytes);
    pages_clear((uint8_t *)g->read, offset, bytes);
}

/* ---- launches, blocks, order ----------------------------------------------------------------- */

bool global_shadow_open(launch *l)
{
    if (!make(l->device)) return false;
    global_shadow *g = l->device->global_shadow;
    global_shadow_renew(l->device);
    g->first = g->next;
    g->floor = order_floor(l->device, g->next);
    order_paint(l->device);
    g->next_epoch = 1;
    g->told = false;
    g->clock = 0;
    g->launches++;
    return true;
}

/* A host that has seen the flag, set behind a fence, need not wait. Whether it did nobody knows:
 * then all that was is over. */
void global_shadow_over(const launch *l)
{
    const global_shadow *g = l->device->global_shadow;
    if (!l->watched) return;
    order_launched(l, g->first, g->next, g->clock > 0);
    if (g->told && g->clock > 0) order_forget(l->device);
}

static tracker *add_tracker(global_shadow *g)
{
    tracker *t = take(1, sizeof *t);
    t->next = __atomic_load_n(&g->trackers, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&g->trackers, &t->next, t, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    return t;
}

void global_shadow_start(block *b, uint32_t number)
{
    global_shadow *g = b->device->global_shadow;
    if (!b->tracker) b->tracker = add_tracker(g);
    tracker *t = b->tracker;
    if (t->launch != g->launches) t->event = t->end_event = t->overs = 0;
    t->launch = g->launches;
    t->number = number;
    t->epoch = t->acquired = 0;
    t->strong = t->acquiring = false;
    t->fenced_count = 0;
    memset(t->recent, 0, b->warp_count * sizeof *t->recent);
}

void global_shadow_fence(block *b)
{
    tracker *t = b->tracker;
    if (!t->epoch) return;
    if ((t->fenced_count & (t->fenced_count - 1)) == 0) /* is it full? It holds powers of two */
        t->fenced = retake(t->fenced, 2 * (size_t)(t->fenced_count + 1) * sizeof *t->fenced);
    t->fenced[t->fenced_count++] = t->epoch;
    t->epoch = 0;
}

/* Before the flag is set: whoever sees it finds the clock that says so. */
static void release(global_shadow *g, tracker *t)
{
    if (!t->fenced_count) return;
    uint32_t now = __atomic_add_fetch(&g->clock, 1, __ATOMIC_SEQ_CST);
    while (t->fenced_count)
        __atomic_store_n(&g->released[t->fenced[--t->fenced_count]], now, __ATOMIC_RELEASE);
}

void global_shadow_end(tracker *t)
{
    if (t) free(t->fenced);
    free(t);
}

/* A strong access is over when the next one begins: by then it has seen what it could see. */
static void acquire(const global_shadow *g, tracker *t)
{
    if (!t->acquiring) return;
    t->acquired = __atomic_load_n(&g->clock, __ATOMIC_ACQUIRE);
    t->acquiring = false;
}

void global_shadow_grid_sync(launch *l)
{
    global_shadow *g = l->device->global_shadow;
    if (l->watched) store_relaxed(&g->floor, load_relaxed(&g->next));
}

/* ---- events ---------------------------------------------------------------------------------- */

/* 0: there are none left in this launch. */
static uint32_t take_number(global_shadow *g, tracker *t)
{
    if (t->event == t->end_event || t->event < load_relaxed(&g->floor)) {
        if (load_relaxed(&g->next) > MOST_EVENTS - MAX_WORKERS * EVENT_CHUNK) return 0;
        t->event = __atomic_fetch_add(&g->next, EVENT_CHUNK, __ATOMIC_RELAXED);
        t->end_event = t->event + EVENT_CHUNK;
    }
    return t->event++;
}

static uint32_t epoch_of(global_shadow *g, tracker *t)
{
    if (t->epoch || load_relaxed(&g->next_epoch) > MOST_EPOCHS - 2 * MAX_WORKERS) return t->epoch;
    t->epoch = __atomic_fetch_add(&g->next_epoch, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&g->released[t->epoch], 0, __ATOMIC_RELEASE);
    return t->epoch;
}

static uint32_t new_event(const warp *w, const op *o)
{
    block *b = w->block;
    global_shadow *g = b->device->global_shadow;
    uint32_t number = take_number(g, b->tracker);
    if (!number) return 0;
    g->events[number] = (event){.block = b->tracker->number,
                                .tick = b->rewound + b->tick,
                                .epoch = epoch_of(g, b->tracker),
                                .strength = o->strength & 3u,
                                .uniform = o->uniform,
                                .in_block = o->in_block,
                                .warp = w->index & 31u,
                                .line = o->line & 0xffffffu};
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return number;
}

/* The last event of this operation, if nothing has happened since that orders accesses. */
static uint32_t find_event(const warp *w, const op *o)
{
    const block *b = w->block;
    recent *r = &b->tracker->recent[w->index][(uintptr_t)o / sizeof *o % RECENT];
    uint32_t since = b->epoch_tick > w->synced ? b->epoch_tick : w->synced;
    if (b->fenced > since) since = b->fenced;
    bool fresh = r->op == o && (int32_t)(r->tick - b->rewound) >= (int32_t)since &&
                 r->event >= load_relaxed(&b->device->global_shadow->floor);
    if (!fresh) *r = (recent){o, new_event(w, o), b->rewound + b->tick};
    return r->event;
}

/* ---- word by word ---------------------------------------------------------------------------- */

/* May an atomic operation leave the cell to what wrote before it? To another atomic one, and to a
 * plain store of its own block: that is what the atomics of other blocks race with. One that is
 * atomic in its block only, to those of its block. */
static bool yields(const touch *t, uint32_t before)
{
    const block *b = t->warp->block;
    const global_shadow *g = b->device->global_shadow;
    if (t->op->strength != STRENGTH_ATOMIC) return false;
    return (before & CELL_STRONG && !t->op->in_block) ||
           (!is_foreign(g, before) && cell_event(g, before)->block == b->tracker->number);
}

/* @return false: another host thread has changed the cell, and `before` says to what */
static bool change(const touch *t, uint32_t *cell, uint32_t *before, uint32_t now)
{
    if (launch_threads(t->warp->block->launch) > 1)
        return __atomic_compare_exchange_n(cell, before, now, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
    *cell = now;
    return true;
}

/* @return the cell as it was */
static uint32_t note_write(const touch *t, uint32_t *written, uint32_t floor, bool *yielding)
{
    bool strong = t->op->strength != STRENGTH_PLAIN && !t->op->in_block;
    uint32_t before = load_relaxed(written), now = t->me | (strong ? CELL_STRONG : 0);
    do {
        *yielding = before >= floor && yields(t, before);
    } while (!*yielding && !change(t, written, &before, now));
    return before;
}

static void note_read(const touch *t, uint32_t *read, uint32_t floor)
{
    uint32_t before = load_relaxed(read), now;
    do {
        now = before < floor ? t->me : add_reader(t, before);
    } while (now != before && !change(t, read, &before, now));
}

/* Noted first and looked at then: of two host threads at the same moment one sees the other. */
static void touch_word(const touch *t)
{
    global_shadow *g = t->warp->block->device->global_shadow;
    uint32_t *written = &g->written[t->word], *read = &g->read[t->word];
    uint32_t floor = load_relaxed(&g->floor) << EVENT_SHIFT, before;
    bool yielding = false;
    if (t->how == ACCESS_LOAD) {
        note_read(t, read, floor);
        before = load_relaxed(written);
    } else {
        before = note_write(t, written, floor, &yielding);
    }
    uint32_t reader = load_relaxed(read);
    bool atomics = yielding && before & CELL_STRONG;
    if (is_stale_copy(t, before)) {
        report_stale_copy(t, before);
    } else if (before >= floor && !atomics && races_with_write(t, before)) {
        report_global_race(t, before, true);
    } else if (t->how != ACCESS_LOAD && reader >= floor && races_with_read(t, reader)) {
        report_global_race(t, reader, false);
    }
}

/* The part of a word that `bytes` from byte `at` on are. */
static uint32_t part_of(uint64_t at, uint32_t bytes)
{
    if (bytes >= 4) return 0;
    return bytes == 2 ? 1 + (at / 2 & 1) : 3 + (at & 3);
}

static void touch_lane(touch *t, uint64_t address, uint32_t bytes, uint32_t event)
{
    uint64_t offset = address - DEVICE_BASE;
    if (offset >= DEVICE_BYTES || address & (bytes - 1)) return; /* others object to that */
    t->address = address;
    t->me = event << EVENT_SHIFT | t->lane << LANE_SHIFT | part_of(offset, bytes) << PART_SHIFT;
    for (t->word = offset / 4; t->word <= (offset + bytes - 1) / 4; t->word++) touch_word(t);
}

static uint64_t address_at(const warp *w, const op *o, uint32_t lane)
{
    const void *a = row(w, o->a);
    if (o->narrow) return (uint32_t)(((const uint32_t *)a)[lane] + (uint64_t)o->offset);
    return ((const uint64_t *)a)[lane] + (uint64_t)o->offset;
}

static void touch_lanes(touch *t, uint32_t mask, uint32_t event)
{
    uint32_t bytes = (uint32_t)t->op->size * t->op->count, seen = 0;
    uint64_t last = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        t->lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = address_at(t->warp, t->op, t->lane);
        seen = address == last ? seen + 1 : 0;
        last = address;
        if (seen > 1 && t->how == ACCESS_LOAD) continue; /* a third reader makes no difference */
        touch_lane(t, address, bytes, event);
    }
}

static void touch_sources(touch *t, uint32_t mask, uint32_t event)
{
    const op *o = t->op;
    const uint64_t *from = row(t->warp, o->b), *extra = row(t->warp, o->e);
    const uint32_t *count = row(t->warp, o->c);
    for (uint32_t m = mask; m; m &= m - 1) {
        t->lane = (uint32_t)__builtin_ctz(m);
        if (count[t->lane] < o->size) continue;
        touch_lane(t, from[t->lane] + extra[t->lane], o->size, event);
    }
}

/* ---- whole warps ----------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

typedef uint32_t cells8 __attribute__((vector_size(32), aligned(4), may_alias));

static const cells8 lanes_by_1 = {0, 32, 64, 96, 128, 160, 192, 224},
                    lanes_by_2 = {0, 0, 32, 32, 64, 64, 96, 96},
                    lanes_by_4 = {0, 0, 0, 0, 32, 32, 32, 32};

INLINE void load_cells(cells8 *x, const uint32_t *cells)
{
    *x = *(const volatile cells8 *)cells;
}

INLINE bool any(const cells8 *x)
{
    uint32_t bits = 0;
    for (int i = 0; i < 8; i++) bits |= (*x)[i];
    return bits != 0;
}

/* What cells must be added to the cell of lane 0: `each` words a lane, eight words from `i` on. */
INLINE void lanes_from(cells8 *x, uint32_t i, uint32_t each)
{
    *x = each == 1 ? lanes_by_1 : each == 2 ? lanes_by_2 : lanes_by_4;
    *x += i / each << LANE_SHIFT;
}

INLINE bool all_older(const uint32_t *cells, uint32_t floor, uint32_t each)
{
    cells8 newer = {0}, x;
    for (uint32_t i = 0; i < LANES * each; i += 8) {
        load_cells(&x, cells + i);
        newer |= (cells8)(x >= floor);
    }
    return !any(&newer);
}

/* Of earlier works, each eight words of one, that come before this launch? */
INLINE bool all_over(const warp *w, const uint32_t *cells, uint32_t floor, uint32_t each)
{
    const global_shadow *g = w->block->device->global_shadow;
    cells8 x;
    for (uint32_t i = 0; i < LANES * each; i += 8) {
        load_cells(&x, cells + i);
        uint32_t cell = x[0];
        cells8 others = x >> EVENT_SHIFT ^ cell >> EVENT_SHIFT;
        cells8 newer = (cells8)(x >= floor);
        if (!any(&newer)) continue;
        if (any(&others) || !is_foreign(g, cell) || !is_over(w->block, cell >> EVENT_SHIFT))
            return false;
    }
    return true;
}

/* Each cell of the same event, its lane's? */
INLINE bool all_of(const uint32_t *cells, uint32_t first, uint32_t each)
{
    cells8 off = {0}, x, lanes;
    for (uint32_t i = 0; i < LANES * each; i += 8) {
        load_cells(&x, cells + i);
        lanes_from(&lanes, i, each);
        off |= x ^ (first + lanes);
    }
    return !any(&off);
}

INLINE bool all_crowded(const uint32_t *cells, uint32_t floor, uint32_t each)
{
    cells8 off = {0}, x;
    for (uint32_t i = 0; i < LANES * each; i += 8) {
        load_cells(&x, cells + i);
        off |= (cells8)(x < floor) | ((x & (7 << PART_SHIFT | SPREAD)) ^ SPREAD_GRID);
    }
    return !any(&off);
}

INLINE void set_cells(uint32_t *cells, uint32_t first, uint32_t each)
{
    cells8 lanes;
    for (uint32_t i = 0; i < LANES * each; i += 8) {
        lanes_from(&lanes, i, each);
        *(volatile cells8 *)(cells + i) = first + lanes;
    }
}

/* Nothing in this launch or apart from it? */
INLINE bool untouched(const warp *w, const uint32_t *cells, uint32_t floor, uint32_t each)
{
    return all_older(cells, floor, each) ||
           (floor >> EVENT_SHIFT < w->block->device->global_shadow->first &&
            all_over(w, cells, floor, each));
}

/* That, or one event that comes before, each lane's own. */
INLINE bool settled(const warp *w, const op *o, const uint32_t *cells, uint32_t floor,
                    uint32_t each)
{
    if (untouched(w, cells, floor, each)) return true;
    uint32_t first = load_relaxed(cells), rest = (1u << EVENT_SHIFT) - 1;
    if (first < floor || first & rest || !all_of(cells, first, each)) return false;
    return order_of(w, o, first) != ORDER_NONE;
}

INLINE bool touch_whole(const warp *w, const op *o, uint64_t word, uint32_t event, uint32_t each)
{
    const global_shadow *g = w->block->device->global_shadow;
    uint32_t *written = g->written + word, *read = g->read + word;
    uint32_t floor = load_relaxed(&g->floor) << EVENT_SHIFT, me = event << EVENT_SHIFT;
    if (o->read_only && !all_older(written, g->first << EVENT_SHIFT, each)) return false;
    if (!settled(w, o, written, floor, each)) return false;
    if (!o->is_load) {
        if (!settled(w, o, read, floor, each)) return false;
        set_cells(written, me, each);
        return true;
    }
    if (untouched(w, read, floor, each))
        set_cells(read, me, each);
    else if (!all_of(read, me, each) && !all_crowded(read, floor, each))
        return false;
    return true;
}

static bool rises(const uint64_t *a, uint32_t bytes)
{
    uint64_t off = 0;
    for (uint32_t i = 0; i < LANES; i++) off |= a[i] ^ (a[0] + (uint64_t)i * bytes);
    return off == 0;
}

static bool touch_row(const warp *w, const op *o, uint32_t mask, uint32_t event)
{
    uint32_t bytes = (uint32_t)o->size * o->count;
    if (!is_all(mask) || o->narrow || o->strength != STRENGTH_PLAIN || bytes % 4) return false;
    const uint64_t *a = row(w, o->a);
    uint64_t offset = a[0] + (uint64_t)o->offset - DEVICE_BASE;
    if (offset >= DEVICE_BYTES || offset % bytes || !rises(a, bytes)) return false;
    if (bytes == 4) return touch_whole(w, o, offset / 4, event, 1);
    if (bytes == 8) return touch_whole(w, o, offset / 4, event, 2);
    return touch_whole(w, o, offset / 4, event, 4);
}

static void touch_any(warp *w, const op *o, uint32_t mask, uint32_t event)
{
    bool copies = o->is_copy;
    if (!copies && touch_row(w, o, mask, event)) return;
    charge_lanes(w, o, mask);
    touch t = {.warp = w, .op = o, .how = ACCESS_STORE};
    if (o->is_load || copies) t.how = ACCESS_LOAD;
    if (o->is_atomic) t.how = ACCESS_ATOMIC;
    if (copies)
        touch_sources(&t, mask, event);
    else
        touch_lanes(&t, mask, event);
}

static void note_strong(const warp *w, const op *o, uint32_t mask)
{
    block *b = w->block;
    uint64_t address = address_at(w, o, (uint32_t)__builtin_ctz(mask));
    bool *told = &b->device->global_shadow->told;
    b->tracker->strong = b->tracker->acquiring = true;
    if (!o->is_load && address - DEVICE_BASE >= DEVICE_OWN_BYTES)
        __atomic_store_n(told, true, __ATOMIC_RELAXED);
}

/* From the note in the cells to the store itself other host threads may look at both: see
 * global_race.c. */
static bool store_begins(warp *w, const op *o, uint32_t event)
{
    tracker *t = w->block->tracker;
    bool plain = !o->is_load && !o->is_atomic && !o->is_copy && o->strength == STRENGTH_PLAIN;
    if (!plain || launch_threads(w->block->launch) == 1) return false;
    t->storer = w;
    t->store = o;
    __atomic_store_n(&t->storing, event, __ATOMIC_SEQ_CST);
    return true;
}

bool global_shadow_access(warp *w, const op *o, uint32_t mask)
{
    tracker *t = w->block->tracker;
    acquire(w->block->device->global_shadow, t);
    if (o->strength != STRENGTH_PLAIN && !o->is_load && !o->in_block)
        release(w->block->device->global_shadow, t);
    uint32_t event = find_event(w, o);
    bool stores = event && store_begins(w, o, event);
    if (event) touch_any(w, o, mask, event);
    if (o->strength != STRENGTH_PLAIN && !o->in_block) note_strong(w, o, mask);
    if (o->strength != STRENGTH_PLAIN && (o->is_load || o->is_atomic)) w->block->listens = true;
    return stores;
}

void global_shadow_stored(const warp *w)
{
    __atomic_store_n(&w->block->tracker->storing, 0, __ATOMIC_RELEASE);
}

uint32_t global_shadow_event(device *d)
{
    if (!make(d)) return 0;
    global_shadow_renew(d);
    return d->global_shadow->next++;
}
