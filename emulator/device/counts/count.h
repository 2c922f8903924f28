/*
 * count.h: how a counted launch is counted.
 *
 * Interface
 *   instruction, counters, counted, counting     how a launch is counted
 *   count_...                                    what count_matrix.c needs of count.c
 *
 * An instruction is one statement of a function's PTX. The instrumented copy of a function
 * (module_instrument) has a counting operation before each statement, which adds to the
 * instruction's counters; each host thread has counters of its own, and they are summed when its
 * last block is done. So the sums are the same whatever thread runs which block.
 */
#ifndef SOFTGPU_DEVICE_COUNT_H
#define SOFTGPU_DEVICE_COUNT_H

#include "device/ops/ops.h"
#include "pattern.h"

/** What an instruction's accesses are. */
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
    TRAFFIC_READ_ONLY, /* textures */
    TRAFFIC_BULK_LOAD, /* device/tensor counts them when it copies */
    TRAFFIC_BULK_STORE,
    TRAFFIC_CONSTANT,
} traffic;

/** A generic access has three of them in a row: for global, local and shared memory. Only the
 * first one counts as an instruction. */
enum { GENERIC_GLOBAL, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_INSTRUCTIONS };

struct instruction {
    char opcode[32];
    uint32_t line;           /**< index into the module's places */
    uint32_t operations;     /**< floating-point, a lane */
    uint8_t multiplications; /**< of a lane, outside of tensor instructions */
    uint8_t class;           /**< a device_class */
    uint8_t traffic;         /**< a `traffic` */
    bool barrier;
};

struct counters {
    uint64_t executed, lanes;
    uint64_t requests;
    uint64_t units; /**< sectors or wavefronts */
    uint64_t bytes;
    uint64_t least; /**< wavefronts without conflicts; of constant memory: distinct addresses */
};

/** What one kernel has cost so far. It outlives the kernel's module. */
struct counted {
    const module *module; /* with the version: never dereferenced once the module is gone */
    uint64_t version;
    const function *function; /* the instrumented copy */
    char kernel[128];
    uint64_t launches, blocks, warps, threads, host_launches, resident, footprint;
    uint64_t longest, block_atomics;
    uint32_t first, instructions; /* of the module's instructions those that a launch can reach */
    instruction *instruction;
    char **file; /* of each instruction, in counting.files */
    uint32_t *line;
    counters *counters, *before; /* before: the launch that is traced; else NULL */
};

enum { MOST_LAUNCHES = 10000 }; /* that are kept one by one */

struct counting {
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

/** The statement that the counting operation belongs to. @return its counters */
counters *count_executed(warp *, const op *, uint32_t mask);
/** Of all lanes: those that are not active do no harm. */
void count_addresses(const warp *, const op *, uint64_t address[LANES]);
/** One request, to the space that o->space says. */
void count_request(warp *, const op *o, counters *, pattern *);
/** One request to shared memory. @param what it is to who traces */
void count_banks(const warp *, counters *, const pattern *, pattern_kind, traffic what);

/* count.c, count_matrix.c: what stands before a statement in an instrumented copy */
handler run_count, run_count_branch, run_count_global, run_count_shared, run_count_local,
    run_count_generic, run_count_async, run_count_constant, run_count_texture;
handler run_count_fragment, run_count_ldmatrix;

/* counters.c */
bool counters_are_on(const device *);
/** Before and after a launch: what `l->counted` is for. Its module is instrumented. */
void counters_begin(launch *);
void counters_end(launch *);
/** Before a host thread's first block and after its last one. */
void counters_prepare(block *);
void counters_fold(block *);
void counters_close(device *);
/** Put sectors (counted from DEVICE_BASE) on the map of what the launch touched. */
void counters_touch(counting *, const uint64_t *sector, uint32_t count);

#endif
