/*
 * decode.h: what the files that turn syntax into operations share.
 *
 * Interface
 *   decode_header, decode_body          for module.c
 *   start, set_..., push                operand.c, for decode_value.c, decode_memory.c and
 *                                       decode_control.c
 *
 * While a function is decoded an operand in BANK_REGISTERS that is named by op.reads or op.writes
 * holds the number of a register; registers.c replaces it by the offset of a row.
 */
#ifndef SOFTGPU_DEVICE_DECODE_H
#define SOFTGPU_DEVICE_DECODE_H

#include "device/base/arena.h"
#include "device/counts/count.h"
#include "device/ops/matrix.h"
#include "device/ptx/ptx.h"

/** The fields of op that hold operands, in the order of op.d ... op.guard. */
typedef enum field {
    FIELD_D,
    FIELD_V0,
    FIELD_V1,
    FIELD_V2,
    FIELD_A,
    FIELD_B,
    FIELD_C,
    FIELD_E,
    FIELD_GUARD,
    FIELDS,
} field;

/** An operation in the making. start() begins one, set_...() fill it, push() appends it. */
typedef struct draft {
    op op;
    uint16_t reads, writes;           /**< bit sets of fields that hold register numbers */
    operand *more;                    /**< operands beyond the fields, in what op.extra points to */
    uint64_t more_reads, more_writes; /**< bit sets of those that hold register numbers */
    int target;        /**< branch: the draft it goes to, -1 before flow.c finds the label */
    const char *label; /**< leader: its name; branch: its target's */
    const ptx_label_list *list;
    bool leader;     /**< a place where lanes may meet */
    bool accesses;   /**< memory, at the address and of the size that its fields say */
    uint64_t origin; /**< of its address: see provenance.c; 0: none in global memory */
} draft;

/** A place of a draft that holds the number of a register. */
typedef struct use {
    operand *where;
    bool reads, writes;
} use;

typedef struct decoder decoder;

/** Decodes one statement; false when it is beyond the device. */
typedef bool decode_special(decoder *);

/** What is known of the statements that begin with a word: see opcode.c. */
typedef struct opcode {
    decode_special *decode;
    uint8_t class;       /**< a device_class, or one of these: */
    uint32_t operations; /**< floating-point, a lane; of a packed pair it has twice as many */
    const char *word;
} opcode;
enum { CLASS_OF_TYPE = CLASSES, CLASS_OF_WMMA };

struct decoder {
    module *module;
    const ptx_module *syntax;
    const ptx_function *from;
    function *to;
    arena *arena;
    const ptx_statement *now;
    const opcode *opcode; /**< of `now` */
    uint32_t registers;
    uint8_t *width; /**< of each register */
    draft *drafts;
    uint32_t count;
    uint32_t carry;       /**< the register that holds the carry flag; 0: none yet */
    const char *part[16]; /**< the opcode, cut at its dots */
    uint32_t parts;
    char name[96]; /**< the opcode without ignorable modifiers */
    int rounding;  /**< what run_rounded wants; 0: to nearest */
    bool saturate;
    bool counted; /**< an instrumented copy is made: every statement is preceded by a counting
                     operation */
    struct {
        uint32_t from, to;
        bool is_signed;
    } widening[MAX_OPERANDS]; /**< narrow results to be widened behind the operation */
    uint32_t widenings;
};

/** Decode a body into `f`, made by decode_header. False when labels do not resolve. */
bool decode_body(function *f, const ptx_module *, const ptx_function *, bool counted);
/** The frame's layout, known before any body is decoded. */
function *decode_header(module *, const ptx_function *);

draft start(decoder *, handler *);
/** Append it, and what its narrow results need behind it. */
void push(decoder *, draft *);
void append(decoder *, const draft *);
void set_read(decoder *, draft *, field, const ptx_operand *, uint8_t width);
void set_write(decoder *, draft *, field, const ptx_operand *, uint8_t width, bool is_signed);
void set_register(draft *, field, uint32_t reg, bool write);
/** The next use of a register at or after *i, which starts at 0. @return false: no more. */
bool next_use(draft *, uint32_t *i, use *);
void set_constant(decoder *, draft *, field, uint64_t value, uint8_t width);
/** Append an operation that computes d from a by the rule of that name. */
void push_rule(decoder *, const char *rule, uint32_t d, uint32_t a);
uint32_t new_register(decoder *, uint8_t width);
bool has_part(const decoder *, const char *part);
const char *last_part(const decoder *);
/** A row whose elements are all `value`. */
operand constant_row(module *, uint64_t value, uint8_t width);
variable *find_variable(const module *, const char *name);
/** The body's variable of that space that a symbol names, or NULL. */
const ptx_variable *find_local(const decoder *, const ptx_operand *symbol, space);
/** The constant address that a symbol stands for; false: none, or it depends on the frame. */
bool symbol_address(const decoder *, const ptx_operand *, uint64_t *address);
/** Bytes of the type "f32"; 0 for pred, -1 when it is none. */
int type_size(const char *type);
/** Width of the registers that hold values of `bytes`. */
uint8_t register_width(int bytes);

/** NULL: beyond the device. */
const opcode *opcode_find(const char *word);
/** Of the statement that is decoded now. */
device_class opcode_class(const decoder *);
uint32_t opcode_operations(const decoder *);

/** The state space that the opcode names. */
space space_named(const decoder *);
/** The address operand goes to field A, its displacement to op.offset. */
bool set_address(decoder *, draft *, const ptx_operand *memory);

decode_special decode_plain, decode_move, decode_setp, decode_set, decode_cvt, decode_carry,
    decode_slct; /* decode_value.c */
decode_special decode_load, decode_store, decode_atomic, decode_cvta, decode_isspacep,
    decode_call; /* decode_memory.c */
decode_special decode_branch, decode_jump_table, decode_return, decode_exit, decode_barrier,
    decode_warp_sync, decode_fence, decode_shuffle, decode_vote, decode_match, decode_redux,
    decode_active_mask, decode_trap, decode_nothing;                       /* decode_control.c */
decode_special decode_copy_async, decode_mbarrier, decode_policy;          /* decode_async.c */
decode_special decode_texture;                                             /* decode_texture.c */
decode_special decode_wmma, decode_mma, decode_ldmatrix, decode_movmatrix; /* decode_matrix.c */

void add_count(decoder *, uint32_t first); /* instruction.c: for the drafts from `first` on */
void settle_counts(decoder *);             /* instruction.c */
void mark_cas_loops(decoder *);            /* cas_loop.c */
void mark_origins(decoder *);              /* provenance.c */
void mark_uniform(decoder *);              /* uniform.c */
void mark_stride_classes(decoder *);       /* stride_class.c */
void gather_loads(decoder *);              /* gather.c */
void fuse_loads(decoder *);                /* fused.c */
uint32_t *count_reads(decoder *);          /* fused.c: how often, by register */
void assign_registers(decoder *);          /* registers.c */
void flow_turn(decoder *);                 /* flow.c */
bool flow_finish(decoder *);               /* flow.c */

#endif
