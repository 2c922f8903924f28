/*
 * module.h: a loaded module: its variables, its functions, and where in the source their operations
 * come from.
 *
 * Interface
 *   module_file, module_outer_file     where a line is
 *   module_owner                       whose memory an address is
 *   module_keep                        memory that lives as long
 *   plain_name                         the identifier in a mangled name
 */
#ifndef SOFTGPU_DEVICE_MODULE_H
#define SOFTGPU_DEVICE_MODULE_H

#include "op.h"

/** A source position. `file` indexes the module's files. */
typedef struct place {
    uint32_t file, line;
    uint32_t outer; /**< the place of the call that was inlined here; 0: none */
} place;

/** A row of BANK_CONSTANTS. */
typedef struct constant {
    uint32_t offset;
    uint8_t width;
} constant;

typedef struct variable {
    char *name;
    space space;
    uint64_t bytes;
    uint32_t alignment;
    device_address address; /**< shared: an offset */
    bool external;          /**< dynamic shared memory */
    bool placed, kept;      /**< lies in shared memory; and has its value already */
} variable;

struct function {
    char *name;
    char plain_name[128]; /**< as in the source */
    module *module;
    bool kernel;
    op *code;
    uint32_t ops;
    op *last;                /**< the one `ret` at the end */
    uint32_t register_bytes; /**< of a frame */
    uint32_t formals; /**< parameters of a device function, and where they lie in the frame */
    uint32_t formal[MAX_FORMALS], formal_words[MAX_FORMALS];
    uint32_t
        formal_home[MAX_FORMALS]; /**< 1 + where one lies in local memory whose address is taken */
    uint32_t result_offset, result_words;
    uint32_t call_params; /**< offset in the frame of the parameters of its calls */
    uint32_t local_bytes;
    bool calls;        /**< calls device functions */
    bool asks_grid;    /**< asks whether the launch is cooperative */
    bool asks_cluster; /**< does what only a block of a cluster can, be it the only one */
    watch *watches;
    uint32_t watch_count;
    bool *shared_used;      /**< by variable of the module; callees not included */
    char *unsupported_text; /**< the first opcode that the device lacks, or NULL */
    uint32_t unsupported_line;
    device_function_facts facts;
    function **callee;
    uint32_t callees;
    function *instrumented; /**< for launches that are counted; NULL: not made yet */
    uint32_t first_instruction, instructions; /**< of an instrumented copy */
    const function *lacking; /**< kernels: the function with the opcode that the device lacks */
    bool visited;
};

struct module {
    device *device;
    uint64_t version; /**< unlike that of any other module ever loaded */
    variable *variables;
    uint32_t variable_count;
    function **functions;
    uint32_t function_count;
    char **files;
    uint32_t file_count;
    place *places;
    uint32_t place_count;
    constant *constant; /**< what rows there are */
    uint32_t constant_count;
    uint8_t *constants; /**< the rows */
    size_t constant_bytes, constant_capacity;
    uint32_t shared_bytes; /**< of all static shared variables with their red zones */
    void **kept;           /**< what op.extra points to: calls and matrices */
    uint32_t kept_count;
    char *text; /**< the PTX, for instrumented copies */
    size_t text_bytes;
    bool is_instrumented;
    instruction *instructions;
    uint32_t instruction_count;
};

/** The file and line of a place; "" for no file. */
const char *module_file(const module *, uint32_t line, uint32_t *number);
/** The same for the place where that line was inlined; "" when it was not. */
const char *module_outer_file(const module *, uint32_t line, uint32_t *number);
/** The module's variable at that address, or NULL. */
const variable *module_owner(const device *, device_address);
/** Zeroed memory that lives as long as the module. */
void *module_keep(module *, size_t bytes);

/** _Z4vaddPKfS0_Pfi is vadd. */
void plain_name(const char *mangled, char *text, size_t room);

#endif
