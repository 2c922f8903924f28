/*
 * trace.h: the steps of one block of a launch, as text for a page that draws them.
 *
 *   SOFTGPU_TRACE=FILE            append a line of JSON to FILE for each kernel's first launch
 *   SOFTGPU_TRACE_BLOCK=X,Y,Z     of which block; default 0,0,0
 *
 * Interface
 *   trace_open, trace_close     the environment, once a device
 *   trace_begin, trace_end      of a launch; between them
 *   trace_start                 a block begins: is it the one?
 *   trace_step, trace_access, trace_landing, trace_barrier, trace_finding     what it does
 *   trace_now                   the number of the step that was told last, or -1
 *   trace_instruction           what the statements of the kernel are, and cost the whole launch
 *
 * A launch that is traced is counted too (counts/count.h): the counting operation before each
 * statement tells of it. Other launches run other code, and know nothing of this.
 *
 * A line of the file is {"kernel", "id": the mangled name, "grid", "block", "traced": its index,
 * "shared": [[name, offset, bytes], ...], "dynamic": [offset, bytes], "parameters": [[value, base,
 * bytes of the allocation], ...], "steps": [...], "left_out": steps beyond MOST_STEPS,
 * "instructions": [[number, opcode, [file, line, ...outer], traffic, executed, lanes, requests,
 * units, bytes, least, is a barrier], ...]}. Addresses count from DEVICE_BASE. A step is one of
 *
 *   [warp, instruction, mask, ACCESS...]           ACCESS: [kind, bytes, mask, units, FROM]
 *   [-1, barrier, warps that went on]              FROM: base, step a lane, or [address, ...]
 *   [-2, kind, warp, lane, address, file, line, text]     a finding
 *
 * with masks as signed numbers. The address of a finding is one in shared memory, or -1; its text
 * is that of the first of its kind in its line, and "" later. `kind` of an access is a `traffic` of
 * count.h, or one of those below; `units` of one to an mbarrier is the number of the phase. What
 * lands in shared memory while a warp waits for it is an access of that step, too:
 *
 *   [TRACE_LANDING, bytes, step that asked for it, phase, to, mbarrier, bytes of a row,
 *    bytes of a swizzled row, corner of the box, the fastest dimension first, ...]
 */
#ifndef SOFTGPU_DEVICE_TRACE_H
#define SOFTGPU_DEVICE_TRACE_H

#include "device/base/state.h"

enum {
    MOST_STEPS = 100000, /* of the block */
    MOST_KERNELS = 64,
    TRACE_COPY = 9, /* kinds of accesses: what cp.async will write to shared memory; */
    TRACE_ARRIVE,   /* to an mbarrier: arrives, or expects bytes; */
    TRACE_POLL,     /* asks for a phase that is not over; */
    TRACE_WAITED,   /* asks for one that is; */
    TRACE_LANDING,  /* a bulk copy is there */
};

/** NULL: nobody has asked. */
trace *trace_open(void);
void trace_close(device *);

/** Sets l->trace, if this launch is to be traced. */
void trace_begin(launch *);
void trace_end(launch *);
void trace_start(block *, uint64_t number);

void trace_step(block *, uint32_t warp, uint32_t instruction, uint32_t mask);
/** Of the step that was told last. */
void trace_access(block *, uint32_t kind, uint32_t bytes, uint32_t mask, uint32_t units,
                  const uint64_t address[LANES]);
/** A bulk copy that has come to shared memory. */
typedef struct trace_tile {
    int32_t step; /**< that asked for it, or -1 */
    uint32_t to, bytes, barrier, phase;
    uint32_t row_bytes, swizzle, rank;
    const int32_t *corner; /**< [rank] */
} trace_tile;
void trace_landing(block *, const trace_tile *);
int32_t trace_now(const block *);
/** Whoever waits at it goes on. */
void trace_barrier(block *, uint32_t number);
void trace_finding(block *, uint32_t thread, const device_finding *);

/** One statement, and what the launch executed of it. */
typedef struct trace_cost {
    uint32_t number, line; /**< index into the module's places */
    const char *opcode;
    uint32_t traffic;
    bool barrier;
    uint64_t executed, lanes, requests, units, bytes, least;
} trace_cost;
void trace_instruction(launch *, const trace_cost *);

#endif
