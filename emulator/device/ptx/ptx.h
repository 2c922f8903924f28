/*
 * ptx.h: PTX as syntax: what parse.c makes of the text and decode.c turns into operations.
 *
 * Interface
 *   ptx_parse, ptx_free
 *
 * Everything hangs in one arena: no part is freed alone. Registers are already numbered and their
 * scopes resolved; all other names are still names.
 */
#ifndef SOFTGPU_DEVICE_PTX_H
#define SOFTGPU_DEVICE_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/base/op.h"

typedef enum ptx_kind {
    PTX_REGISTER, /* reg; negated for !%p */
    PTX_NUMBER,   /* number; floating: the bits of a double */
    PTX_SYMBOL,   /* name + number: a variable, a label, a function, a special register */
    PTX_MEMORY,   /* [item + number] */
    PTX_LIST,     /* {a, b} or (a, b) */
    PTX_PAIR,     /* a|b */
    PTX_SINK,     /* _ */
} ptx_kind;

typedef struct ptx_operand ptx_operand;
struct ptx_operand {
    ptx_kind kind;
    bool negated, floating;
    uint32_t reg;
    uint32_t local; /**< symbols: 1 + the number of the body's variable; 0: none of the body */
    const char *name;
    uint64_t number;
    uint32_t items;
    ptx_operand *item;
};

typedef struct ptx_statement {
    const char *label;  /**< a label, or NULL */
    const char *opcode; /**< with all its modifiers; NULL for a label */
    bool guarded;
    ptx_operand guard;
    uint32_t operands;
    ptx_operand operand[MAX_OPERANDS];
    uint32_t place; /**< index into the module's places */
} ptx_statement;

/** One element of an initialiser: a number, or the address of a symbol plus a number. */
typedef struct ptx_item {
    const char *symbol;
    uint64_t number;
    uint64_t mask; /**< 0, or the bytes of the address to take: 0xff00(symbol) */
} ptx_item;

typedef struct ptx_variable {
    const char *name;
    space space;
    uint32_t element; /**< bytes */
    uint32_t alignment;
    uint64_t bytes;
    bool external;
    uint32_t items;
    ptx_item *item;
    bool hidden;     /**< of a body: its scope has ended */
    uint32_t offset; /**< of a .local or .param of a body, in that body's space */
} ptx_variable;

typedef struct ptx_label_list {
    const char *name; /**< of the .branchtargets */
    uint32_t labels;
    const char **label;
} ptx_label_list;

typedef struct ptx_function {
    const char *name;
    bool kernel, defined;
    uint32_t params, results;
    ptx_variable *param, *result;
    uint32_t registers;
    uint8_t *width; /**< of each register: 2, 4, 8, or 0 for a predicate */
    uint32_t variables;
    ptx_variable *variable; /**< .local and .param of the body */
    uint32_t statements;
    ptx_statement *statement;
    uint32_t lists;
    ptx_label_list *list;
    uint32_t max_threads;               /**< 0: not said */
    uint32_t min_blocks, max_registers; /**< .minnctapersm, .maxnreg; likewise */
    uint32_t cluster[3];                /**< blocks; 0: not said */
    uint32_t param_bytes;               /**< parameter space of the body's calls */
    uint32_t local_bytes;
} ptx_function;

typedef struct ptx_place {
    uint32_t file, line, column;
    int outer; /**< the place that this one was inlined at, or -1 */
} ptx_place;

typedef struct ptx_file {
    uint32_t number;
    const char *name;
} ptx_file;

typedef struct ptx_module {
    void *arena;
    uint32_t functions, variables, files, places;
    ptx_function *function;
    ptx_variable *variable; /**< .global, .const and .shared, those of bodies too */
    ptx_file *file;
    ptx_place *place; /**< place 0 is "unknown" */
    char error[256];
} ptx_module;

/** @return NULL when memory is short; otherwise a module whose `error` is "" on success. */
ptx_module *ptx_parse(const char *text, size_t bytes);
void ptx_free(ptx_module *);

#endif
