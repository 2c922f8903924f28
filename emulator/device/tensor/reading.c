/*
 * reading.c: shared memory that the async proxy reads: for how long, and may it?
 *
 * Interface
 *   reading_begin, reading_note, readings_end, readings_end_group, readings_open, readings_forget
 *   product_at
 *   proxy_check, run_fence_proxy
 *
 * wgmma and bulk copies read their data at once, and it is theirs until a thread has waited for
 * them: so long the read cell of its words says READING, and a write there is reported. Then the
 * cells say that the warp has read now.
 *
 * A wgmma is one operation of four warps: when one of them has waited, all of it is over.
 */
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/checks/shadow.h"
#include "tensor.h"

enum { WORDS = CHUNK / 4 };

static uint32_t bit_of(const warp *w)
{
    return 1u << w->index;
}

static reading *latest(const warp *w)
{
    warp_readings *r = &w->block->tensor->readings[w->index];
    return &r->list[r->count - 1];
}

/* Memory of an old one is used again. */
void reading_begin(warp *w, const op *o, uint32_t lane, uint32_t group, bool bulk)
{
    warp_readings *r = &tensor_of(w->block)->readings[w->index];
    if (r->count == r->capacity) {
        uint32_t before = r->capacity;
        r->capacity = before ? 2 * before : 8;
        r->list = retake(r->list, r->capacity * sizeof *r->list);
        memset(&r->list[before], 0, (r->capacity - before) * sizeof *r->list);
    }
    reading *x = &r->list[r->count++];
    x->op = o;
    x->lane = (uint8_t)lane;
    x->group = group;
    x->bulk = bulk;
    x->chunks = 0;
}

static void mark(block *b, uint32_t chunk, uint32_t cell, uint32_t line)
{
    for (uint32_t word = chunk * WORDS; word < chunk * WORDS + WORDS; word++) {
        bool split = b->words.written[word] == SPLIT;
        cells *c = split ? &b->bytes : &b->words;
        for (uint32_t i = split ? 4 * word : word; i < (split ? 4 * word + 4 : word + 1); i++) {
            c->read[i] = cell;
            c->read_line[i] = line;
        }
    }
}

static void hold(warp *w, uint32_t chunk, uint32_t line)
{
    tensor *t = w->block->tensor;
    if (!t->readers[chunk]) t->seen[chunk] = 0;
    t->readers[chunk] |= bit_of(w);
    t->seen[chunk] |= bit_of(w);
    mark(w->block, chunk, READING, line);
}

void reading_note(warp *w, uint32_t offset)
{
    reading *x = latest(w);
    if (!w->block->launch->check_races) return;
    if (x->chunks == x->capacity) {
        x->capacity = x->capacity ? 2 * x->capacity : 256;
        x->chunk = retake(x->chunk, x->capacity * sizeof *x->chunk);
    }
    x->chunk[x->chunks++] = offset / CHUNK;
    hold(w, offset / CHUNK, x->op->line);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* `by` has waited for what `w` reads. For a bulk copy that was one lane, which the others of its
 * warp still have to meet. */
static void let_go(const warp *by, const warp *w, const reading *x)
{
    block *b = w->block;
    tensor *t = b->tensor;
    uint32_t now = b->tick << TICK_SHIFT | by->index * LANES | x->lane | (x->bulk ? 0 : MANY);
    for (uint32_t i = 0; i < x->chunks; i++) {
        uint32_t chunk = x->chunk[i], crowd = t->seen[chunk] & ~bit_of(by) ? CROWD : 0;
        uint32_t *need = &t->ended[chunk].need.groups[w->index / GROUP_WARPS];
        if (!x->bulk && *need <= x->group) *need = x->group + 1;
        t->readers[chunk] &= ~bit_of(w);
        if (t->readers[chunk]) continue;
        mark(b, chunk, now | crowd, x->op->line);
        t->ended[chunk].cell = x->bulk ? 0 : now | crowd;
    }
}

static bool is_over(const reading *x, bool bulk, uint32_t lanes, const uint32_t *committed,
                    uint32_t but)
{
    if (x->bulk != bulk || !(lanes >> x->lane & 1)) return false;
    return (uint64_t)x->group + but < committed[bulk ? x->lane : 0];
}

/* Chunks that others of the warp read as well are theirs again. */
static void hold_all(warp *w)
{
    const warp_readings *r = &w->block->tensor->readings[w->index];
    for (uint32_t i = 0; i < r->count; i++) {
        const reading *x = &r->list[i];
        for (uint32_t k = 0; k < x->chunks; k++) hold(w, x->chunk[k], x->op->line);
    }
}

void readings_end(warp *w, bool bulk, uint32_t lanes, const uint32_t *committed, uint32_t but)
{
    warp_readings *r = &tensor_of(w->block)->readings[w->index];
    uint32_t left = 0, ended = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        reading x = r->list[i];
        if (is_over(&x, bulk, lanes, committed, but)) {
            let_go(w, w, &x);
            ended += x.chunks > 0;
        } else {
            r->list[i] = r->list[left];
            r->list[left++] = x;
        }
    }
    r->count = left;
    if (ended) hold_all(w);
}

/* The other warp has not waited for its registers yet, so its list keeps the wgmma. */
static void end_memory(const warp *by, warp *w, uint32_t groups)
{
    warp_readings *r = &w->block->tensor->readings[w->index];
    uint32_t ended = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        reading *x = &r->list[i];
        if (x->bulk || x->group >= groups || x->chunks == 0) continue;
        let_go(by, w, x);
        x->chunks = 0;
        ended++;
    }
    if (ended) hold_all(w);
}

void readings_end_group(warp *w, uint32_t groups)
{
    block *b = w->block;
    uint32_t first = w->index / GROUP_WARPS * GROUP_WARPS;
    uint32_t *known = &b->known[w->index].groups[w->index / GROUP_WARPS];
    if (*known < groups) *known = groups;
    for (uint32_t k = first; k < first + GROUP_WARPS && k < b->warp_count; k++)
        if (k != w->index) end_memory(w, &b->warps[k], groups);
}

uint32_t readings_open(const warp *w, uint32_t groups)
{
    const warp_readings *r = &w->block->tensor->readings[w->index];
    uint32_t open = 0;
    for (uint32_t i = 0; i < r->count; i++) open += !r->list[i].bulk && r->list[i].group >= groups;
    return open;
}

product_state product_at(const warp *w, uint32_t offset, uint32_t cell)
{
    const block *b = w->block;
    const ending *e = &b->tensor->ended[offset / CHUNK];
    if (!e->cell || e->cell != cell) return NO_PRODUCT;
    for (uint32_t g = 0; g < WARP_GROUPS; g++)
        if (b->known[w->index].groups[g] < e->need.groups[g]) return PRODUCT_OPEN;
    return PRODUCT_OVER;
}

void readings_forget(block *b)
{
    tensor *t = b->tensor;
    for (uint32_t k = 0; k < MAX_WARPS; k++) {
        warp_readings *r = &t->readings[k];
        for (uint32_t i = 0; i < r->count; i++)
            for (uint32_t c = 0; c < r->list[i].chunks; c++) mark(b, r->list[i].chunk[c], 0, 0);
        r->count = 0;
    }
}

/* ---- the fence between the proxies ----------------------------------------------------------- */

const op *run_fence_proxy(warp *w, const op *o)
{
    tensor *t = tensor_of(w->block);
    t->fenced[w->index] = shadow_tick(w->block);
    t->fenced_epoch[w->index] = w->block->epoch_tick;
    return o + 1;
}

/* A fence after the write in the thread's warp; one of this warp behind a barrier after the write;
 * or one of any warp between two barriers. */
static bool is_fenced(const warp *w, uint32_t cell)
{
    const block *b = w->block;
    const tensor *t = b->tensor;
    uint32_t tick = cell >> TICK_SHIFT, writer = (cell & WARP) / LANES;
    if (tick < t->fenced[writer] || tick < t->fenced_epoch[w->index]) return true;
    for (uint32_t k = 0; k < b->warp_count; k++)
        if (tick < t->fenced_epoch[k] && t->fenced[k] < b->epoch_tick) return true;
    return false;
}

static uint32_t line_of(const block *b, uint32_t place)
{
    uint32_t line = 0;
    module_file(b->launch->function->module, place, &line);
    return line;
}

/* The last write of a byte. */
static uint32_t written(const block *b, uint32_t offset, uint32_t *line)
{
    bool split = b->words.written[offset / 4] == SPLIT;
    const cells *c = split ? &b->bytes : &b->words;
    uint32_t i = split ? offset : offset / 4;
    *line = c->written_line[i];
    return c->written[i];
}

static void report_proxy(warp *w, const op *o, uint32_t offset, uint32_t lane, bool writes)
{
    block *b = w->block;
    char writer[48];
    uint32_t line, cell = written(b, offset, &line);
    report(w, o, FINDING_RACE, lane, offset,
           "%s what thread%s wrote at line %u with no fence.proxy.async in between: threads and "
           "the async proxy see each other's writes only after that fence, so write asm "
           "volatile(\"fence.proxy.async;\") after the store and before the barrier",
           writes ? "overwrites, through the async proxy," : "reads through the async proxy",
           thread_name(b, cell & THREAD, writer), line_of(b, line));
}

static bool may_proxy(const warp *w, uint32_t offset)
{
    const block *b = w->block;
    uint32_t line, cell = written(b, offset, &line);
    return cell >= VISITED || cell >> TICK_SHIFT < b->first_tick ||
           cell == b->tensor->landed[offset / CHUNK].cell || is_fenced(w, cell);
}

void proxy_check(warp *w, const op *o, uint32_t offset, uint32_t lane, bool writes)
{
    const block *b = w->block;
    tensor_of(w->block);
    if (!b->launch->check_races || (uint64_t)offset + CHUNK > b->shared_bytes) return;
    for (uint32_t i = offset; i < offset + CHUNK;) {
        if (!may_proxy(w, i)) {
            report_proxy(w, o, i, lane, writes);
            return;
        }
        i += b->words.written[i / 4] == SPLIT ? 1 : 4;
    }
}
