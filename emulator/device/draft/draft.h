/*
 * draft.h: a function in the making: its decoder, and drafts of operations.
 *
 * Interface, all of it in operand.c
 *   has_part, last_part         the opcode's parts
 *   start, set_..., push        one draft after the other
 *   next_use                    the registers of a draft
 *
 * Until decode/registers.c replaces it by the offset of a row, an operand in BANK_REGISTERS that is
 * named by op.reads or op.writes holds the number of a register.
 */
#ifndef SOFTGPU_DEVICE_DRAFT_H
#define SOFTGPU_DEVICE_DRAFT_H

#include "device/base/arena.h"
#include "device/ops/ops.h"
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

enum { MORE = 192 }; /* operands beyond the fields, at most */

/** An operation in the making. start() begins one, set_...() fill it, push() appends it. */
typedef struct draft {
    op op;
    uint16_t reads, writes;           /**< bit sets of fields that hold register numbers */
    operand *more;                    /**< operands beyond the fields, in what op.extra points to */
    uint32_t more_count;
    uint64_t more_reads[MORE / 64], more_writes[MORE / 64]; /**< likewise */
    int target;        /**< branch: the draft it goes to, -1 before flow.c finds the label */
    const char *label; /**< leader: its name; branch: its target's */
    const ptx_label_list *list;
    bool leader;     /**< a place where lanes may meet */
    bool accesses;   /**< memory, at the address and of the size that its fields say */
    uint64_t origin; /**< of its address: see analysis/provenance.c; 0: none in global memory */
} draft;

/** A place of a draft that holds the number of a register. */
typedef struct use {
    operand *where;
    bool reads, writes;
} use;

typedef struct decoder decoder;

/** Decodes one statement; false when it is beyond the device. */
typedef bool decode_special(decoder *);

/** What is known of the statements that begin with a word: see statement/opcode.c. */
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

bool has_part(const decoder *, const char *part);
const char *last_part(const decoder *);

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

#endif
