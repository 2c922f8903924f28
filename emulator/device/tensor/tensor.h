/*
 * tensor.h: the asynchronous units of compute capability 9.0: products of a warp group (wgmma),
 * copies of whole tiles (TMA, cp.async.bulk).
 *
 * These units are a proxy of their own for memory, the async proxy. It sees data that threads wrote
 * only after a fence.proxy.async; data that it reads may be overwritten only after a wait.
 */
#ifndef SOFTGPU_DEVICE_TENSOR_H
#define SOFTGPU_DEVICE_TENSOR_H

#include "device/memory/memory.h"
#include "device/ops/matrix.h"

enum {
    CHUNK = 16,          /* bytes that the units move at once */
    STEPS = 64,          /* latest operations of a warp group that are remembered */
    MOST_YIELDS = 10000, /* turns that a warp gives away */
};

/* ---- operand.c: an operand of wgmma in shared memory ----------------------------------------- */

typedef enum swizzle {
    SWIZZLE_NONE,
    SWIZZLE_128,
    SWIZZLE_64,
    SWIZZLE_32,
} swizzle;

/** How elements follow each other: along k or, across, along the rows of A and columns of B. */
typedef struct tile_order {
    uint8_t kind, bits;
    bool across;
    uint32_t depth; /**< of k */
} tile_order;

/** Where in shared memory a descriptor says that the element is: row of A or column of B, k. */
uint32_t operand_place(uint64_t descriptor, const tile_order *, uint32_t outer, uint32_t k);
/** Rows or columns from `first` on; as fragment_read. */
void operand_read(warp *, const op *, uint64_t descriptor, const tile_order *, uint32_t first,
                  uint32_t count, double *to, uint32_t outer_step, uint32_t inner_step);

/* ---- fit.c: does a descriptor fit the tile that lies there? ---------------------------------- */

enum { FITTED = 64 };
/** What is known of an operand while its chunks are read one by one. */
typedef struct fitting {
    uint64_t descriptor;
    const tile_order *order;
    uint32_t tiles;
    bool told;
    struct {
        uint32_t number, row, at; /**< of the copy; row and byte where the operand would begin */
    } tile[FITTED];
} fitting;
/** The chunk at `place` is read as the one of (outer, k). */
void fit_chunk(warp *, const op *, fitting *, uint32_t place, uint32_t lane, uint32_t outer,
               uint32_t k);

/* ---- reading.c: shared memory that a unit still reads ---------------------------------------- */

/** One wgmma, or one bulk copy, of a warp. */
typedef struct reading {
    const op *op;
    uint32_t group; /**< how many its thread had committed before */
    uint8_t lane;
    bool bulk;
    uint32_t *chunk;
    uint32_t chunks, capacity;
} reading;

typedef struct warp_readings {
    reading *list;
    uint32_t count, capacity;
} warp_readings;

/** Begin one: what is read from now on is the op's. */
void reading_begin(warp *, const op *, uint32_t lane, uint32_t group, bool bulk);
void reading_note(warp *, uint32_t offset);
/** Those of the latest `but` groups go on. `lanes`: of bulk copies. */
void readings_end(warp *, bool bulk, uint32_t lanes, const uint32_t *committed, uint32_t but);
/** The warp has waited for that many groups of wgmma: the shared memory that its warp group read
 *  for them is free. */
void readings_end_group(warp *, uint32_t groups);
/** The warp's wgmma of later groups. */
uint32_t readings_open(const warp *, uint32_t groups);
void readings_forget(block *); /**< as it ended */
/** Did a wgmma that has ended leave that read cell, and does this warp know that it has? */
product_state product_at(const warp *, uint32_t offset, uint32_t cell);
/** Chunks that the async proxy is about to use: did threads write them without a fence? */
void proxy_check(warp *, const op *, uint32_t offset, uint32_t lane, bool writes);
handler run_fence_proxy;

/* ---- wgmma.c: operands: registers of d from 0 on, of a behind them --------------------------- */
typedef struct wgmma {
    fragment d, a;
    tile_order a_order, b_order;
    uint32_t columns;
    uint8_t number; /**< in its function */
    bool a_held;    /**< in registers */
    bool negate_a, negate_b, saturate;
    operand row[MAX_WGMMA_ROWS];
} wgmma;

/** op.a, op.b: descriptors; op.c: predicate, or 0: add to d. */
handler run_wgmma, run_wgmma_fence, run_wgmma_commit, run_wgmma_wait;
handler run_registers; /* in registers.c. op.offset: of a thread; op.variant: takes more */
/** What all four warps of a group execute together. */
typedef enum step_kind { STEP_WGMMA, STEP_REGISTERS, STEP_KINDS } step_kind;
extern const char *const step_names[STEP_KINDS];
/** Is it the one that the warp of its group that is ahead executed? */
void check_group(warp *, const op *, step_kind);
/** For other warps; then to `o` again. @return NULL, for the handler */
const op *give_way(warp *, const op *);

/* ---- touch.c: registers touched too early ---------------------------------------------------- */

typedef enum touch_kind {
    TOUCH_READ,     /**< a sum under way */
    TOUCH_WRITE,    /**< the same */
    TOUCH_FACTOR,   /**< a register of A under way is written */
    TOUCH_UNFENCED, /**< a wgmma comes: is a fence missing? */
    TOUCH_WRITTEN,  /**< here was written what it will use */
} touch_kind;

/** op.extra. What may happen at an operation, where analysis/ could not rule it out. */
typedef struct touch {
    struct touch *next;
    touch_kind kind;
    uint64_t users; /**< wgmma that use the register, a bit set by their numbers */
} touch;

handler run_touch;
/* ---- state.c: of a block, from its first use of such a unit on ------------------------------- */

/** Of elements of so many bytes; NULL: they are copied. */
typedef struct reduction {
    atomic_function *run;
    uint8_t size;
} reduction;

/** How a tile lies in shared memory. */
typedef struct tile_shape {
    uint32_t swizzle, row_bytes; /**< bytes of the rows that are swizzled; of its own */
    uint32_t rank;               /**< of the tensor; 0: plain bytes */
} tile_shape;

/** What the async proxy wrote last to a chunk. */
typedef struct landing {
    uint32_t cell;         /**< its stamp; if the shadow has another, it is no longer there */
    uint32_t number, line; /**< of the copy */
    uint32_t piece;        /**< which 16 bytes of it */
    tile_shape shape;
} landing;

/** The last wgmma that read a chunk. */
typedef struct ending {
    uint32_t cell; /**< its stamp, as of a landing; 0: it was no wgmma */
    known need;    /**< who writes there has to know so many groups to be over */
} ending;

typedef struct warp_group {
    const op *step[STEPS]; /**< by number; */
    uint32_t steps;        /**< of the warp that is ahead */
} warp_group;

struct tensor {
    warp_readings readings[MAX_WARPS];
    uint32_t wgmma_groups[MAX_WARPS];      /**< committed */
    uint32_t fences[MAX_WARPS];            /**< wgmma.fence executed */
    uint32_t written[MAX_WARPS];           /**< since then: the line of a TOUCH_WRITTEN */
    uint32_t steps[STEP_KINDS][MAX_WARPS]; /**< executed */
    uint32_t registers[MAX_WARPS];         /**< of each thread; 0: no setmaxnreg yet */
    known known[MAX_WARPS];
    uint32_t yields[MAX_WARPS]; /**< turns given away, for others of the group are behind */
    warp_group group[STEP_KINDS][WARP_GROUPS];
    uint32_t bulk_groups[MAX_WARPS][LANES]; /**< committed */
    uint32_t fenced[MAX_WARPS];             /**< tick of the last fence.proxy.async, and */
    uint32_t fenced_epoch[MAX_WARPS];       /**< the tick of the barrier before it */
    reduction reduce;                       /**< of the bulk store that runs */
    uint8_t moves;                          /**< of the bulk copy: a bulk_moves */
    uint64_t sought;                        /**< for MOVES_SEEK; */
    bool found;                             /**< what it, or MOVES_MEET, has found */
    struct bulk_flight *flights;
    uint32_t flight_count, flight_capacity, flights_begun;
    struct departure *departures;
    uint32_t departure_count, departure_capacity;
    uint32_t chunks;          /**< of the block's shared memory; of each: */
    uint32_t *readers, *seen; /**< warps that still read, that did */
    landing *landed;
    ending *ended;
};

tensor *tensor_of(block *);
void tensor_start(block *);
void tensor_end(block *);
void tensor_close(block *);
/** Copies under way come to nothing. */
void flights_forget(block *);

#endif
