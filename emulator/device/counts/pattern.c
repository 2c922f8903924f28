/*
 * pattern.c: the cost of one request of a warp; see pattern.h.
 *
 * Most requests are coalesced: they are told apart first, in a loop that the compiler turns into a
 * few vector instructions.
 */
#include "pattern.h"

#include <stdbool.h>
#include <string.h>

enum { BANKS_OF_SHARED = 32, WORD = 4 };

static bool is_full(const pattern *p)
{
    return p->mask == UINT32_MAX;
}

/** What half a warp touches when its elements follow each other, or are one: whole bytes. */
typedef struct stretch {
    uint64_t first, last;
} stretch;

enum { HALF = PATTERN_LANES / 2 };

static bool is_stretch(const uint64_t *address, uint64_t bytes, stretch *s)
{
    uint64_t step = address[1] - address[0], off = 0;
    if ((step != 0 && step != bytes) || address[0] % bytes) return false;
    for (uint64_t i = 0; i < HALF; i++) off |= address[i] ^ (address[0] + i * step);
    *s = (stretch){address[0], address[0] + (HALF - 1) * step + bytes - 1};
    return off == 0;
}

static bool are_stretches(const pattern *p, stretch s[2])
{
    return is_full(p) && is_stretch(p->address, p->bytes, &s[0]) &&
           is_stretch(p->address + HALF, p->bytes, &s[1]);
}

/* ---- sets of numbers ------------------------------------------------------------------------- */

/** At most 32 distinct numbers, in a table that is never more than half full. */
typedef struct set {
    uint64_t used;
    uint64_t slot[2 * PATTERN_LANES];
    uint8_t times[2 * PATTERN_LANES]; /* that it was inserted, or what the caller keeps there */
} set;

/* @return where the number stands; if it is new, its `times` is 0. */
static uint32_t place(set *s, uint64_t value)
{
    uint32_t i = (uint32_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 58);
    while (s->used >> i & 1) {
        if (s->slot[i] == value) return i;
        i = (i + 1) % (2 * PATTERN_LANES);
    }
    s->used |= UINT64_C(1) << i;
    s->slot[i] = value;
    s->times[i] = 0;
    return i;
}

/* @return whether it is new. */
static bool insert(set *s, uint64_t value)
{
    return s->times[place(s, value)]++ == 0;
}

/* ---- global memory --------------------------------------------------------------------------- */

static uint32_t stretch_sectors(const stretch s[2], uint64_t sector[PATTERN_LANES])
{
    uint64_t first = s[0].first / SECTOR_BYTES, last = s[0].last / SECTOR_BYTES;
    uint64_t first_too = s[1].first / SECTOR_BYTES, last_too = s[1].last / SECTOR_BYTES;
    uint32_t n = 0;
    for (uint64_t i = first; i <= last; i++) sector[n++] = i;
    for (uint64_t i = first_too; i <= last_too; i++) {
        if (i < first || i > last) sector[n++] = i;
    }
    return n;
}

uint32_t pattern_sectors(const pattern *p, uint64_t sector[PATTERN_LANES])
{
    stretch halves[2];
    set seen;
    uint32_t n = 0;
    uint64_t before = UINT64_MAX;
    if (are_stretches(p, halves)) return stretch_sectors(halves, sector);
    seen.used = 0;
    for (uint32_t m = p->mask; m; m &= m - 1) {
        uint64_t s = p->address[__builtin_ctz(m)] / SECTOR_BYTES;
        if (s != before && insert(&seen, s)) sector[n++] = s;
        before = s;
    }
    return n;
}

/* A sector is visited as often as the most wanted of its elements. */
uint32_t pattern_atomic_sectors(const pattern *p)
{
    set elements, sectors;
    uint32_t visits = 0;
    elements.used = sectors.used = 0;
    for (uint32_t m = p->mask; m; m &= m - 1) {
        uint64_t address = p->address[__builtin_ctz(m)];
        uint8_t times = ++elements.times[place(&elements, address)];
        uint8_t *most = &sectors.times[place(&sectors, address / SECTOR_BYTES)];
        visits += times > *most;
        if (times > *most) *most = times;
    }
    return visits;
}

/* ---- local memory ---------------------------------------------------------------------------- */

/* Word w of lane l lies beside word w of lane l + 1: eight lanes share a sector. */
uint32_t pattern_local_sectors(const pattern *p)
{
    set seen;
    seen.used = 0;
    uint32_t words = p->bytes > WORD ? p->bytes / WORD : 1, n = 0;
    for (uint32_t m = p->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        n += insert(&seen, p->address[lane] / WORD * 4 + lane / 8);
    }
    return n * words;
}

/* ---- constant memory ------------------------------------------------------------------------- */

uint32_t pattern_addresses(const pattern *p)
{
    set seen;
    uint32_t n = 0;
    seen.used = 0;
    for (uint32_t m = p->mask; m; m &= m - 1) n += insert(&seen, p->address[__builtin_ctz(m)]);
    return n;
}

/* ---- shared memory --------------------------------------------------------------------------- */

/** The distinct words wanted from each bank. */
typedef struct wanted {
    uint8_t count[BANKS_OF_SHARED];
    uint32_t word[BANKS_OF_SHARED][PATTERN_LANES];
    uint32_t most;
} wanted;

static void want(wanted *w, uint32_t word, bool alone)
{
    uint32_t bank = word % BANKS_OF_SHARED, n = w->count[bank];
    for (uint32_t i = 0; i < n && !alone; i++) {
        if (w->word[bank][i] == word) return;
    }
    w->word[bank][n] = word;
    w->count[bank] = (uint8_t)++n;
    if (n > w->most) w->most = n;
}

/* `alone`: lanes that want the same word do not share it. */
static uint32_t passes(const pattern *p, uint32_t mask, bool alone)
{
    wanted w;
    memset(w.count, 0, sizeof w.count);
    w.most = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t address = p->address[__builtin_ctz(m)];
        uint32_t word = (uint32_t)(address / WORD);
        for (uint32_t k = 0; k < p->bytes; k += WORD) want(&w, word + k / WORD, alone);
    }
    return w.most;
}

/* Elements of 8 bytes go half a warp at a time, of 16 bytes a quarter. */
static uint32_t group_lanes(const pattern *p)
{
    return p->bytes <= WORD ? PATTERN_LANES : PATTERN_LANES * WORD / p->bytes;
}

static bool agrees_with(const pattern *p, uint32_t apart)
{
    for (uint32_t m = p->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), other = lane ^ apart;
        bool same = p->address[lane] == p->address[other];
        if (p->mask >> other & 1 && !same) return false;
    }
    return true;
}

/* Two groups are loaded as one when every lane wants the same as its neighbour, or every lane the
 * same as the next but one, as far as these are active. */
static bool loads_double(const pattern *p)
{
    return p->bytes > WORD && (agrees_with(p, 1) || agrees_with(p, 2));
}

static uint32_t group_mask(uint32_t lanes)
{
    return lanes == PATTERN_LANES ? UINT32_MAX : (1u << lanes) - 1;
}

/* Two stretches of at most 16 words: do they want different words of one bank? */
static bool stretches_conflict(const stretch s[2])
{
    int64_t a = (int64_t)(s[0].first / WORD), b = (int64_t)(s[1].first / WORD), apart = b - a;
    int64_t words = (int64_t)(s[0].last / WORD) - a + 1;
    int64_t words_too = (int64_t)(s[1].last / WORD) - b + 1;
    if (apart > -words_too && apart < words) return false; /* where they overlap, they agree */
    int64_t banks = apart & (BANKS_OF_SHARED - 1);
    return banks < words || banks + words_too > BANKS_OF_SHARED;
}

/* The commonest requests. @return false: none of them */
static bool common_banks(const pattern *p, pattern_kind kind, pattern_passes *n)
{
    stretch s[2];
    if (kind == PATTERN_ATOMIC || !are_stretches(p, s)) return false;
    if (p->bytes <= WORD) {
        *n = (pattern_passes){1 + stretches_conflict(s), 1};
        return true;
    }
    uint32_t groups = PATTERN_LANES / group_lanes(p);
    *n = (pattern_passes){groups, groups};
    return s[1].first == s[0].last + 1 && s[0].last - s[0].first == HALF * p->bytes - 1 &&
           s[1].last - s[1].first == HALF * p->bytes - 1;
}

pattern_passes pattern_banks(const pattern *p, pattern_kind kind)
{
    uint32_t lanes = group_lanes(p);
    pattern_passes n = {0, 0};
    if (common_banks(p, kind, &n)) return n;
    n = (pattern_passes){0, 0};
    if (kind == PATTERN_LOAD && loads_double(p)) lanes *= 2;
    for (uint32_t first = 0; first < PATTERN_LANES; first += lanes) {
        uint32_t mask = p->mask & group_mask(lanes) << first;
        n.wavefronts += passes(p, mask, kind == PATTERN_ATOMIC);
        n.least += mask != 0;
    }
    return n;
}
