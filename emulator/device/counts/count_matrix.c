/*
 * count_matrix.c: what the loads and stores of matrices ask of memory.
 *
 * Interface
 *   run_count_fragment     before wmma.load and wmma.store
 *   run_count_ldmatrix     before ldmatrix
 *
 * A GPU does not know wmma.load and wmma.store: ptxas makes ordinary accesses of them. In each, a
 * lane moves those of its neighbours along inner (fragment.each) that lie side by side in memory;
 * so a request is 8 lines of the matrix by 4 lanes. Where lines run across inner, elements of 16
 * bits are accessed along the lines all the same, and transposed in registers; others are accessed
 * one by one. Sums of 8 rows and 32 columns are held as their transpose. Factors that lie in shared
 * memory, with elements of 16 bits or with lines along inner, are loaded as by ldmatrix: 8 lines of
 * 16 bytes, the address of each from a lane of its own, are one wavefront without conflicts.
 *
 * How many accesses, of what width and at which addresses, was read from the machine code that
 * ptxas 13.0 makes for sm_90, of every shape, type, layout and space. Measured on an H200
 * (tests/counters): factors of halves and sums of floats in global memory, and ldmatrix without
 * conflicts. Assumed: the conflicts of ldmatrix are those of a request of 16 bytes a lane, 8 lanes
 * at a time, and lanes that agree never make it cheaper.
 */
#include "count.h"
#include "device/ops/matrix.h"

enum { TILE = 8, TILE_BYTES = 16 }; /* lines, bytes of each */

/** A matrix as it is taken apart. */
typedef struct cut {
    fragment f;
    bool across;
    uint32_t each; /* elements of an access */
} cut;

static cut cut_of(const matrix *m)
{
    cut c = {.f = m->d, .across = m->across};
    bool halves = m->d.bits == 16, flat = m->sum && m->d.outer < m->d.inner;
    if (halves ? m->across : flat) {
        c.across = !m->across;
        c.f.outer = m->d.inner;
        c.f.inner = m->d.outer;
    }
    c.each = c.across ? 1 : c.f.each;
    return c;
}

/* The access to a lane's elements from `index` on. */
static uint64_t address_of(const cut *c, const lines *l, uint32_t lane, uint32_t index)
{
    spot s = fragment_spot(&c->f, lane, index);
    uint32_t line = c->across ? s.inner : s.outer, at = c->across ? s.outer : s.inner;
    return l->base + line * l->stride + at * c->f.bits / 8;
}

static void count_accesses(warp *w, const op *o, counters *t, const lines *l)
{
    cut c = cut_of(o->extra);
    uint32_t elements = (uint32_t)c.f.outer * c.f.inner / LANES;
    for (uint32_t i = 0; i < elements; i += c.each) {
        pattern p = {.mask = active(w, o), .bytes = c.each * c.f.bits / 8};
        for (uint32_t lane = 0; lane < LANES; lane++) p.address[lane] = address_of(&c, l, lane, i);
        count_request(w, o, t, &p);
    }
}

/* ---- ldmatrix -------------------------------------------------------------------------------- */

/* Tile i / 8 is where lanes i to i + 7 say. */
static void count_tiles(const warp *w, counters *t, pattern *p, uint32_t tiles)
{
    p->mask = (uint32_t)((UINT64_C(1) << TILE * tiles) - 1);
    p->bytes = TILE_BYTES;
    count_banks(w, t, p, PATTERN_STORE,
                TRAFFIC_SHARED_LOAD); /* only loads become cheaper when lanes agree */
}

const op *run_count_ldmatrix(warp *w, const op *o)
{
    pattern p;
    uint32_t mask = active(w, o);
    if (mask && !group_gather(w, o, (uint32_t)ALL_LANES)) return NULL;
    counters *t = count_executed(w, o, active(w, o));
    count_addresses(w, o, p.address);
    if (mask) count_tiles(w, t, &p, o->count);
    return o + 1;
}

static bool loads_tiles(const op *o)
{
    const matrix *m = o->extra;
    bool fits = m->d.bits == 16 || (m->d.bits < 16 && !m->across);
    return o->space == SPACE_SHARED && o->variant == PATTERN_LOAD && !m->sum && fits;
}

/* At once: 16 outer elements, or 8 if these are all. */
static void count_all_tiles(const warp *w, const op *o, counters *t, const lines *l)
{
    const fragment *f = &((const matrix *)o->extra)->d;
    uint32_t down = l->count / TILE, tiles = down * l->bytes / TILE_BYTES;
    uint32_t at_once = f->outer > 16 ? tiles * 16 / f->outer : tiles;
    for (uint32_t first = 0; first < tiles; first += at_once) {
        pattern p;
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t tile = first + i / TILE;
            p.address[i] =
                l->base + (tile % down * TILE + i % TILE) * l->stride + tile / down * TILE_BYTES;
        }
        count_tiles(w, t, &p, at_once);
    }
}

/* Lanes that come one by one wait for each other here, so that the matrix is moved once. */
const op *run_count_fragment(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (mask && !group_gather(w, o, (uint32_t)ALL_LANES)) return NULL;
    counters *t = count_executed(w, o, active(w, o));
    if (!mask) return o + 1;
    lines l = fragment_lines(w, o, o->extra);
    if (loads_tiles(o))
        count_all_tiles(w, o, t, &l);
    else
        count_accesses(w, o, t, &l);
    return o + 1;
}
