/*
 * fit.c: does the descriptor of a wgmma find the rows of the tile that the TMA has brought there?
 *
 * Interface
 *   fit_chunk
 *
 * Each chunk of 16 bytes knows which part of which tile it is. From the first chunk that an operand
 * reads of a tile follows where all others of that tile must be: one row further, one row further
 * in the tile; 16 bytes along, 16 bytes along. A wrong swizzle, or a wrong stride, shows there.
 * Only tiles of two dimensions: with more, others are right as well.
 */
#include <stdio.h>

#include "tensor.h"

static const landing *landing_at(const block *b, uint32_t place)
{
    if ((uint64_t)place + CHUNK > b->shared_bytes) return NULL;
    const landing *l = &b->tensor->landed[place / CHUNK];
    bool there = l->cell && b->words.written[place / 4] == l->cell;
    return there && l->shape.rank == 2 && l->shape.row_bytes > CHUNK ? l : NULL;
}

/* Where the operand would begin if this chunk were right. */
static void origin_of(const fitting *f, const landing *l, uint32_t outer, uint32_t k, uint32_t *row,
                      uint32_t *at)
{
    uint32_t byte = l->piece * CHUNK, bytes = f->order->bits / 8u;
    bool across = f->order->across;
    *row = byte / l->shape.row_bytes - (across ? k : outer);
    *at = byte % l->shape.row_bytes - (across ? outer : k) * bytes;
}

static const char *mode_of(uint32_t swizzle, char text[32])
{
    if (swizzle) snprintf(text, 32, "a swizzle of %u bytes", swizzle);
    return swizzle ? text : "no swizzle";
}

static void tell(warp *w, const op *o, const fitting *f, const landing *l, uint32_t lane,
                 uint32_t place, uint32_t row, uint32_t at)
{
    static const uint32_t swizzles[] = {0, 128, 64, 32};
    char has[32], says[32];
    uint32_t line = 0, byte = l->piece * CHUNK, per = l->shape.row_bytes;
    module_file(w->block->launch->function->module, l->line, &line);
    report(w, o, FINDING_DESCRIPTOR, lane, place,
           "the descriptor reads row %u, bytes %u to %u, of the tile that line %u brought, where "
           "row %d, bytes %d to %d, is meant: the tile is stored in rows of %u bytes (8 rows: %u) "
           "with %s, the descriptor says %s and a stride of %u",
           byte / per, byte % per, byte % per + CHUNK - 1, line, (int)row, (int)at,
           (int)at + CHUNK - 1, per, 8 * per, mode_of(l->shape.swizzle, has),
           mode_of(swizzles[f->descriptor >> 62], says),
           (uint32_t)(f->descriptor >> 32 & 0x3fff) << 4);
}

void fit_chunk(warp *w, const op *o, fitting *f, uint32_t place, uint32_t lane, uint32_t outer,
               uint32_t k)
{
    const landing *l = f->told ? NULL : landing_at(w->block, place);
    uint32_t row, at, i = 0, bytes = f->order->bits / 8u;
    if (!l) return;
    origin_of(f, l, outer, k, &row, &at);
    while (i < f->tiles && f->tile[i].number != l->number) i++;
    if (i == FITTED) return;
    if (i == f->tiles) {
        f->tile[f->tiles].number = l->number;
        f->tile[f->tiles].row = row;
        f->tile[f->tiles++].at = at;
    }
    if (f->tile[i].row == row && f->tile[i].at == at) return;
    f->told = true;
    bool across = f->order->across;
    tell(w, o, f, l, lane, place, f->tile[i].row + (across ? k : outer),
         f->tile[i].at + (across ? outer : k) * bytes);
}
