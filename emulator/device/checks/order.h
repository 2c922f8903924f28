/*
 * order.h: what copies, fills and launches come before and after: for order.c (steps, and works
 * that are past), order_race.c (two of them meet) and the checks of global_shadow.c.
 *
 * A device runs each work at once. The other orders that a GPU might choose follow from what the
 * program says about every work (device_turn): its lane, and which works of other lanes are over
 * before it. From that one statement follow the step in which the work would be done, and which
 * past works are *apart* from it: a GPU could do either first. Works that are apart and touch the
 * same memory race. So false statements do not pay: a program that states less order than there is
 * has races, one that states more overlaps less.
 */
#ifndef SOFTGPU_DEVICE_ORDER_H
#define SOFTGPU_DEVICE_ORDER_H

#include "checks.h"

enum {
    PAST = 256,   /* works that are remembered; older ones count as before all that follow */
    STEPS = 1024, /* likewise of one lane: the oldest stands for all that were before */
};

typedef enum engine {
    ENGINE_TO_DEVICE,
    ENGINE_TO_HOST,
    ENGINE_COMPUTE, /* launches, fills, copies on the device */
    ENGINES,
} engine;

/** A launch, or one side of a copy or a fill. */
typedef struct past {
    uint32_t lane, work;
    uint32_t first_event, end_event; /* that its accesses left in the cells of global_shadow.h */
    bool apart;                      /* from the work whose turn it is */
    const function *kernel;          /* of a launch; else NULL */
    uint32_t grid[3], block[3];
    const char *what; /* of the others: "a copy to the device" */
    bool writes;
    bool painted; /* its event stands in the cells */
    bool fenced;  /* a launch in which blocks have let others see what they did */
    uint64_t offset, bytes;
    uint64_t step;
} past;

/** The works of a lane: which it was, and in which step it is done. */
typedef struct steps {
    uint32_t work[STEPS];
    uint64_t step[STEPS];
} steps;

struct work_order {
    device_turn turn;
    bool open;    /* it is somebody's turn */
    bool stepped; /* its step is taken: */
    uint64_t step;
    bool any_apart;  /* some of `past` are */
    bool concurrent; /* some were, since all was settled */
    uint64_t idle[ENGINES], span;
    uint32_t lanes;               /* that have had works: the first ones */
    uint32_t count[DEVICE_LANES]; /* works so far; the last STEPS of them are in `steps` */
    steps steps[DEVICE_LANES];
    uint32_t last[DEVICE_LANES]; /* of each lane in `past`; 0: none */
    past past[PAST];
    uint32_t past_count; /* so far; the last PAST of them are there */
};

/** The end of what is said of two works that are apart. */
#define NEITHER_WAITS "in another stream: neither waits for the other"

/* order.c */
/** The work whose turn it is uses that engine. */
void order_step(device *, engine);
/** The oldest work that is remembered, by number; up to past_count. */
uint32_t order_oldest(const work_order *);
/** The work that an event of the cells belongs to; NULL: it is long past. */
const past *order_find(const device *, uint32_t event);
/** The first event of a work that is apart; `none` if none is. */
uint32_t order_floor(const device *, uint32_t none);
/** @return room for one more, of the lane and the work whose turn it is */
past *order_add(work_order *);
/** Note a launch and its events; `fenced`: some of its blocks have passed fences. */
void order_launched(const launch *, uint32_t first_event, uint32_t end_event, bool fenced);
/** Count all works as before those that follow, for races and for steps. */
void order_forget(device *);
/** The memory is given back: what will lie there has nothing to do with it. */
void order_forget_range(device *, uint64_t offset, uint64_t bytes);
void order_close(device *);

/* order_race.c */
/** A copy or a fill is about to touch a range: say whether it races, and note it. */
void order_touch(device *, uint64_t offset, uint64_t bytes, bool writes, const char *what);
/** The same without a note: of a launch in flight, which flags may order with what follows. */
void order_look(device *, uint64_t offset, uint64_t bytes, bool writes, const char *what);
/** Put the events of copies and fills that are apart into the cells, for a launch to meet. */
void order_paint(device *);

#endif
