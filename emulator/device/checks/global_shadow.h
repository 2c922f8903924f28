/*
 * global_shadow.h: the shadow of global memory, for global_shadow.c (what is kept), global_order.c
 * (which access comes first) and global_race.c (the words).
 *
 * Every word of device memory has two cells of 32 bits, of its last write and of a read:
 *
 *     event : 22 | lane : 5 | part : 3 | flags : 2
 *
 * An event is an access of one warp: its block, tick, source line; those of one operation share it
 * until something orders the warp's accesses. Events are numbered through all launches, so cells of
 * earlier launches are those below a floor, and nothing need be cleared; when numbers run out,
 * between two launches, all cells are. An event is 16 bytes for, mostly, 32 words. The floor is the
 * first event of the launch, or of a work of another stream that the launch does not come after
 * (order.h): those can race with it too. A copy or a fill is one event.
 *
 * Accesses of less than a word say which part of it; a cell has room for the last one, so of bytes
 * that several threads write side by side, some go unnoticed.
 */
#ifndef SOFTGPU_DEVICE_GLOBAL_SHADOW_H
#define SOFTGPU_DEVICE_GLOBAL_SHADOW_H

#include "checks.h"

enum {
    EVENT_SHIFT = 10,
    LANE_SHIFT = 5,
    PART_SHIFT = 2,
    MOST_EVENTS = 1 << 22,
    MOST_EPOCHS = 1 << 22,
    EVENT_CHUNK = 64, /* numbers that a block takes at once */
    RECENT = 8,       /* events that a warp finds again */
};

/* Flags of write cells: atomic, for all threads, or volatile. */
#define CELL_STRONG UINT32_C(1)

/** Flags of read cells: who else has read. */
typedef enum spread {
    SPREAD_ONE,
    SPREAD_WARP,  /* other lanes of the warp */
    SPREAD_BLOCK, /* other warps of the block */
    SPREAD_GRID,  /* other blocks */
} spread;
#define SPREAD UINT32_C(3)

typedef struct event {
    uint32_t block;
    uint32_t tick;  /**< of the block, never starting anew; accesses are not earlier */
    uint32_t epoch; /**< the block's accesses between two fences; 0: no room, so not checked */
    uint32_t strength : 2, in_block : 1, uniform : 1, warp : 5, line : 23;
} event;

struct global_shadow {
    uint32_t *written, *read; /**< cells */
    event *events;            /**< by number */
    uint32_t *released; /**< by epoch: clock at its release, see global_order.c; 0: none yet */
    uint32_t first;     /**< event of the launch */
    uint32_t floor;     /**< first event that may race */
    uint32_t next, next_epoch;
    uint32_t clock;    /**< releases in this launch */
    uint32_t launches; /**< so far */
    bool told;         /**< the launch has set flags that the host can see */
    tracker *trackers; /**< all there are */
};

typedef struct recent {
    const op *op;
    uint32_t event, tick;
} recent;

/** What a block in flight remembers. */
struct tracker {
    uint32_t launch, number;   /**< of the launch; of the block in it */
    uint32_t event, end_event; /**< numbers taken and not yet used */
    uint32_t epoch;            /**< 0: no event since the last fence */
    uint32_t *fenced;          /**< epochs that fences have ended, and nothing has released yet */
    uint32_t fenced_count;
    uint32_t acquired;    /**< clock at its last strong access */
    bool strong;          /**< has done a strong access */
    bool acquiring;       /**< and nothing that is watched since then */
    uint32_t over, overs; /**< events of a work that comes before: the first, how many */
    uint32_t storing;     /**< event of a store that is noted and under way; 0: none is; */
    warp *storer;         /**< whose; */
    const op *store;      /**< which */
    tracker *next;
    recent recent[MAX_WARPS][RECENT];
};

/** How an earlier access stands to one that happens now. */
typedef enum order {
    ORDER_BEFORE,
    ORDER_SAME_LANE, /* same warp: before in the same lane, otherwise at the same time */
    ORDER_NONE,
} order;

/** One lane's access to a word, about to happen. */
typedef struct touch {
    warp *warp;
    const op *op;
    access_kind how;
    uint32_t lane;
    uint64_t word;    /* index from DEVICE_BASE */
    uint64_t address; /* of the whole access */
    uint32_t me;      /* the cell that it leaves, without flags */
} touch;

static inline uint32_t load_relaxed(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void store_relaxed(uint32_t *p, uint32_t value)
{
    __atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static inline uint32_t cell_lane(uint32_t cell)
{
    return cell >> LANE_SHIFT & 31;
}

/** The bytes of the word that the access was to, as bits. */
static inline uint32_t cell_bytes(uint32_t cell)
{
    static const uint8_t bytes[8] = {15, 3, 12, 1, 2, 4, 8, 0};
    return bytes[cell >> PART_SHIFT & 7];
}

static inline const event *cell_event(const global_shadow *g, uint32_t cell)
{
    return &g->events[cell >> EVENT_SHIFT];
}

/** Is it of an earlier work, of another stream? */
static inline bool is_foreign(const global_shadow *g, uint32_t cell)
{
    return cell >> EVENT_SHIFT < g->first;
}

/* global_shadow.c, for order.c and order_race.c */
/** Between two works: if few events are left, numbers start anew, and all works are forgotten. */
void global_shadow_renew(device *);
/** A new event, for a copy; 0: there are none left. */
uint32_t global_shadow_event(device *);

/* global_order.c */
/** Does the earlier work that the event is of come before this launch? */
bool is_over(const block *, uint32_t event);
/** How the access that left the cell stands to this one. */
order order_of(const warp *, const op *, uint32_t cell);
/** Does the access race with the one that left the cell? */
bool races_with_write(const touch *, uint32_t cell);
bool races_with_read(const touch *, uint32_t cell);
/** Does the access read by the cache of read-only memory what this launch has written? */
bool is_stale_copy(const touch *, uint32_t written);
/** The read cell after one more read. */
uint32_t add_reader(const touch *, uint32_t cell);

/* global_race.c */
void report_global_race(const touch *, uint32_t cell, bool wrote);
void report_stale_copy(const touch *, uint32_t written);

#endif
