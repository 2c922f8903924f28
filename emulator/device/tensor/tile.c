/*
 * tile.c: tiles of tensors in global memory, as a tensor map describes them.
 *
 * Interface
 *   tile_map, tile_bytes, tile_shape_of, tile_has, tile_read, tile_write
 *   bulk_read, bulk_write, bulk_count
 *
 * A tile is a box of the tensor, of which each dimension but the first takes every so many-th
 * element. In shared memory its elements lie one behind the other, those of the first dimension
 * side by side.
 *
 * By im2col it is a column of pixels, its rows the channels of each. From the one that the copy
 * names they go on through a box in space, then in the next image; what is copied lies beside the
 * pixel, by the copy's offsets, as for one element of a filter.
 */
#include "bulk.h"
#include "device/base/bits.h"
#include "device/counts/count.h"

/* ---- global memory --------------------------------------------------------------------------- */

/* As much as is aligned. */
static uint32_t piece(uint64_t address, uint32_t bytes)
{
    uint32_t most = CHUNK;
    while (address % most || most > bytes) most /= 2;
    return most;
}

/* What a copy moves is known only now: its counting operation has counted nothing but itself. */
static counters *counters_of(const warp *w, const op *o)
{
    return w->block->launch->counted ? &w->block->counters[o->instruction] : NULL;
}

void bulk_count(const warp *w, const op *o)
{
    counters *t = counters_of(w, o);
    if (t) t->requests++;
}

static void count_row(const warp *w, const op *o, uint64_t from, uint64_t bytes)
{
    counters *t = counters_of(w, o);
    if (!t || !bytes) return;
    for (uint64_t s = from / SECTOR_BYTES; s <= (from + bytes - 1) / SECTOR_BYTES; s++) {
        counters_touch(w->block->device->counting, &s, 1);
        t->units++;
    }
    t->bytes += bytes;
}

static uint8_t *find(warp *w, const op *o, uint32_t lane, uint64_t address, uint32_t bytes,
                     access_kind how)
{
    if (w->block->tensor->moves == MOVES_BYTES) return memory_at(w->block->device, address, bytes);
    return reach_lane(w, o, SPACE_GENERIC, address, bytes, lane, how, NULL);
}

static void note_gaps(cargo *c, uint32_t at, uint32_t gaps)
{
    for (; gaps; gaps &= gaps - 1) cargo_gap(c, at + (uint32_t)__builtin_ctz(gaps));
}

void bulk_read(warp *w, const op *o, uint32_t lane, uint64_t from, cargo *to, uint32_t at,
               uint32_t bytes)
{
    const bool told = tensor_of(w->block)->moves == MOVES_BYTES;
    if (!told) count_row(w, o, from, bytes);
    for (uint32_t i = 0, part; i < bytes; i += part) {
        part = piece(from + i, bytes - i);
        const uint8_t *memory = find(w, o, lane, from + i, part, ACCESS_LOAD);
        if (!memory) continue;
        memcpy(to->data + at + i, memory, part);
        if (!told) note_gaps(to, at + i, unwritten_part(w, from + i, part));
    }
}

static void reduce(warp *w, const op *o, uint32_t lane, uint64_t to, const uint8_t *from,
                   uint32_t bytes)
{
    const reduction r = w->block->tensor->reduce;
    for (uint32_t at = 0; at < bytes; at += r.size) {
        uint64_t value = 0;
        memcpy(&value, from + at, r.size);
        uint8_t *memory = find(w, o, lane, to + at, r.size, ACCESS_ATOMIC);
        if (memory && w->block->tensor->moves != MOVES_NONE) r.run(memory, value, 0);
    }
}

static void leave_gaps(const warp *w, uint64_t to, const cargo *from, uint32_t at, uint32_t bytes)
{
    uint64_t offset = to - DEVICE_BASE;
    for (uint32_t i = 0; from->gaps && offset < DEVICE_BYTES && i < bytes; i++)
        if (cargo_has_gap(from, at + i)) bits_clear(w->block->device->initialised, offset + i, 1);
}

static bool is_changed(const device *d, uint64_t offset, const uint8_t *data, uint32_t bytes)
{
    if (!bits_any(d->initialised, offset, bytes)) return false;
    for (uint32_t i = 0; i < bytes; i++)
        if (bits_any(d->initialised, offset + i, 1) && d->bytes[offset + i] != data[i]) return true;
    return false;
}

/* Neither moves nor checks anything. */
static void look(const warp *w, uint64_t to, const uint8_t *data, uint32_t bytes)
{
    tensor *t = w->block->tensor;
    const device *d = w->block->device;
    const uint64_t offset = to - DEVICE_BASE;
    const bool own = offset < DEVICE_BYTES && bytes <= DEVICE_BYTES - offset;
    if (t->moves == MOVES_SEEK)
        t->found |= t->sought >= to && t->sought < to + bytes;
    else if (own && t->moves == MOVES_LEAVE)
        bits_clear(d->initialised, offset, bytes);
    else if (own)
        t->found |= is_changed(d, offset, data, bytes);
}

void bulk_write(warp *w, const op *o, uint32_t lane, uint64_t to, cargo *from, uint32_t at,
                uint32_t bytes)
{
    const tensor *t = w->block->tensor;
    if (t->moves >= MOVES_LEAVE) {
        look(w, to, from->data + at, bytes);
        return;
    }
    const uint8_t *data = from->data + at;
    if (t->moves != MOVES_BYTES) count_row(w, o, to, bytes);
    if (t->reduce.run) {
        reduce(w, o, lane, to, data, bytes);
        return;
    }
    for (uint32_t i = 0, part; i < bytes; i += part) {
        part = piece(to + i, bytes - i);
        uint8_t *memory = find(w, o, lane, to + i, part, ACCESS_STORE);
        if (!memory) continue;
        if (t->moves != MOVES_NONE) memcpy(memory, data + i, part);
        if (t->moves != MOVES_BYTES) leave_gaps(w, to + i, from, at + i, part);
    }
}

/* ---- the map --------------------------------------------------------------------------------- */

static void report_place(warp *w, const op *o, uint32_t lane, uint64_t address, const char *where)
{
    report(w, o, FINDING_TRAP, lane, address,
           "the tensor map is in %s memory, where the TMA cannot read it: make the kernel's "
           "parameter const __grid_constant__ CUtensorMap and pass its address",
           where);
    launch_stop(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

/* Why the copy cannot use this; "": it can. */
static const char *misfit(const device_tensor_map *map, const bulk *x)
{
    if (map->magic != TENSOR_MAP_MAGIC)
        return "this is not a tensor map: cuTensorMapEncodeTiled has not filled it, or has failed";
    if (map->rank != x->rank)
        return "the tensor map and this copy have different numbers of dimensions";
    if (x->im2col == (map->pixels != 0)) return "";
    return x->im2col ? "this copy uses im2col, but the tensor map describes tiles: encode it with "
                       "cuTensorMapEncodeIm2col"
                     : "this copy moves a tile, but the tensor map describes im2col: encode it "
                       "with cuTensorMapEncodeTiled";
}

const device_tensor_map *tile_map(warp *w, const op *o, uint32_t lane)
{
    uint64_t address = ((const uint64_t *)row(w, o->b))[lane];
    space where = space_of_address(address);
    if (where == SPACE_LOCAL || where == SPACE_SHARED) {
        report_place(w, o, lane, address, where == SPACE_LOCAL ? "local" : "shared");
        return NULL;
    }
    const device_tensor_map *map = NULL;
    for (uint32_t at = 0; at < TENSOR_MAP_BYTES; at += CHUNK) {
        const void *memory =
            reach_lane(w, o, SPACE_GENERIC, address + at, CHUNK, lane, ACCESS_LOAD, NULL);
        if (!memory) return NULL;
        if (at == 0) map = memory;
    }
    const char *wrong = misfit(map, o->extra);
    if (!*wrong) return map;
    report(w, o, FINDING_TRAP, lane, address, "%s", wrong);
    launch_stop(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
    return NULL;
}

static uint32_t elements(const device_tensor_map *m, uint32_t dimension)
{
    return (m->box[dimension] + m->every[dimension] - 1u) / m->every[dimension];
}

static uint32_t count_rows(const device_tensor_map *m)
{
    uint32_t rows = 1;
    if (m->pixels) return m->pixels;
    for (uint32_t i = 1; i < m->rank; i++) rows *= elements(m, i);
    return rows;
}

uint32_t tile_bytes(const device_tensor_map *m)
{
    return count_rows(m) * m->box[0] * m->size;
}

reduction tile_reduction(const device_tensor_map *m, const char *operation)
{
    static const char *const names[] = {"u8",  "u16", "u32",  "s32", "u64", "s64", "f16",
                                        "f32", "f64", "bf16", "f32", "f32", "f32"};
    const char *bits = m->size == 8 ? "b64" : "b32";
    bool logic = strchr("aox", operation[0]) && strcmp(operation, "add");
    return (reduction){find_atomic(operation, logic ? bits : names[m->type]), m->size};
}

tile_shape tile_shape_of(const device_tensor_map *m)
{
    return (tile_shape){.swizzle = m->swizzle, .row_bytes = m->box[0] * m->size, .rank = m->rank};
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The row's coordinate along dimension i; `row` becomes what is left for those behind. */
static int64_t step(const device_tensor_map *m, int32_t from, uint32_t i, uint32_t *row)
{
    const uint32_t n = elements(m, i), at = *row % n;
    *row /= n;
    return from + (int64_t)at * m->every[i];
}

/* The same for a pixel: to the end of the box, then from its beginning on. */
static int64_t step_pixel(const device_tensor_map *m, int32_t from, uint32_t i, uint32_t *row)
{
    if (i + 1u == m->rank) return from + (int64_t)*row;
    const int64_t every = m->every[i], low = m->lower[i - 1];
    const int64_t high = (int64_t)m->last[i] + m->upper[i - 1], beside = m->offset[i - 1];
    const int64_t first = from > high ? 0 : (high - from) / every + 1;
    const int64_t all = low > high ? 1 : (high - low) / every + 1, left = *row - first;
    const int64_t at = left < 0 ? from + *row * every : low + left % all * every;
    *row = left < 0 ? 0 : (uint32_t)(1 + left / all);
    return at + beside;
}

/* @return whether row number `row` of the tile lies in the tensor, and where its column 0 would. */
static bool find_row(const device_tensor_map *m, const int32_t *coordinate, uint32_t row,
                     uint64_t *address)
{
    *address = m->address;
    for (uint32_t i = 1; i < m->rank; i++) {
        int64_t at = (m->pixels ? step_pixel : step)(m, coordinate[i], i, &row);
        if (at < 0 || at > (int64_t)m->last[i]) return false;
        *address += (uint64_t)at * m->stride[i - 1];
    }
    return true;
}

/* The elements of a row that lie in the tensor: from `first` on, `count` of them. */
static void find_inside(const device_tensor_map *m, int32_t column, uint32_t *first,
                        uint32_t *count)
{
    int64_t all = m->box[0], end = (int64_t)m->last[0] + 1;
    int64_t from = column < 0 ? -(int64_t)column : 0, to = column >= end ? 0 : end - column;
    to = to > all ? all : to;
    *first = (uint32_t)(from > all ? all : from);
    *count = to > from ? (uint32_t)(to - from) : 0;
}

bool tile_has(const device_tensor_map *m, const int32_t *coordinate, uint32_t byte)
{
    uint64_t memory;
    uint32_t first, count, row = m->box[0] * m->size;
    if (!find_row(m, coordinate, byte / row, &memory)) return false;
    find_inside(m, coordinate[0], &first, &count);
    return byte % row + CHUNK > first * m->size && byte % row < (first + count) * m->size;
}

static void move_row(warp *w, const op *o, uint32_t lane, const device_tensor_map *m,
                     uint64_t memory, int32_t column, cargo *tile, uint32_t at, bulk_mover *move)
{
    uint32_t first, count;
    find_inside(m, column, &first, &count);
    memory += (uint64_t)(((int64_t)column + first) * m->size);
    move(w, o, lane, memory, tile, at + first * m->size, count * m->size);
}

static void move_tile(warp *w, const op *o, uint32_t lane, const device_tensor_map *m,
                      const int32_t *coordinate, cargo *tile, bulk_mover *move)
{
    uint32_t rows = count_rows(m), bytes = m->box[0] * m->size;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t memory;
        if (!find_row(m, coordinate, i, &memory)) continue;
        move_row(w, o, lane, m, memory, coordinate[0], tile, i * bytes, move);
    }
}

void tile_read(warp *w, const op *o, uint32_t lane, const device_tensor_map *m,
               const int32_t *coordinate, cargo *to)
{
    static const uint64_t nan[] = {0, 0, 0x7fff, 0, 0x7fffffff, 0, 0, 0, 0x7fffffffffffffff};
    uint32_t bytes = tile_bytes(m);
    for (uint32_t i = 0; m->fills_nan && i < bytes; i += m->size)
        memcpy(to->data + i, &nan[m->size], m->size);
    move_tile(w, o, lane, m, coordinate, to, bulk_read);
}

void tile_write(warp *w, const op *o, uint32_t lane, const device_tensor_map *m,
                const int32_t *coordinate, cargo *from)
{
    move_tile(w, o, lane, m, coordinate, from, bulk_write);
}
