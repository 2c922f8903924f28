/*
 * fragment.c: matrices between memory and the registers of a warp.
 *
 * Interface
 *   run_fragment_load, run_fragment_store     wmma.load, wmma.store
 *   fragment_lines                            where these find a matrix
 *   run_ldmatrix, run_stmatrix, run_movmatrix               8 x 8 matrices of 16-bit elements
 *
 * A line of the matrix, a row or a column, is accessed in pieces of up to 16 bytes, as the lanes
 * of a warp would, so that each is checked like any other access. Bases and strides must be
 * multiples of the pieces, which CUDA demands as well.
 */
#include "matrix.h"
#include "ops.h"

enum { PIECE = 16, MAX_IMAGE = 8 * LANES * 8 };

static uint64_t address_at(const warp *w, const op *o, uint32_t lane)
{
    const void *a = row(w, o->a);
    if (o->narrow) return (uint32_t)(((const uint32_t *)a)[lane] + (uint64_t)o->offset);
    return ((const uint64_t *)a)[lane] + (uint64_t)o->offset;
}

/* ---- lines in memory ------------------------------------------------------------------------- */

/* The first lane speaks for all. */
lines fragment_lines(const warp *w, const op *o, const matrix *m)
{
    const fragment *f = &m->d;
    uint32_t lane = (uint32_t)__builtin_ctz(active(w, o));
    lines l = {.base = address_at(w, o, lane)};
    l.length = m->across ? f->outer : f->inner;
    l.count = m->across ? f->inner : f->outer;
    l.bytes = l.length * f->bits / 8;
    l.stride = (uint64_t)((const uint32_t *)row(w, o->b))[lane] * f->bits / 8;
    return l;
}

/* Between memory and `image`, in which the lines follow each other. */
static void move_lines(warp *w, const op *o, const lines *l, uint8_t *image, access_kind how)
{
    uint32_t piece = l->bytes < PIECE ? l->bytes : PIECE, each = l->bytes / piece;
    for (uint32_t i = 0; i < l->count * each; i++) {
        uint64_t address = l->base + i / each * l->stride + i % each * piece;
        uint8_t *at = image + i * piece;
        uint8_t *memory = reach_lane(w, o, o->space, o->narrow ? (uint32_t)address : address, piece,
                                     i % LANES, how, how == ACCESS_STORE ? at : NULL);
        if (memory)
            memcpy(how == ACCESS_STORE ? memory : at, how == ACCESS_STORE ? at : memory, piece);
    }
}

/* ---- between lines and registers ------------------------------------------------------------- */

/* The bit of the image at which an element starts. */
static uint32_t bit_of(const matrix *m, const lines *l, spot s)
{
    uint32_t line = m->across ? s.inner : s.outer, at = m->across ? s.outer : s.inner;
    return (line * l->length + at) * m->d.bits;
}

typedef void mover_of_register(const matrix *, const lines *, uint8_t *image, void *reg,
                               uint32_t lane, uint32_t index);

static void take_register(const matrix *m, const lines *l, uint8_t *image, void *reg, uint32_t lane,
                          uint32_t index)
{
    uint32_t bits = m->d.bits, bytes = bits == 64 ? 8 : 4;
    uint64_t value = 0, mask = ~UINT64_C(0) >> (64 - bits);
    spot s = fragment_spot(&m->d, lane, index);
    for (uint32_t i = 0; i < bytes * 8 / bits; i++, s.inner++) {
        uint64_t element;
        uint32_t at = bit_of(m, l, s);
        memcpy(&element, image + at / 8, sizeof element);
        value |= (element >> at % 8 & mask) << i * bits;
    }
    memcpy((uint8_t *)reg + lane * bytes, &value, bytes);
}

/* Elements of what is stored have 16 bits or more. */
static void give_register(const matrix *m, const lines *l, uint8_t *image, void *reg, uint32_t lane,
                          uint32_t index)
{
    uint32_t bits = m->d.bits, bytes = bits == 64 ? 8 : 4;
    spot s = fragment_spot(&m->d, lane, index);
    for (uint32_t i = 0; i < bytes * 8 / bits; i++, s.inner++) {
        memcpy(image + bit_of(m, l, s) / 8, (uint8_t *)reg + lane * bytes + i * bits / 8, bits / 8);
    }
}

static void each_register(const warp *w, const matrix *m, const lines *l, uint8_t *image,
                          uint32_t lanes, mover_of_register *move)
{
    const fragment *f = &m->d;
    uint32_t each = f->bits == 64 ? 1 : 32 / f->bits;
    for (uint32_t r = 0; r < f->registers; r++) {
        void *reg = row(w, m->row[f->first + r]);
        for (uint32_t k = lanes; k; k &= k - 1)
            move(m, l, image, reg, (uint32_t)__builtin_ctz(k), r * each);
    }
}

const op *run_fragment_load(warp *w, const op *o)
{
    const matrix *m = o->extra;
    uint8_t image[MAX_IMAGE + sizeof(uint64_t)] = {0};
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    lines l = fragment_lines(w, o, m);
    move_lines(w, o, &l, image, ACCESS_LOAD);
    each_register(w, m, &l, image, active(w, o), take_register);
    return o + 1;
}

const op *run_fragment_store(warp *w, const op *o)
{
    const matrix *m = o->extra;
    uint8_t image[MAX_IMAGE] = {0};
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    lines l = fragment_lines(w, o, m);
    each_register(w, m, &l, image, (uint32_t)ALL_LANES, give_register);
    move_lines(w, o, &l, image, ACCESS_STORE);
    return o + 1;
}

/* ---- 8 x 8 matrices -------------------------------------------------------------------------- */

typedef uint16_t tile[8][8];

/* Lane l gets elements 2 (l % 4) and the next one of row l / 4, or of that column. */
static uint32_t pair_of(const tile t, uint32_t lane, bool transposed)
{
    uint32_t line = lane / 4, at = lane % 4 * 2;
    uint32_t low = transposed ? t[at][line] : t[line][at];
    uint32_t high = transposed ? t[at + 1][line] : t[line][at + 1];
    return low | high << 16;
}

/* Lanes 8 k to 8 k + 7 say where the rows of matrix k are. */
static void load_tile(warp *w, const op *o, uint32_t k, tile t)
{
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t lane = 8 * k + i;
        const uint8_t *memory = reach_lane(w, o, o->space, address_at(w, o, lane), sizeof t[i],
                                           lane, ACCESS_LOAD, NULL);
        if (memory) memcpy(t[i], memory, sizeof t[i]);
    }
}

const op *run_ldmatrix(warp *w, const op *o)
{
    tile tiles[4] = {0};
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    for (uint32_t k = 0; k < o->count; k++) load_tile(w, o, k, tiles[k]);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        for (uint32_t k = 0; k < o->count; k++) {
            ((uint32_t *)row(w, (&o->d)[k]))[lane] = pair_of(tiles[k], lane, o->variant);
        }
    }
    return o + 1;
}

/* What pair_of gives, back. */
static void set_pair(tile t, uint32_t lane, bool transposed, uint32_t pair)
{
    uint32_t line = lane / 4, at = lane % 4 * 2;
    *(transposed ? &t[at][line] : &t[line][at]) = (uint16_t)pair;
    *(transposed ? &t[at + 1][line] : &t[line][at + 1]) = (uint16_t)(pair >> 16);
}

static void store_tile(warp *w, const op *o, uint32_t k, tile t)
{
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t lane = 8 * k + i;
        uint8_t *memory = reach_lane(w, o, o->space, address_at(w, o, lane), sizeof t[i], lane,
                                     ACCESS_STORE, t[i]);
        if (memory) memcpy(memory, t[i], sizeof t[i]);
    }
}

const op *run_stmatrix(warp *w, const op *o)
{
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    for (uint32_t k = 0; k < o->count; k++) {
        tile t;
        for (uint32_t lane = 0; lane < LANES; lane++)
            set_pair(t, lane, o->variant, ((const uint32_t *)row(w, (&o->d)[k]))[lane]);
        store_tile(w, o, k, t);
    }
    return o + 1;
}

const op *run_movmatrix(warp *w, const op *o)
{
    tile t;
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    const uint32_t *a = row(w, o->a);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        t[lane / 4][lane % 4 * 2] = (uint16_t)a[lane];
        t[lane / 4][lane % 4 * 2 + 1] = (uint16_t)(a[lane] >> 16);
    }
    uint32_t *d = row(w, o->d);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        d[lane] = pair_of(t, lane, true);
    }
    return o + 1;
}
