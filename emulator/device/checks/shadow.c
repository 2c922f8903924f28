/*
 * shadow.c: the shadow of shared memory: bounds, races, initialisation.
 *
 * Interface
 *   shadow_prepare, shadow_close, shadow_start, shadow_tick
 *   shadow_load, shadow_store     may a whole run go ahead? (never report)
 *   shadow_lane                   may one lane? (reports)
 *
 * Every word has two cells, of its last write and its last read. A cell holds a stamp: the tick at
 * which it happened, and the thread. A tick passes with every synchronisation. What happened
 *   - before the last barrier of the block, or
 *   - in this very thread, or
 *   - in this warp, before its last warp-wide synchronisation
 * comes before what happens now; anything else is at the same time, and if one of the two writes,
 * that is a race. A write older than the block's first tick is another block's: uninitialised.
 *
 * Words that were ever accessed in parts, or belong to a variable in parts, are split: their cells
 * say so, and a cell for each byte holds the truth.
 *
 * A read cell has room for one reader. Of several it keeps the last, and two flags: MANY, several
 * lanes of that warp read; CROWD, several warps did.
 */
#include <stdlib.h>

#include "device/base/arena.h"
#include "visit.h"

enum {
    MOST_TICKS = (1 << 19) - 4,
    SHARED_MARGIN = 256, /* unowned bytes at the end */
};

static uint32_t stamp(const warp *w, uint32_t lane)
{
    return w->block->tick << TICK_SHIFT | w->index * LANES | lane;
}

static uint32_t tick_of(uint32_t cell)
{
    return (cell & ~CROWD) >> TICK_SHIFT;
}

/* ---- layout ---------------------------------------------------------------------------------- */

static void resize(cells *c, uint32_t count)
{
    uint32_t **all[] = {&c->written, &c->read, &c->written_line, &c->read_line};
    for (int i = 0; i < 4; i++) {
        free(*all[i]);
        *all[i] = take(count + 16, sizeof **all[i]);
    }
}

static void free_cells(cells *c)
{
    free(c->written);
    free(c->read);
    free(c->written_line);
    free(c->read_line);
}

void shadow_close(block *b)
{
    free_cells(&b->words);
    free_cells(&b->bytes);
    free(b->quiet);
    free(b->shared);
}

static void reserve(block *b, uint32_t bytes)
{
    if (bytes <= b->shared_capacity) return;
    b->shared_capacity = (bytes + 4095) & ~4095u;
    free(b->shared);
    b->shared = aligned_alloc(256, b->shared_capacity);
    if (!b->shared) abort();
    memset(b->shared, 0, b->shared_capacity);
    resize(&b->words, b->shared_capacity / 4);
    free(b->quiet);
    b->quiet = take(b->shared_capacity / 4 / PAGE_WORDS + 1, sizeof *b->quiet);
    resize(&b->bytes, b->shared_capacity);
}

static void forget_quiet(block *b)
{
    memset(b->quiet, 0, b->shared_capacity / 4 / PAGE_WORDS * sizeof *b->quiet);
}

static void own(block *b, uint32_t offset, uint32_t bytes)
{
    for (uint32_t i = offset; i < offset + bytes; i++) b->bytes.written[i] = 0;
    for (uint32_t i = offset / 4; i < (offset + bytes + 3) / 4; i++) {
        bool whole = 4 * i >= offset && 4 * i + 4 <= offset + bytes;
        b->words.written[i] = whole ? 0 : SPLIT;
    }
}

/* The variables of the module, each with a red zone behind it, then dynamic memory. */
void shadow_prepare(block *b)
{
    const module *m = b->launch->function->module;
    uint32_t dynamic = b->launch->request->dynamic_shared_bytes;
    if (b->shadow_of == m && b->shadow_dynamic == dynamic && b->shadow_version == m->version)
        return;
    b->shadow_of = m;
    b->shadow_version = m->version;
    b->shadow_dynamic = dynamic;
    b->shared_bytes = m->shared_bytes + dynamic + SHARED_MARGIN;
    reserve(b, b->shared_bytes + 64);
    memset(b->words.written, 0xff, b->shared_capacity);
    memset(b->bytes.written, 0xff, 4 * (size_t)b->shared_capacity);
    memset(b->words.read, 0, b->shared_capacity);
    memset(b->bytes.read, 0, 4 * (size_t)b->shared_capacity);
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const variable *v = &m->variables[i];
        if (v->space == SPACE_SHARED && !v->external)
            own(b, (uint32_t)v->address, (uint32_t)v->bytes);
    }
    own(b, m->shared_bytes, dynamic);
    forget_quiet(b);
    b->tick = 1;
}

/* ---- ticks ----------------------------------------------------------------------------------- */

/* Ticks run out now and then: all that has happened becomes "long ago". */
static void forget(cells *c, uint32_t count, uint32_t first_tick)
{
    for (uint32_t i = 0; i < count; i++) {
        c->read[i] = 0;
        if (c->written[i] >= VISITED) continue;
        c->written[i] = tick_of(c->written[i]) >= first_tick ? 1 << TICK_SHIFT : 0;
    }
}

static void rewind_ticks(block *b)
{
    forget(&b->words, b->shared_capacity / 4, b->first_tick);
    forget(&b->bytes, b->shared_capacity, b->first_tick);
    forget_quiet(b);
    b->rewound += b->tick;
    b->first_tick = 1;
    b->tick = b->epoch_tick = 2;
    b->fenced = 2;
    for (uint32_t k = 0; k < b->warp_count; k++) b->warps[k].synced = b->warps[k].fenced = 2;
    shadow_refresh(b);
}

uint32_t shadow_tick(block *b)
{
    if (b->tick >= MOST_TICKS) rewind_ticks(b);
    return ++b->tick;
}

/* Cells of the block before. */
static void forget_brought(block *b)
{
    for (uint32_t i = 0; b->brought && i < b->shared_capacity; i++)
        if (b->bytes.written[i] == BROUGHT) b->bytes.written[i] = 0;
    b->brought = false;
}

void shadow_start(block *b)
{
    forget_brought(b);
    if (b->tick >= MOST_TICKS / 2) rewind_ticks(b);
    b->first_tick = b->epoch_tick = ++b->tick;
    b->returned = b->barrier_line = 0;
    shadow_refresh(b);
}

void shadow_refresh(block *b)
{
    bool races = b->launch->check_races;
    b->oldest = b->launch->check_uninitialised ? b->first_tick << TICK_SHIFT : 0;
    b->recent = races ? b->epoch_tick << TICK_SHIFT : SPLIT;
    b->span = b->recent - b->oldest;
    b->crowded = races ? CROWD | b->recent : 0;
    b->read_mask = races ? ~CROWD : 0;
}

/* ---- whole runs ------------------------------------------------------------------------------ */

static void mark_reads(warp *w, const op *o, const run *r, uint32_t first, uint32_t count)
{
    cells *c = &w->block->words;
    uint32_t epoch = w->block->epoch_tick << TICK_SHIFT, synced = w->synced << TICK_SHIFT;
    uint32_t me = stamp(w, r->lane), *read = c->read + first, *line = c->read_line + first;
    if (r->step == 4) {
        for (uint32_t i = 0; i < count; i++)
            read[i] = shadow_read_cell(read[i], me + i, epoch, synced);
    } else {
        uint32_t each = r->bytes / 4, rises = r->step != 0;
        uint32_t several = r->step == 0 && r->lanes > 1 ? MANY : 0;
        for (uint32_t i = 0; i < count; i++) {
            read[i] = shadow_read_cell(read[i], me + i / each * rises, epoch, synced) | several;
        }
    }
    for (uint32_t i = 0; i < count; i++) line[i] = o->line;
}

static uint32_t words_of(const run *r)
{
    return r->bytes / 4 * (r->step ? r->lanes : 1);
}

/* Which lane accesses the i-th word: the first one, the i-th one, or by elements of several words.
 */
static uint32_t lane_of_word(const run *r, uint32_t i)
{
    return r->step == 4 ? i : r->step ? i / (r->bytes / 4) : 0;
}

bool shadow_load(warp *w, const op *o, const run *r)
{
    const block *b = w->block;
    if (r->bytes < 4 || o->strength != STRENGTH_PLAIN) return false;
    uint32_t first = (uint32_t)r->address / 4, count = words_of(r), me = stamp(w, r->lane);
    if (shadow_quiet(b, first, first + count - 1)) return true;
    const uint32_t *written = b->words.written + first;
    bool shared = r->step == 0 && r->lanes > 1, bad = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = (written[i] ^ (me + lane_of_word(r, i))) & (ATOMIC | THREAD);
        bad |= written[i] - b->oldest >= b->span && (other || shared || written[i] < b->oldest);
    }
    if (bad) return false;
    if (b->launch->check_races) mark_reads(w, o, r, first, count);
    return true;
}

bool shadow_store(warp *w, const op *o, const run *r)
{
    const block *b = w->block;
    if (r->bytes < 4 || o->strength != STRENGTH_PLAIN || (r->step == 0 && r->lanes > 1))
        return false;
    uint32_t first = (uint32_t)r->address / 4, count = words_of(r), me = stamp(w, r->lane);
    uint32_t *written = b->words.written + first, *line = b->words.written_line + first;
    const uint32_t *read = b->words.read + first;
    bool bad = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t mine = me + lane_of_word(r, i);
        bad |= written[i] >= b->recent && ((written[i] ^ mine) & (ATOMIC | THREAD));
        bad |=
            (read[i] & b->read_mask) >= b->recent && ((read[i] ^ mine) & (CROWD | MANY | THREAD));
    }
    if (bad) return false;
    for (uint32_t i = 0; i < count; i++) written[i] = me + lane_of_word(r, i);
    for (uint32_t i = 0; i < count; i++) line[i] = o->line;
    shadow_wake(b, first, first + count - 1);
    return true;
}

/* ---- one lane -------------------------------------------------------------------------------- */

/* Accesses guarded by a lock are ordered by fences; to tell by which is beyond a cell, so a fence
 * since then in the warp that did the access is taken for order; and where a cell stands for
 * several readers, one since the last barrier. */
static bool fenced(const block *b, uint32_t cell)
{
    uint32_t other = (cell & WARP) / LANES;
    if (cell & CROWD) return b->fenced >= b->epoch_tick;
    if (cell & MANY) return b->warps[other].fenced >= b->epoch_tick;
    return b->warps[other].fenced > tick_of(cell);
}

static bool ordered(const warp *w, uint32_t cell, uint32_t me)
{
    uint32_t tick = tick_of(cell);
    bool same_warp = ((cell ^ me) & WARP) == 0 && !(cell & CROWD);
    if (tick < w->block->epoch_tick || fenced(w->block, cell)) return true;
    if (same_warp && tick < w->synced) return true;
    return !(cell & (CROWD | MANY)) && ((cell ^ me) & THREAD) == 0;
}

/* Both accesses are strong enough to meet. */
static bool may_meet(const op *o, uint32_t cell, uint32_t me)
{
    if (!(cell & ATOMIC) || o->strength == STRENGTH_PLAIN) return false;
    return o->strength == STRENGTH_ATOMIC || (cell ^ me) & WARP;
}

static product_state product_of(const warp *w, const cells *c, uint32_t i, uint32_t cell)
{
    const block *b = w->block;
    if (!b->tensor || tick_of(cell) < b->epoch_tick) return NO_PRODUCT;
    return b->product_at(w, c == &b->bytes ? i : 4 * i, cell);
}

/* What was read may be written. Of a product its end decides, whatever else is ordered. */
static bool is_free(const warp *w, product_state product, uint32_t read, uint32_t me)
{
    return product == NO_PRODUCT ? ordered(w, read, me) : product == PRODUCT_OVER;
}

/* A tick that both have does not tell which came first. */
static bool is_early(const block *b, uint32_t written, uint32_t read)
{
    return read < VISITED && tick_of(read) >= b->epoch_tick && tick_of(read) < tick_of(written);
}

static void look(warp *w, const op *o, cells *c, uint32_t i, uint32_t me, access_kind how,
                 conflict *found)
{
    const block *b = w->block;
    if (b->visits && visits_meet(w, o, c, i, me % LANES, how, found)) return;
    uint32_t written = c->written[i], read = c->read[i];
    const product_state product = how == ACCESS_LOAD ? NO_PRODUCT : product_of(w, c, i, read);
    if (written == UNOWNED) {
        found->unowned = true;
    } else if (is_flying(written, o)) {
        *found = (conflict){.cell = FLYING, .line = c->written_line[i]};
    } else if (how != ACCESS_LOAD && read == READING) {
        *found = (conflict){.cell = READING, .line = c->read_line[i]};
    } else if (how != ACCESS_STORE && tick_of(written) < b->first_tick) {
        found->unwritten = true;
    } else if (!may_meet(o, written, me) && !ordered(w, written, me)) {
        *found = (conflict){.cell = written, .line = c->written_line[i], .wrote = true};
        found->early = is_early(b, written, read);
    } else if (how != ACCESS_LOAD && !found->cell && !may_meet(o, read, me) &&
               !is_free(w, product, read, me)) {
        *found = (conflict){.cell = read, .line = c->read_line[i]};
        found->product = product == PRODUCT_OPEN;
    }
}

/* An atomic update leaves the cell to a plain store that nothing orders, or its own thread's: the
 * updates of other threads race with it, as with an initialisation. */
static bool yields(const warp *w, const op *o, uint32_t cell, uint32_t me)
{
    const block *b = w->block;
    uint32_t since = b->epoch_tick > w->synced ? b->epoch_tick : w->synced;
    if (o->strength != STRENGTH_ATOMIC || cell & ATOMIC) return false;
    if ((cell ^ me) & THREAD) return !ordered(w, cell, me);
    return tick_of(cell) >= since && !fenced(b, cell);
}

static void mark(warp *w, const op *o, cells *c, uint32_t i, uint32_t me, access_kind how)
{
    const block *b = w->block;
    uint32_t strong = o->strength == STRENGTH_PLAIN ? 0 : ATOMIC;
    if (how != ACCESS_LOAD && yields(w, o, c->written[i], me)) return;
    if (how == ACCESS_LOAD && c->read[i] >= VISITED) return;
    if (how == ACCESS_ATOMIC && (c->written[i] == VISITED || c->written[i] == ADDING)) return;
    if (how == ACCESS_LOAD) {
        uint32_t epoch = b->epoch_tick << TICK_SHIFT;
        uint32_t before = tick_of(c->read[i]) < b->epoch_tick ? ATOMIC : c->read[i] & ATOMIC;
        c->read[i] =
            shadow_read_cell(c->read[i], me, epoch, w->synced << TICK_SHIFT) | (strong & before);
        c->read_line[i] = o->line;
    } else {
        c->written[i] = me | strong;
        c->written_line[i] = o->line;
    }
}

void shadow_split(block *b, uint32_t word)
{
    if (b->words.written[word] == SPLIT) return;
    for (uint32_t i = 4 * word; i < 4 * word + 4; i++) {
        b->bytes.written[i] = b->words.written[word];
        b->bytes.read[i] = b->words.read[word];
        b->bytes.written_line[i] = b->words.written_line[word];
        b->bytes.read_line[i] = b->words.read_line[word];
    }
    b->words.written[word] = SPLIT;
    b->words.read[word] = 0;
}

/* Apply look or mark to each cell that the access covers. */
static void visit(warp *w, const op *o, uint32_t offset, uint32_t bytes, uint32_t me,
                  access_kind how, conflict *found, bool marking)
{
    block *b = w->block;
    for (uint32_t at = offset; at < offset + bytes;) {
        uint32_t word = at / 4;
        bool whole = at % 4 == 0 && at + 4 <= offset + bytes;
        if (!whole) shadow_split(b, word);
        bool parts = b->words.written[word] == SPLIT;
        cells *c = parts ? &b->bytes : &b->words;
        if (marking && how != ACCESS_LOAD) shadow_wake(b, word, word);
        if (marking)
            mark(w, o, c, parts ? at : word, me, how);
        else
            look(w, o, c, parts ? at : word, me, how, found);
        at += parts ? 1 : 4;
    }
}

bool shadow_written(const block *b, uint64_t offset, uint32_t bytes)
{
    bool written = false;
    for (uint64_t i = offset; i < offset + bytes && i < b->shared_bytes; i++) {
        uint32_t cell = b->words.written[i / 4];
        if (cell == SPLIT) cell = b->bytes.written[i];
        written |= cell == VISITED || (cell < VISITED && tick_of(cell) >= b->first_tick);
    }
    return written;
}

void shadow_bring(block *b, uint32_t offset)
{
    shadow_split(b, offset / 4);
    shadow_wake(b, offset / 4, offset / 4);
    b->bytes.written[offset] = BROUGHT;
    b->brought = true;
}

bool shadow_is_brought(const block *b, uint32_t offset)
{
    return b->brought && b->words.written[offset / 4] == SPLIT &&
           b->bytes.written[offset] == BROUGHT;
}

/* The value of a load is followed; who else reads, uses it. */
static void note_unwritten(warp *w, const op *o, uint32_t offset, uint32_t bytes, uint32_t lane)
{
    if (w->loading != o) {
        report_shared_unwritten(w, o, offset, bytes, lane, w->block->returned);
        return;
    }
    for (uint32_t k = 0; k < o->count; k++) {
        uint32_t at = offset + k * o->size;
        if (!shadow_written(w->block, at, o->size))
            undefined_note(w, o, SPACE_SHARED, k, 1u << lane, at);
    }
}

static bool unchanged(const warp *w, uint32_t offset, uint32_t bytes, const void *value)
{
    return value && !memcmp(w->block->shared + offset, value, bytes);
}

/* Whole words that nobody minds: marked at once, as those of a run. */
static bool passes(warp *w, const op *o, uint32_t offset, uint32_t bytes, uint32_t lane,
                   access_kind how)
{
    const run alone = {.address = offset, .bytes = bytes, .lane = lane, .lanes = 1};
    if (offset % 4 || bytes % 4) return false;
    if (how == ACCESS_LOAD) return shadow_load(w, o, &alone);
    return how == ACCESS_STORE && shadow_store(w, o, &alone);
}

bool shadow_lane(warp *w, const op *o, uint64_t address, uint32_t bytes, uint32_t lane,
                 access_kind how, const void *value)
{
    block *b = w->block;
    uint32_t offset = (uint32_t)address, me = stamp(w, lane);
    if (address >= b->shared_bytes || bytes > b->shared_bytes - address) {
        report_shared_bounds(w, o, offset, bytes, lane, how);
        return false;
    }
    if (passes(w, o, offset, bytes, lane, how)) return true;
    conflict found = {0};
    visit(w, o, offset, bytes, me, how, &found, false);
    if (found.unowned) {
        report_shared_bounds(w, o, offset, bytes, lane, how);
        return false;
    }
    if (found.unwritten && b->launch->check_uninitialised) {
        note_unwritten(w, o, offset, bytes, lane);
    }
    if (found.cell == FLYING) {
        if (b->launch->check_races) report_shared_copy(w, o, offset, lane, how, &found);
    } else if (found.cell == READING || found.product) {
        if (b->launch->check_races) report_shared_reading(w, o, offset, lane, &found);
    } else if (found.cell == VISITED) {
        if (b->launch->check_races && !unchanged(w, offset, bytes, value))
            report_visit(w, o, offset, lane, how, &found);
    } else if (found.cell && b->launch->check_races && !unchanged(w, offset, bytes, value)) {
        report_shared_race(w, o, offset, lane, how, &found);
    }
    visit(w, o, offset, bytes, me, how, &found, true);
    return true;
}
