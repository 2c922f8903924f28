/*
 * shadow.h: the cells of shared memory's shadow, and the questions asked so often that their
 * answers must be inline. shadow.c explains the cells.
 *
 * Interface
 *   shadow_may_load_word, shadow_may_load_words, shadow_may_store     no reports
 */
#ifndef SOFTGPU_DEVICE_SHADOW_H
#define SOFTGPU_DEVICE_SHADOW_H

#include "checks.h"

#define CROWD   UINT32_C(0x80000000)
#define MANY    UINT32_C(0x800)
#define ATOMIC  UINT32_C(0x400)
#define THREAD  UINT32_C(0x3ff)
#define WARP    UINT32_C(0x3e0)
#define UNOWNED UINT32_C(0xffffffff) /* write cells only */
#define SPLIT   UINT32_C(0xfffffffe)
#define FLYING  UINT32_C(0xfffffffd) /* write cells only: an asynchronous copy is under way */
#define ADDING  UINT32_C(0xfffffffc) /* write cells only: an asynchronous reduction is */
#define READING UINT32_C(0xffffffff) /* read cells only: wgmma or a bulk copy is under way */
#define VISITED UINT32_C(0xfffffffb) /* the last was a thread of another block: see visit.c */
#define BROUGHT UINT32_C(1) /* write cells only: by a copy, from where nothing had written */
enum { TICK_SHIFT = 12 };

/** What an access meets in the cells. */
typedef struct conflict {
    uint32_t cell, line; /* the earlier access; 0: none */
    bool wrote, unwritten, unowned;
    bool product; /* a wgmma that has ended read, and the warp does not know that it has */
    bool early;   /* what the write replaced had been read since the last barrier */
    uint8_t rank; /* of VISITED: whose it was */
    uint16_t thread;
} conflict;

/** An asynchronous copy has brought a byte that nothing had written where it came from. */
void shadow_bring(block *, uint32_t offset);
bool shadow_is_brought(const block *, uint32_t offset);

/* shared_race.c */
/** It begins inside, maybe; the first byte that is outside is named. The launch fails. */
void report_shared_bounds(warp *, const op *, uint32_t offset, uint32_t bytes, uint32_t lane,
                          access_kind);
/** What nothing in this block has written. `returned`: how many threads had returned before. */
void report_shared_unwritten(warp *, const op *, uint32_t offset, uint32_t bytes, uint32_t lane,
                             uint32_t returned);
/** With an asynchronous copy that nobody has waited for. */
void report_shared_copy(warp *, const op *, uint32_t offset, uint32_t lane, access_kind,
                        const conflict *);
/** What wgmma or a bulk copy still reads is overwritten. */
void report_shared_reading(warp *, const op *, uint32_t offset, uint32_t lane, const conflict *);
void report_shared_race(warp *, const op *, uint32_t offset, uint32_t lane, access_kind,
                        const conflict *);

/** Every word was written in this block before its last barrier, and read by several warps since:
 *  nothing to check, nothing to note. `count` is a constant where it matters. */
static inline bool shadow_idle(const block *b, uint32_t first, uint32_t count)
{
    const uint32_t *written = b->words.written + first, *read = b->words.read + first;
    uint32_t oldest = b->oldest, most = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t age = written[i] - oldest;
        most = age > most ? age : most;
        least = read[i] < least ? read[i] : least;
    }
    return most < b->span && least >= b->crowded;
}

/** All pages from that of one word to that of another are idle. Asked once in an epoch: what is
 * idle stays so until somebody writes there. */
static inline bool shadow_quiet(const block *b, uint32_t first, uint32_t last)
{
    for (uint32_t page = first / PAGE_WORDS; page <= last / PAGE_WORDS; page++) {
        if (b->quiet[page] == b->epoch_tick) continue;
        if (!shadow_idle(b, page * PAGE_WORDS, PAGE_WORDS)) return false;
        b->quiet[page] = b->epoch_tick;
    }
    return true;
}

static inline bool shadow_quiet_word(const block *b, uint32_t word)
{
    return b->quiet[word / PAGE_WORDS] == b->epoch_tick;
}

/** Nothing touched these words since the last barrier. */
static inline bool shadow_untouched(const block *b, uint32_t first, uint32_t count)
{
    const uint32_t *written = b->words.written + first, *read = b->words.read + first;
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t plain = read[i] & b->read_mask;
        last = written[i] > last ? written[i] : last;
        last = plain > last ? plain : last;
    }
    return last < b->recent;
}

/** Words are being written. */
static inline void shadow_wake(const block *b, uint32_t first, uint32_t last)
{
    for (uint32_t page = first / PAGE_WORDS; page <= last / PAGE_WORDS; page++) b->quiet[page] = 0;
}

static inline void shadow_note_write(warp *w, const op *o, uint32_t first, uint32_t count,
                                     uint32_t lane)
{
    cells *c = &w->block->words;
    uint32_t me = w->block->tick << TICK_SHIFT | w->index * LANES | lane;
    for (uint32_t i = 0; i < count; i++) c->written[first + i] = me + i;
    for (uint32_t i = 0; i < count; i++) c->written_line[first + i] = o->line;
    shadow_wake(w->block, first, first + count - 1);
}

/** The read cell that `cell` becomes when `me` reads now. */
static inline uint32_t shadow_read_cell(uint32_t cell, uint32_t me, uint32_t epoch, uint32_t synced)
{
    uint32_t plain = cell & ~CROWD, flags = cell & (CROWD | MANY);
    bool same_thread = ((cell ^ me) & THREAD) == 0, same_warp = ((cell ^ me) & WARP) == 0;
    uint32_t in_warp = plain < synced ? flags & CROWD ? flags : 0 : flags | MANY;
    uint32_t add = same_thread ? flags : same_warp ? in_warp : CROWD | MANY;
    uint32_t next = plain < epoch ? me : me | add;
    return cell >= VISITED ? cell : next;
}

/** One word that all of some lanes read. */
static inline bool shadow_may_load_word(warp *w, const op *o, uint32_t word, uint32_t lane,
                                        uint32_t lanes)
{
    const block *b = w->block;
    if (b->words.written[word] - b->oldest >= b->span) return false;
    uint32_t cell = b->words.read[word], epoch = b->epoch_tick << TICK_SHIFT;
    if (cell >= b->crowded) return true;
    uint32_t me = b->tick << TICK_SHIFT | w->index * LANES | lane | (lanes > 1 ? MANY : 0);
    if ((cell & ~CROWD) >= epoch) me |= shadow_read_cell(cell, me, epoch, w->synced << TICK_SHIFT);
    b->words.read[word] = me;
    b->words.read_line[word] = o->line;
    return true;
}

/** Consecutive words for consecutive lanes. */
static inline bool shadow_may_load_words(warp *w, const op *o, uint32_t word, uint32_t lane,
                                         uint32_t lanes)
{
    if (shadow_quiet(w->block, word, word + lanes - 1)) return true;
    run r = {4 * (uint64_t)word, lane, lanes, 4, 4};
    return shadow_load(w, o, &r);
}

/** Words that are `step` of them apart. */
static inline bool shadow_may_load_spread(warp *w, const op *o, uint32_t word, uint32_t step,
                                          uint32_t lane, uint32_t lanes)
{
    if (step < PAGE_WORDS / 2 && shadow_quiet(w->block, word, word + step * (lanes - 1)))
        return true;
    bool may = true;
    for (uint32_t i = 0; i < lanes && may; i++, word += step) {
        may = shadow_quiet_word(w->block, word) || shadow_may_load_word(w, o, word, lane + i, 1);
    }
    return may;
}

/** The element of one lane, wherever those of the others are. */
static inline bool shadow_may_load_element(warp *w, const op *o, uint32_t word, uint32_t count,
                                           uint32_t lane)
{
    bool may = true;
    for (uint32_t k = 0; k < count; k++) may &= shadow_may_load_word(w, o, word + k, lane, 1);
    if (may) return true;
    run r = {4 * (uint64_t)word, lane, 1, 4 * count, 4 * count};
    return shadow_load(w, o, &r);
}

/** Another lane of the warp reads what one has just read. */
static inline void shadow_note_more(const block *b, uint32_t word, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) b->words.read[word + k] |= MANY;
}

/** One word that one lane writes. */
static inline bool shadow_may_store_word(const warp *w, uint32_t word, uint32_t lane)
{
    const block *b = w->block;
    uint32_t written = b->words.written[word], read = b->words.read[word];
    uint32_t me = w->index * LANES | lane;
    if (written >= b->recent && ((written ^ me) & (ATOMIC | THREAD))) return false;
    return (read & b->read_mask) < b->recent || !((read ^ me) & (CROWD | MANY | THREAD));
}

static inline bool shadow_may_store(warp *w, const op *o, const run *r)
{
    uint32_t first = (uint32_t)r->address / 4;
    if (r->bytes != 4 || r->step != 4 || r->lanes != LANES) return shadow_store(w, o, r);
    if (!shadow_untouched(w->block, first, LANES)) return shadow_store(w, o, r);
    shadow_note_write(w, o, first, LANES, r->lane);
    return true;
}

#endif
