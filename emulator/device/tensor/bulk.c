/*
 * bulk.c: bulk copies and asynchronous stores, as lanes issue them: each for itself.
 *
 * Interface
 *   run_bulk, run_bulk_commit, run_bulk_wait
 *   run_store_async
 */
#include "bulk.h"
#include "device/base/cluster.h"
#include "device/checks/shadow.h"
#include "device/ops/ops.h"

enum { TILE_ALIGNMENT = 128 };

static uint64_t value_of(const warp *w, operand r, uint32_t lane)
{
    return ((const uint64_t *)row(w, r))[lane];
}

static uint32_t word_of(const warp *w, operand r, uint32_t lane)
{
    return ((const uint32_t *)row(w, r))[lane];
}

static bool report_unaligned(warp *w, const op *o, uint32_t lane, uint64_t address, uint32_t by)
{
    report(w, o, FINDING_MISALIGNED, lane, address,
           "a bulk copy with an address or a size that is not a multiple of %u bytes: declare the "
           "shared array __align__(%u)",
           by, by);
    launch_stop(w->block->launch, DEVICE_MISALIGNED);
    return false;
}

static bool is_aligned(warp *w, const op *o, uint32_t lane, uint64_t value, uint32_t by)
{
    return value % by == 0 || report_unaligned(w, o, lane, value, by);
}

/* ---- from shared memory ---------------------------------------------------------------------- */

/* What a bulk copy has brought unwritten goes on as that; memory of which nothing was ever written
 * is told. */
static const uint8_t *fetch_chunk(warp *w, const op *o, uint32_t lane, uint32_t place, cargo *to,
                                  uint32_t at)
{
    bool brought = false;
    for (uint32_t i = 0; i < CHUNK; i++) {
        if (place + i >= w->block->shared_bytes || !shadow_is_brought(w->block, place + i))
            continue;
        cargo_gap(to, at + i);
        brought = true;
    }
    if (brought) w->loading = o;
    const uint8_t *memory = reach_lane(w, o, SPACE_SHARED, place, CHUNK, lane, ACCESS_LOAD, NULL);
    w->loading = NULL;
    return memory;
}

/* Read now, and its until it is waited for, unless an mbarrier tells. What would be written outside
 * of the tensor is not read: a tile may be padded. */
static void fetch(warp *w, const op *o, uint32_t lane, uint32_t from, const device_tensor_map *map,
                  const int32_t *coordinate, cargo *to)
{
    for (uint32_t i = 0; i < to->bytes / CHUNK; i++) {
        if (map && !tile_has(map, coordinate, i * CHUNK)) continue;
        uint32_t place = swizzled_place(from, map ? map->swizzle : 0, i);
        const uint8_t *memory = fetch_chunk(w, o, lane, place, to, i * CHUNK);
        if (!memory) continue;
        proxy_check(w, o, place, lane, false);
        if (((const bulk *)o->extra)->kind == BULK_STORE) reading_note(w, place);
        memcpy(to->data + i * CHUNK, memory, CHUNK);
    }
}

static void store(warp *w, const op *o, uint32_t lane, const device_tensor_map *map,
                  const int32_t *coordinate, cargo *goods)
{
    const bulk *x = o->extra;
    uint32_t from = (uint32_t)value_of(w, o->a, lane);
    reduction r = map && x->operation ? tile_reduction(map, x->operation) : x->reduce;
    tensor_of(w->block);
    if (x->operation && !r.run) {
        report(w, o, FINDING_UNSUPPORTED, lane, 0, "no reduction of this type: %s", x->operation);
        return;
    }
    uint32_t group = w->block->tensor->bulk_groups[w->index][lane];
    reading_begin(w, o, lane, group, true);
    fetch(w, o, lane, from, map, coordinate, goods);
    departure leaving = {.warp = w, .op = o, .lane = (uint8_t)lane, .group = group, .reduce = r};
    leaving.cargo = cargo_copy(goods);
    leaving.to = map ? 0 : value_of(w, o->b, lane);
    leaving.tile = map != NULL;
    if (map) leaving.map = *map;
    if (map) memcpy(leaving.coordinate, coordinate, sizeof leaving.coordinate);
    departure_begin(w->block, &leaving);
}

/* ---- to shared memory ------------------------------------------------------------------------ */

static void send(warp *w, const op *o, uint32_t lane, uint64_t to, const tile_box *box,
                 const cargo *goods)
{
    uint64_t barrier = value_of(w, o->c, lane);
    block *target = peer_of(w->block, to);
    if (!target) return;
    flight_begin(w, o, lane, target, shared_offset(to), box, shared_offset(barrier),
                 cargo_copy(goods));
}

/* Each block of the mask gets it at the same place. */
static void send_to_all(warp *w, const op *o, uint32_t lane, uint64_t to, const tile_box *box,
                        const cargo *goods)
{
    const bulk *x = o->extra;
    if (!x->multicast) {
        send(w, o, lane, to, box, goods);
        return;
    }
    for (uint32_t m = word_of(w, x->row[MASK_ROW], lane) & 0xffff; m; m &= m - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(m);
        uint64_t place = w->block->cluster ? cluster_address(to, rank) : shared_offset(to);
        send(w, o, lane, place, box, goods);
    }
}

/* ---- one lane -------------------------------------------------------------------------------- */

static device_tensor_map with_offsets(const warp *w, const bulk *x, uint32_t lane,
                                      const device_tensor_map *of)
{
    device_tensor_map map = *of;
    const uint32_t offsets = x->im2col && x->kind == BULK_LOAD ? x->rank - 2 : 0;
    for (uint32_t i = 0; i < offsets; i++)
        map.offset[i] = (uint16_t)word_of(w, x->row[OFFSET_ROW + i], lane);
    return map;
}

static void copy_tile(warp *w, const op *o, uint32_t lane)
{
    const bulk *x = o->extra;
    const device_tensor_map *of = tile_map(w, o, lane);
    int32_t coordinate[TENSOR_RANK] = {0};
    uint64_t here = value_of(w, o->a, lane);
    if (!of || !is_aligned(w, o, lane, here, TILE_ALIGNMENT)) return;
    const device_tensor_map copied = with_offsets(w, x, lane, of), *map = &copied;
    for (uint32_t i = 0; i < x->rank; i++) coordinate[i] = (int32_t)word_of(w, x->row[i], lane);
    cargo goods = cargo_new(tile_bytes(map));
    if (x->kind == BULK_STORE) {
        store(w, o, lane, map, coordinate, &goods);
    } else {
        tile_box box = {.shape = tile_shape_of(map)};
        memcpy(box.corner, coordinate, sizeof box.corner);
        box.map = *map;
        tile_read(w, o, lane, map, coordinate, &goods);
        send_to_all(w, o, lane, here, &box, &goods);
    }
    cargo_free(&goods);
}

static const uint8_t *shared_at(const block *b, uint64_t offset, uint32_t bytes)
{
    return offset + bytes <= b->shared_bytes ? b->shared + offset : NULL;
}

static void copy_bytes(warp *w, const op *o, uint32_t lane)
{
    const bulk *x = o->extra;
    uint64_t here = value_of(w, o->a, lane), there = value_of(w, o->b, lane);
    uint32_t bytes = word_of(w, o->e, lane);
    if (!is_aligned(w, o, lane, here | there | bytes, CHUNK) || bytes > MAX_SHARED) return;
    cargo goods = cargo_new(bytes);
    if (x->kind == BULK_STORE) {
        store(w, o, lane, NULL, NULL, &goods);
    } else if (x->kind == BULK_SEND) {
        tile_box box = {.from = shared_at(w->block, here, bytes)};
        fetch(w, o, lane, (uint32_t)here, NULL, NULL, &goods);
        send(w, o, lane, there, &box, &goods);
    } else {
        tile_box box = {.from = memory_at(w->block->device, there, bytes)};
        bulk_read(w, o, lane, there, &goods, 0, bytes);
        send_to_all(w, o, lane, here, &box, &goods);
    }
    cargo_free(&goods);
}

const op *run_bulk(warp *w, const op *o)
{
    const bulk *x = o->extra;
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        bulk_count(w, o);
        if (x->rank)
            copy_tile(w, o, lane);
        else
            copy_bytes(w, o, lane);
    }
    return o + 1;
}

/* Each lane's is a copy of its own, or a reduction. */
const op *run_store_async(warp *w, const op *o)
{
    const bulk *x = o->extra;
    const uint32_t bytes = (uint32_t)x->values * x->value_bytes;
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint8_t data[BULK_ROWS * 8];
        for (uint32_t i = 0; i < x->values; i++)
            memcpy(data + i * x->value_bytes,
                   (const uint8_t *)row(w, x->row[i]) + lane * x->value_bytes, x->value_bytes);
        uint64_t to = value_of(w, o->a, lane);
        if (!is_aligned(w, o, lane, to, bytes)) continue;
        send(w, o, lane, to, &(tile_box){0}, &(cargo){.data = data, .bytes = bytes});
    }
    return o + 1;
}

/* ---- groups ---------------------------------------------------------------------------------- */

const op *run_bulk_commit(warp *w, const op *o)
{
    uint32_t *groups = tensor_of(w->block)->bulk_groups[w->index];
    for (uint32_t m = active(w, o); m; m &= m - 1) groups[__builtin_ctz(m)]++;
    return o + 1;
}

/* All groups but the latest o->offset ones. With .read, what they write may still come. */
const op *run_bulk_wait(warp *w, const op *o)
{
    const uint32_t *groups = tensor_of(w->block)->bulk_groups[w->index];
    readings_end(w, true, active(w, o), groups, (uint32_t)o->offset);
    if (!o->variant) departures_end(w, active(w, o), (uint32_t)o->offset);
    return o + 1;
}
