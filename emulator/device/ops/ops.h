/*
 * ops.h: the operations, but for those that access memory: one handler each, under the name of its
 * file; and the tables of those that compute.
 */
#ifndef SOFTGPU_DEVICE_OPS_H
#define SOFTGPU_DEVICE_OPS_H

#include "device/memory/memory.h"

/* ---- rules.c: opcodes that compute, each lane from that lane alone --------------------------- */

enum { NO_OPERAND = 255, PREDICATE = 0 };

/** One line of the opcode tables: a name without ignorable modifiers, and the widths in bytes of
 *  destination and sources (0: predicate). */
typedef struct rule {
    const char *name;
    handler *run;
    uint8_t width[5];
} rule;

const rule *rule_find(const char *name);
/** Is it the handler of an opcode of the tables? */
const rule *rule_of(handler *);

/* ---- control.c ------------------------------------------------------------------------------- */

handler run_branch, run_join, run_exit, run_call, run_return, run_jump_table;

/* ---- barrier.c ------------------------------------------------------------------------------- */

typedef enum barrier_kind {
    BARRIER_SYNC,
    BARRIER_ARRIVE,
    BARRIER_POPC,
    BARRIER_AND,
    BARRIER_OR,
} barrier_kind;
handler run_barrier, run_warp_sync, run_fence;
/** Let go whoever waits for a barrier that is complete. @return whether somebody was. */
bool barrier_release(block *);
/** What came before is ordered before what follows: for all threads of the block, or for some,
 *  nobody knows which. */
void order_accesses(block *, bool all);
/** Report threads that wait for ever. */
void barrier_deadlock(block *);

/* ---- collective.c ---------------------------------------------------------------------------- */

typedef enum shuffle_kind {
    SHUFFLE_UP,
    SHUFFLE_DOWN,
    SHUFFLE_XOR,
    SHUFFLE_INDEX,
} shuffle_kind;
typedef enum vote_kind {
    VOTE_BALLOT,
    VOTE_ALL,
    VOTE_ANY,
    VOTE_UNIFORM,
} vote_kind;
/** A lane calls with a mask that does not name it. */
void report_left_out(warp *, const op *, uint32_t lane, uint32_t members);
handler run_shuffle, run_elect, run_vote, run_match, run_redux, run_active_mask;

/* ---- mbarrier.c: barriers that are objects in shared memory ---------------------------------- */

typedef enum mbarrier_kind {
    MBARRIER_ARRIVE,
    MBARRIER_DROP,
    MBARRIER_COPIES, /**< arrive when the lane's copies are there */
    MBARRIER_TEST,
    MBARRIER_PARITY,
    MBARRIER_INVAL,
    MBARRIER_EXPECT,        /**< bytes */
    MBARRIER_ARRIVE_EXPECT, /**< and arrive once */
    MBARRIER_DROP_EXPECT,   /**< and arrive and drop once */
    MBARRIER_COMPLETE,      /**< bytes, as a copy would */
} mbarrier_kind;
handler run_mbarrier_init, run_mbarrier, run_mbarrier_count;
/** The warp has issued a copy of so many bytes, for the mbarrier at that offset of that block. */
void mbarrier_coming(const warp *, block *, uint32_t offset, uint32_t bytes);
/** They are there; may end its phase. */
void mbarrier_bytes(block *, uint32_t offset, uint32_t bytes, uint32_t line);
uint64_t mbarrier_phase(const block *, uint32_t offset);

/* ---- various.c, float.c ---------------------------------------------------------------------- */

handler run_pack, run_unpack, run_clock, run_local_address, run_is_space, run_param_load,
    run_param_store, run_trap, run_unsupported, run_rounded;

/* ---- syscall.c: functions that the device provides; libm.c: those that the host's libm does -- */

handler *syscall_find(const char *name);
handler *libm_find(const char *name, const call *);

#endif
