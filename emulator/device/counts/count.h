/*
 * count.h: how a counted launch is counted.
 *
 * Interface
 *   site, tally, counted, counter       shared by site.c, count.c and tally.c
 *   count_...                           what count_matrix.c needs of count.c
 *
 * A site is one statement of a function's PTX. The twin of a function (module_make_twins) has a
 * counting operation before each statement, which adds to the site's tally; each host thread has
 * tallies of its own, and they are summed when its last block is done. So the sums are the same
 * whatever thread runs which block.
 */
#ifndef SOFTGPU_DEVICE_COUNT_H
#define SOFTGPU_DEVICE_COUNT_H

#include "device/ops/ops.h"
#include "pattern.h"

/** What a site's accesses are. */
typedef enum traffic {
    TRAFFIC_NONE,
    TRAFFIC_GLOBAL_LOAD,
    TRAFFIC_GLOBAL_STORE,
    TRAFFIC_GLOBAL_ATOMIC,
    TRAFFIC_LOCAL_LOAD,
    TRAFFIC_LOCAL_STORE,
    TRAFFIC_SHARED_LOAD,
    TRAFFIC_SHARED_STORE,
    TRAFFIC_SHARED_ATOMIC,
} traffic;

/** A generic access has three sites in a row: for global, local and shared memory. Only the first
 *  one counts as an instruction. */
enum { GENERIC_GLOBAL, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_SITES };

struct site {
    char opcode[32];
    uint32_t line;       /**< index into the module's places */
    uint32_t operations; /**< floating-point, a lane */
    uint8_t class;       /**< a device_class */
    uint8_t traffic;     /**< a `traffic` */
    bool barrier;
};

struct tally {
    uint64_t executed, lanes;
    uint64_t requests;
    uint64_t units; /**< sectors or wavefronts */
    uint64_t bytes;
    uint64_t least; /**< wavefronts without conflicts */
};

/** What one kernel has cost so far. It outlives the kernel's module. */
struct counted {
    const module *module; /* with the version: never dereferenced once the module is gone */
    uint64_t version;
    const function *function; /* the twin */
    char kernel[128];
    uint64_t launches, blocks, warps, threads, submissions, resident, footprint;
    uint64_t longest, block_atomics;
    uint32_t first, sites; /* of the module's sites those that a launch can reach */
    site *site;
    char **file; /* of each site, in counter.files */
    uint32_t *line;
    tally *tally;
};

enum { MOST_LAUNCHES = 10000 }; /* that are kept one by one */

struct counter {
    bool on;
    device_counts before; /* of the kernel that runs: before the launch */
    device_counted_launch *launches;
    uint32_t launch_count, launch_room;
    counted **kernels; /* in the order of their first launches */
    uint32_t kernel_count;
    char **files; /* distinct names */
    uint32_t file_count;
    uint64_t *touched;    /* a bit a sector of device memory: of the launch that runs */
    uint8_t *touched_any; /* for each MAP_STEP bytes of `touched`: is a bit set? */
};

/** The statement that the counting operation belongs to. @return its tally */
tally *count_executed(warp *, const op *, uint32_t mask);
/** Of all lanes: those that are not active do no harm. */
void count_addresses(const warp *, const op *, uint64_t address[LANES]);
/** One request, to the space that o->space says. */
void count_request(warp *, const op *o, tally *, pattern *);
void count_shared(tally *, const pattern *, pattern_kind);

/* count.c, count_matrix.c: what stands before a statement in a twin */
handler run_count, run_count_branch, run_count_global, run_count_shared, run_count_local,
    run_count_generic, run_count_async;
handler run_count_fragment, run_count_ldmatrix;

/* tally.c */
bool tally_is_on(const device *);
/** Before and after a launch: what `l->counted` is for. Its module has twins. */
void tally_begin(launch *);
void tally_end(launch *);
/** Before a host thread's first block and after its last one. */
void tally_prepare(block *);
void tally_fold(block *);
void tally_close(device *);
/** Put sectors (counted from DEVICE_BASE) on the map of what the launch touched. */
void tally_touch(counter *, const uint64_t *sector, uint32_t count);

#endif
