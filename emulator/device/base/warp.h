/*
 * warp.h: 32 lanes: their registers, and which of them run together.
 *
 * Interface
 *   row, active, go_on, is_all               for every handler
 *   group_gather, group_missing, group_pause, group_halt     lane_group.c: which lanes run
 *
 * A warp starts as one lane group. Groups part at branches and meet again: lane_group.c says how.
 */
#ifndef SOFTGPU_DEVICE_WARP_H
#define SOFTGPU_DEVICE_WARP_H

#include "op.h"

typedef enum group_state {
    GROUP_FREE,
    GROUP_READY,
    GROUP_JOINING,   /* waits for its children to reach pc */
    GROUP_BARRIER,   /* waits at a block barrier */
    GROUP_CLUSTER,   /* waits at the barrier of the cluster */
    GROUP_GATHERING, /* waits for other lanes of the warp to reach pc */
} group_state;

/** Lanes of a warp that run together. Divergence makes two children; they end where they meet. */
typedef struct lane_group {
    group_state state;
    uint32_t mask;       /**< lanes; while joining, those that have arrived */
    const op *pc, *stop; /**< at `stop` the lanes join the parent; NULL: they run to the exit */
    int parent;          /**< index, -1: none */
    uint32_t children;
    bool calls;      /**< while joining: its children run a function that it called */
    bool gathered;   /**< has waited for other lanes long enough */
    uint8_t barrier; /**< number of the barrier waited at */
    uint32_t wanted; /**< threads that complete it; 0: all */
    const function *function;
    uint8_t *registers; /**< the frame */
    uint32_t local;     /**< offset of the frame in local memory */
} lane_group;

/** An asynchronous copy under way: what it will write, when somebody waits for it. */
typedef struct flight {
    const op *op;
    uint32_t to;      /**< offset in shared memory */
    uint32_t group;   /**< how many groups its lane had committed before */
    uint32_t barrier; /**< offset of the mbarrier that waits for it; NO_BARRIER: none */
    uint8_t lane, bytes, source_bytes;
    const uint8_t *source; /**< the rest is zero */
    uint8_t value[16];     /**< what was there when it was issued */
} flight;
enum { NO_BARRIER = -1 };

typedef struct flights {
    flight *list;
    uint32_t count, capacity;
    uint32_t group[LANES]; /**< groups that each lane has committed */
} flights;

/** How the addresses of a full warp lie, see words.c: in each half of it they rise by a step. */
typedef struct stride_class {
    uint32_t kind, step[2]; /**< bytes */
    uint64_t gap; /**< from the first lane to that of the other half, of 64-bit addresses */
} stride_class;

/** A row of which some lanes hold what no lane gave, or what nothing has written. See undefined.c.
 */
typedef struct undefined {
    operand row;
    uint32_t lanes;
    const op *origin; /**< the shuffle or load where it came from, and the first lane that read, */
    uint8_t lane, source; /**< and what lane a shuffle read from */
    uint8_t space;        /**< of what a load read, a `space`; SPACE_GENERIC: it is a shuffle */
    bool raw, part;       /**< nothing was computed with it yet; other components are defined */
    uint64_t offset;      /**< of that lane's component in local or shared memory, or */
    int64_t step;         /**< from DEVICE_BASE; from lane to lane */
    uint32_t returned;    /**< threads of the block that had returned by then */
} undefined;
enum { MOST_UNDEFINED = 32 };

/** What the load that runs found unwritten, by component. */
typedef struct unwritten {
    const op *op;  /**< NULL: nothing */
    uint8_t space; /**< a `space` */
    uint32_t lanes[4];
    uint64_t offset[4]; /**< of the first lane's, */
    int64_t step[4];    /**< and to the next one's */
} unwritten;

struct warp {
    uint8_t *bank[BANKS];
    uint32_t mask;  /**< active lanes of the group that runs */
    uint32_t alive; /**< lanes that have not exited */
    int current;    /**< the group that runs */
    lane_group *groups;
    int group_count, group_capacity;
    stride_class strides[STRIDES + 1]; /**< by op.stride; nobody relies on the last one */
    uint32_t noted;     /**< bit set of stride classes noted since another group ran */
    uint32_t index;     /**< in the block */
    uint64_t executed;  /**< instructions, while launches are counted */
    uint32_t synced;    /**< tick of its last warp-wide synchronisation */
    uint32_t fenced;    /**< tick of its last memory fence */
    uint32_t published; /**< tick of the last that others of a cluster see; see tick_now */
    int64_t budget;     /**< operations left */
    uint32_t vain;      /**< compare-and-swaps in a row of which all failed */
    bool yields;        /**< one of them was in this turn */
    int32_t slice;      /**< backward jumps left before others get their turn */
    uint8_t *frames, *frames_end; /**< memory for register frames */
    uint8_t *local;               /**< lane l's local memory starts at l * block->local_stride */
    uint32_t *written;            /**< by offset in it: lanes that wrote there; NULL: no check */
    unwritten unwritten;
    const op *loading; /**< a load goes lane by lane, and what it lacks is for `unwritten` */
    bool alone;        /**< run/follow.c runs a copy of one operation */
    flights flights;
    uint32_t undefined_count;
    const uint8_t *undefined_frame; /**< whose rows they are */
    undefined undefined[MOST_UNDEFINED];
    block *block;
};

/** To look at a lane by itself takes as long as so many operations: an endless loop of such
 * accesses is to spend its budget as soon as any other. Who may be waiting for another block pays
 * nothing: that one's host thread may be slow. */
enum { LANE_COST = 8 };
static inline void charge_lanes(warp *w, const op *o, uint32_t mask)
{
    if (o->strength == STRENGTH_PLAIN) w->budget -= LANE_COST * __builtin_popcount(mask);
}

/** Lanes that access consecutive elements (step == bytes) or the same one (step == 0). */
typedef struct run {
    uint64_t address;
    uint32_t lane, lanes; /**< the first lane and how many follow each other */
    uint32_t bytes, step;
} run;

/* access.c: loads and stores of a warp; mover.c: rows from and to host memory */
typedef enum access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
} access_kind;

/* ---- lane_group.c: which lanes run
 * ----------------------------------------------------------------- */

/** An unused group. Pointers to groups are stale after this. @return its index */
int group_new(warp *);
/** One more group: a copy of the current one, with `mask`, at `pc`, which meets its parent at
 * `stop`; likewise. */
int group_fork(warp *, uint32_t mask, const op *pc, int parent, const op *stop);
/** From now on the group is where its lanes meet; `there` are there already. */
void group_meet(lane_group *, const op *pc, uint32_t there);
/** A group ends; `arriving` of its lanes go on in its parent, if it has one. */
void group_end(warp *, int index, uint32_t arriving);
/** Are all lanes of `members` here? If not, the group waits for them at `o`: return NULL. */
bool group_gather(warp *, const op *o, uint32_t members);
/** Live lanes that are named in `members`, and for which nobody can wait any longer: they neither
 * run here nor wait for others of the warp. */
uint32_t group_missing(const warp *, uint32_t members);
/** Leave the group, which goes on at `o` with the next turn. @return NULL, for the handler */
const op *group_pause(warp *, const op *o);
/** The launch ends with a failure, at `o`. @return NULL, for the handler to return. */
const op *group_halt(warp *, const op *o, device_status);

static inline lane_group *group_now(const warp *w)
{
    return &w->groups[w->current];
}

/* ---- inline helpers of every handler --------------------------------------------------------- */

static inline void *row(const warp *w, operand r)
{
    return w->bank[r >> 30] + (r & 0x3fffffff);
}

/** The lanes in which `o` takes effect. */
static inline uint32_t active(const warp *w, const op *o)
{
    if (__builtin_expect(o->guard == 0, 1)) return w->mask;
    uint32_t guard = *(const uint32_t *)row(w, o->guard);
    return w->mask & (o->guard_negated ? ~guard : guard);
}

/** From one handler to the next: what it returns is returned. The compiler makes it a jump, which
 *  costs less than a return to the loop in lane_group.c; branches do return there. */
static inline const op *go_on(warp *w, const op *o)
{
    return o->run(w, o);
}

static inline bool is_all(uint32_t mask)
{
    return mask == (uint32_t)ALL_LANES;
}

#endif
