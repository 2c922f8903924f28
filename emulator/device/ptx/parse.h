/*
 * parse.h: what the files of the parser share.
 *
 * Interface
 *   lex_...                              lex.c: tokens
 *   parse_operand, parse_registers, ...  parse_operand.c: registers in scope, operands
 *   parse_variable, parse_loc, ...       parse_data.c: variables, source places
 *
 * The first error leaves through parser.failed; nothing needs to be cleaned up.
 */
#ifndef SOFTGPU_DEVICE_PARSE_H
#define SOFTGPU_DEVICE_PARSE_H

#include <setjmp.h>

#include "device/base/arena.h"
#include "ptx.h"

enum { MAX_SCOPES = 64, MAX_NESTING = 16 };

typedef enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_MARK
} token_kind;

typedef struct token {
    token_kind kind;
    const char *text;
    size_t length;
} token;

/* A declaration `.reg .b32 %r<9>` (count 9) or `.reg .b32 x` (count 0), while it is in scope. */
typedef struct reg_range {
    const char *name;
    size_t length;
    uint32_t count, first;
} reg_range;

typedef struct parser {
    const char *at, *end;
    token now;
    arena *arena;
    ptx_module *module;
    ptx_function *function; /* whose body is being read */
    uint32_t place, first_place;
    reg_range *ranges;
    uint32_t range_count;
    uint32_t scope_ranges[MAX_SCOPES], scope_params[MAX_SCOPES], scope_variables[MAX_SCOPES];
    uint32_t scope_statements[MAX_SCOPES];
    uint32_t depth, nesting;
    uint32_t param_bytes;
    uint32_t line; /* of the PTX text */
    jmp_buf failed;
} parser;

/* lex.c */
_Noreturn void lex_fail(parser *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lex_next(parser *);
bool lex_is(const parser *, const char *text);
bool lex_begins(const parser *, const char *text);
bool lex_accept(parser *, const char *text);
void lex_expect(parser *, const char *text);
const char *lex_word(parser *);
void lex_skip_line(parser *);
/** Past the next `mark`. */
void lex_skip_until(parser *, const char *mark);
/** The bits of a number; *floating: those of a double, to be fitted when used. */
uint64_t lex_number(parser *, bool *floating);
uint64_t lex_integer(parser *);
uint32_t lex_small_integer(parser *);

/* parse_operand.c */
int type_bytes(const char *text, size_t length);
void parse_registers(parser *);
ptx_operand parse_name(parser *);
ptx_operand parse_operand(parser *);

/* parse_data.c */
bool space_of(const parser *, space *);
ptx_variable parse_declarator(parser *, space);
void parse_variable(parser *, space, bool external);
void parse_loc(parser *);
void parse_file(parser *);

#endif
