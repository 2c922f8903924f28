/*
 * bulk.h: bulk copies: cp.async.bulk, and those of a tensor's tile, which the TMA makes.
 *
 * A copy to shared memory takes effect when the phase of its mbarrier is waited for; until then its
 * bytes are under way. One from shared memory reads at once, and its bytes are there when its group
 * is waited for, not only with .read, or when its block ends.
 *
 * In a launch that is `early` bytes are there when the copy is issued. Findings are the same: what
 * is under way, written, or read from when on is told as above.
 */
#ifndef SOFTGPU_DEVICE_BULK_H
#define SOFTGPU_DEVICE_BULK_H

#include "device/tensor_map.h"
#include "tensor.h"

typedef enum bulk_kind {
    BULK_LOAD,   /**< from global to shared memory */
    BULK_STORE,  /**< back */
    BULK_SEND,   /**< from this block's shared memory to that of another */
    BULK_VALUES, /**< st.async: of registers, to that of a block; no work of the async proxy */
} bulk_kind;

enum { MASK_ROW = TENSOR_RANK, OFFSET_ROW, BULK_ROWS = OFFSET_ROW + SPACE_RANK };

/** op.a: address in shared memory of what is loaded or stored; op.b: in global memory, or of the
 *  tensor map, or where it is sent; op.c: the mbarrier; op.e: bytes. */
typedef struct bulk {
    uint8_t kind;
    uint8_t rank;                /**< of the tensor; 0: plain bytes */
    uint8_t values, value_bytes; /**< in as many rows; bytes of each */
    bool multicast, im2col;
    const char *operation;  /**< of a reduction, or NULL; */
    reduction reduce;       /**< of plain bytes; a tensor map names the type itself */
    operand row[BULK_ROWS]; /**< coordinates, or values; the blocks of a multicast; the offsets of
                                 im2col */
} bulk;

/** op.variant: only until they have read */
handler run_bulk, run_bulk_commit, run_bulk_wait, run_store_async;

/* ---- cargo.c: what is copied ----------------------------------------------------------------- */

typedef struct cargo {
    uint8_t *data;
    uint64_t *gaps; /**< a bit a byte: nothing had written it; NULL: something had written all */
    uint32_t bytes;
} cargo;

/** All 0. The caller frees it, or hands it on. */
cargo cargo_new(uint32_t bytes);
cargo cargo_copy(const cargo *);
void cargo_free(const cargo *);
void cargo_gap(cargo *, uint32_t at);
bool cargo_has_gap(const cargo *, uint32_t at);

/* ---- departure.c: copies on their way to global memory --------------------------------------- */

typedef struct departure {
    warp *warp;
    const op *op;
    uint8_t lane;
    bool tile;        /**< by a map; else all of it to `to` */
    uint32_t group;   /**< how many its thread had committed before */
    reduction reduce; /**< or copied */
    device_tensor_map map;
    int32_t coordinate[TENSOR_RANK];
    uint64_t to;
    cargo cargo;
} departure;

/** Takes the cargo over. */
void departure_begin(block *, const departure *);
/** Those of these lanes that are of no group, or of the latest `but`, go on. */
void departures_end(warp *, uint32_t lanes, uint32_t but);
/** A block that has ended: what is under way to global memory arrives. */
void departures_end_all(block *);
void departures_forget(tensor *);
/** Said of copies that are under way when the block ends: its memory is another's then. */
void departures_end_late(block *), flights_end_late(block *);

/* ---- tile.c: a tile of a tensor -------------------------------------------------------------- */

/** The map that a lane names, or NULL: reported. */
const device_tensor_map *tile_map(warp *, const op *, uint32_t lane);
/** Bytes of a tile in shared memory. */
uint32_t tile_bytes(const device_tensor_map *);
tile_shape tile_shape_of(const device_tensor_map *);
/** Does one of the 16 bytes from that one of the tile on lie in the tensor? */
bool tile_has(const device_tensor_map *, const int32_t *coordinate, uint32_t byte);
/** What lies there at `coordinate`, row by row; what is outside of the tensor is filled. */
void tile_read(warp *, const op *, uint32_t lane, const device_tensor_map *,
               const int32_t *coordinate, cargo *to);
/** What to do with elements of the map's type; NULL: softgpu cannot. */
reduction tile_reduction(const device_tensor_map *, const char *operation);
/** Back, but for what is outside. */
void tile_write(warp *, const op *, uint32_t lane, const device_tensor_map *,
                const int32_t *coordinate, cargo *from);
/** What these do, in tensor.moves of the warp's block. */
typedef enum bulk_moves {
    MOVES_ALL,   /**< check, count, move */
    MOVES_BYTES, /**< nothing else, where memory is */
    MOVES_NONE,  /**< check, count */
    MOVES_LEAVE, /**< say that it is unwritten until they come */
    MOVES_SEEK,  /**< is one of these bytes at tensor.sought? */
    MOVES_MEET,  /**< has something else been written there since they left? */
} bulk_moves;

/** Global memory, and the bytes of a cargo from `at` on; a write by what tensor.reduce says. */
typedef void bulk_mover(warp *, const op *, uint32_t lane, uint64_t address, cargo *, uint32_t at,
                        uint32_t bytes);
bulk_mover bulk_read, bulk_write;
/** One more copy, while launches are counted; its bytes are counted as they are read or written. */
void bulk_count(const warp *, const op *);

/* ---- flight.c: copies on their way to shared memory ------------------------------------------ */

/** A tile, and the corner of its box in the tensor; or plain bytes. */
typedef struct tile_box {
    tile_shape shape;
    int32_t corner[TENSOR_RANK];
    device_tensor_map map;
    const uint8_t *from; /**< where plain bytes are; NULL: they never change */
} tile_box;

/** A copy to the shared memory of this block. */
typedef struct bulk_flight {
    warp *by;
    const op *op;
    uint32_t lane;
    int32_t step; /**< of the trace, or -1 */
    uint32_t to, number;
    tile_box box;
    uint32_t barrier;
    cargo cargo; /**< as it was when issued */
} bulk_flight;

/** The cargo, which it takes over, to that offset of a block, as that tile; the mbarrier at that
 *  offset of that block is told. */
void flight_begin(warp *, const op *, uint32_t lane, block *to, uint32_t offset, const tile_box *,
                  uint32_t barrier, cargo);
/** Where the i-th 16 bytes of a copy to `offset` lie. */
uint32_t swizzled_place(uint32_t offset, uint32_t swizzle, uint32_t i);

#endif
