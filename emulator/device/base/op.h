/*
 * op.h: an operation: what the decoder makes of a statement of PTX, and what the warp runs.
 *
 * Interface
 *   op, operand, handler          one handler per operation, 32 lanes a call
 *   call, jump_table, watch       what some operations point to
 *
 * A row is the value of one register in the 32 lanes of a warp: 32 elements of 2, 4 or 8 bytes. A
 * predicate is one 32-bit mask, a bit a lane.
 */
#ifndef SOFTGPU_DEVICE_OP_H
#define SOFTGPU_DEVICE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "device/device.h"

enum {
    LANES = 32,
    ALL_LANES = -1, /* as a lane mask: every bit */
    MAX_THREADS = 1024,
    MAX_WARPS = MAX_THREADS / LANES,
    MAX_SHARED = 227 * 1024, /* bytes a block may have */
    MAX_BARRIERS = 16,
    MAX_OPERANDS = 8,
    MAX_FORMALS = 64,
    MAX_PARAMS = 32764, /* bytes of a kernel's parameters */
    MAX_WORKERS = 64,
    ROW_ALIGNMENT = 64,
    MAX_SUMS = 256, /* elements of a matrix product, and of one of its factors */
    MAX_FACTORS = 4096,
    MAX_WGMMA_ROWS = 136,  /* registers of its sums and of A */
    STRIDES = 8,           /* stride classes of addresses that a warp notes */
    PAGE_WORDS = 16,       /* words of shared memory that are known to be quiet together */
    SHARED_RED_ZONE = 128, /* unowned bytes behind each shared variable */
    CALL_STACK = 1 << 16,  /* bytes of local memory, a thread, for the frames of called functions */
    CALL_ROWS = 1 << 21,   /* bytes of registers, a warp, for the frames of called functions */
};

/* Generic addresses of what is not global memory. Nothing else lives in these ranges. */
#define WINDOW_BYTES    UINT64_C(0x10000000000)
#define SHARED_WINDOW   UINT64_C(0x400000000000)
#define LOCAL_WINDOW    (SHARED_WINDOW + WINDOW_BYTES)
#define PARAM_WINDOW    (LOCAL_WINDOW + WINDOW_BYTES)
#define FUNCTION_WINDOW (PARAM_WINDOW + WINDOW_BYTES)    /* function i lies at 16 * (i + 1) */
#define GRID_WINDOW     (FUNCTION_WINDOW + WINDOW_BYTES) /* memory/meeting.c: where blocks meet */

typedef enum space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
} space;

/** How an access takes part in races. Two atomic ones make none; two volatile ones make none when
 *  different warps do them, but do not order the lanes of one warp. */
typedef enum strength {
    STRENGTH_PLAIN,
    STRENGTH_VOLATILE,
    STRENGTH_ATOMIC,
} strength;

typedef struct op op;
typedef struct warp warp;
typedef struct block block;
typedef struct cluster cluster;
typedef struct visits visits; /* checks/visit.c */
typedef struct tensor tensor; /* tensor.h */
typedef struct launch launch;
typedef struct module module;
typedef struct function function;
typedef struct instruction instruction;     /* count.h */
typedef struct counters counters;           /* count.h */
typedef struct counting counting;           /* count.h */
typedef struct counted counted;             /* count.h */
typedef struct trace trace;                 /* trace.h */
typedef struct tracker tracker;             /* global_shadow.c */
typedef struct global_shadow global_shadow; /* global_shadow.c */
typedef struct work_order work_order;       /* order.c */

/** Where a row lies: a bank in the two top bits, a byte offset in the rest. */
typedef uint32_t operand;

typedef enum bank {
    BANK_REGISTERS, /* of the frame that runs */
    BANK_CONSTANTS, /* of the module: immediates and addresses, each as a full row */
    BANK_BLOCK,     /* special registers that are equal in a whole block */
    BANK_WARP,      /* special registers of one warp */
    BANKS,
} bank;

#define OPERAND(bank, offset) ((operand)(bank) << 30 | (operand)(offset))

/** Executes `o` in the active lanes. @return the operation to go on with, NULL to leave the group.
 */
typedef const op *handler(warp *, const op *o);

struct op {
    handler *run;
    handler *inner; /**< what a wrapping handler (rounding) runs */
    operand d;      /**< destination; component 0 of a vector */
    operand v[3];   /**< components 1..3 of a vector; v[0] is a second destination */
    operand a, b, c, e;
    operand guard; /**< a predicate, or 0: unconditional */
    bool guard_negated;
    uint8_t size;   /**< memory: bytes of one component */
    uint8_t count;  /**< memory: components */
    uint8_t space;  /**< memory: a `space` */
    uint8_t narrow; /**< memory: the address operand has 32 bits */
    uint8_t width;  /**< memory: bytes of an element of the row */
    bool is_load, is_atomic;
    bool is_copy;      /**< asynchronous, to shared memory */
    bool read_only;    /**< load: by a cache that does not see what the kernel writes */
    bool is_call;      /**< extra is a `call` */
    bool in_block;     /**< atomic for the threads of the block only */
    bool in_system;    /**< atomic, or a fence, for other devices too */
    bool uniform;      /**< store: of the same value, whichever thread executes it */
    uint8_t strength;  /**< memory: a `strength` */
    uint8_t used;      /**< load: bit set of the components that something reads */
    uint8_t stride;    /**< load of words: where the warp notes how the addresses lie */
    bool stride_known; /**< an earlier load has noted it */
    bool stride_kept;  /**< the same, if the warp still has the note */
    bool stride_ends;  /**< even so, the ends of the warp must be looked at: they may wrap around */
    bool chained; /**< fused loads: so are the next three operations, which add to the same sum */
    bool closes; /**< branch: back to the start of a loop, notes hold; target: see stride_class.c */
    uint8_t variant; /**< meaning depends on the handler; memory: 'f', 's', 'u', 'b', the type */
    uint32_t line;   /**< index into the module's places */
    uint32_t instruction; /**< counting operation: index into the module's instructions */
    int64_t offset;       /**< memory: displacement; otherwise the handler's own immediate */
    const op *target;     /**< branch */
    const op *meet;       /**< branch: where its lanes meet again; NULL: nowhere */
    const void *extra;    /**< a struct call, a jump table or a row mover */
};

/** What a call needs to know beside the callee's header. Operands are rows of the caller's frame,
 *  one a word of the parameter. */
typedef struct call {
    function *callee; /**< NULL when the address of the callee is in op.a */
    uint32_t arguments;
    operand argument[MAX_FORMALS];
    uint32_t argument_words[MAX_FORMALS];
    bool has_result;
    operand result;
    uint32_t result_words;
} call;

typedef struct jump_table {
    uint32_t count;
    const op *target[];
} jump_table;

/** Where an address may come from: bit i, the 8 bytes at 8 * i of the kernel's parameters. */
#define ORIGIN_PARAMS   62                  /* bits */
#define ORIGIN_VARIABLE (UINT64_C(1) << 62) /* a variable of the module */
#define ORIGIN_UNKNOWN  (UINT64_C(1) << 63)

/** An operation that may access global memory; op.inner is its own handler. */
typedef struct watch {
    op *op;
    handler *run; /**< of the operation when it is not watched, maybe fused with others */
    uint64_t origin;
    uint32_t reports; /**< races named in this launch */
} watch;

#endif
