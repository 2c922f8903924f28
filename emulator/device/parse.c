/*
 * parse.c: PTX text to syntax (ptx.h). A recursive descent over tokens; the first error ends it.
 *
 * Interface
 *   ptx_parse, ptx_free
 *
 * Trusts nothing in the text: a malformed module gives an error, never a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
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
    uint32_t depth, nesting;
    uint32_t param_bytes;
    uint32_t line; /* of the PTX text */
    jmp_buf failed;
} parser;

static _Noreturn void error(parser *p, const char *format, ...)
{
    char what[160];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    snprintf(p->module->error, sizeof p->module->error, "PTX line %u: %s", p->line, what);
    longjmp(p->failed, 1);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool starts_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("_$%.", c);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(parser *p)
{
    for (; p->at < p->end; p->at++) {
        if (*p->at == '\n') {
            p->line++;
        } else if (*p->at == '/' && p->at[1] == '/') {
            while (p->at + 1 < p->end && p->at[1] != '\n') p->at++;
        } else if (*p->at == '/' && p->at[1] == '*') {
            while (p->at + 2 < p->end && !(p->at[1] == '*' && p->at[2] == '/')) p->at++;
            p->at += 2;
        } else if (*p->at == 0 || !strchr(" \t\r", *p->at)) {
            return;
        }
    }
}

/* A word runs on through dots and double colons: an opcode with all its modifiers is one word. A
 * directive ends at the next dot: .reg.b32 are two. */
static const char *word_end(const char *c)
{
    bool directive = *c == '.';
    for (c += directive; *c; c += c[0] == ':' ? 2 : 1) {
        bool more = starts_word(*c) || is_digit(*c) || (c[0] == ':' && c[1] == ':');
        if (!more || (directive && *c == '.')) break;
    }
    return c;
}

static void next(parser *p)
{
    skip_blanks(p);
    const char *start = p->at;
    token_kind kind = TOKEN_MARK;
    if (start >= p->end || *start == 0) {
        p->now = (token){TOKEN_END, "the end", 7};
        return;
    }
    if (starts_word(*start)) {
        kind = TOKEN_WORD;
        p->at = word_end(start);
    } else if (is_digit(*start)) {
        kind = TOKEN_NUMBER;
        p->at = word_end(start);
    } else if (*start == '"') {
        kind = TOKEN_STRING;
        for (p->at++; p->at < p->end && *p->at != '"'; p->at++) p->at += *p->at == '\\';
        if (p->at >= p->end) error(p, "a string without an end");
        p->at++;
    } else {
        p->at++;
    }
    p->now = (token){kind, start, (size_t)(p->at - start)};
}

static bool is(const parser *p, const char *text)
{
    return p->now.kind != TOKEN_STRING && p->now.length == strlen(text) &&
           !memcmp(p->now.text, text, p->now.length);
}

static bool begins(const parser *p, const char *text)
{
    return p->now.length >= strlen(text) && !memcmp(p->now.text, text, strlen(text));
}

static bool accept(parser *p, const char *text)
{
    if (!is(p, text)) return false;
    next(p);
    return true;
}

static void expect(parser *p, const char *text)
{
    if (!accept(p, text)) {
        error(p, "'%s' expected, not '%.*s'", text, (int)p->now.length, p->now.text);
    }
}

static const char *word(parser *p)
{
    if (p->now.kind != TOKEN_WORD) {
        error(p, "a name expected, not '%.*s'", (int)p->now.length, p->now.text);
    }
    const char *text = arena_text(p->arena, p->now.text, p->now.length);
    next(p);
    return text;
}

static void skip_line(parser *p)
{
    while (p->at < p->end && *p->at != '\n') p->at++;
    next(p);
}

static void skip_until(parser *p, const char *mark)
{
    while (!is(p, mark)) {
        if (p->now.kind == TOKEN_END) error(p, "'%s' expected before the end", mark);
        next(p);
    }
    next(p);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* 0f3F800000 and 0d... give the bits as they are; 1.5 gives a double, to be fitted when used. */
static uint64_t number(parser *p, bool *floating)
{
    bool negative = accept(p, "-");
    if (p->now.kind != TOKEN_NUMBER) error(p, "a number expected");
    char text[64];
    size_t length = p->now.length < sizeof text - 1 ? p->now.length : sizeof text - 1;
    memcpy(text, p->now.text, length);
    text[length] = 0;
    next(p);
    *floating = false;
    if (text[0] == '0' && text[1] && strchr("fFdD", text[1])) {
        uint64_t bits = strtoull(text + 2, NULL, 16);
        uint64_t sign = strchr("fF", text[1]) ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
        return negative ? bits ^ sign : bits;
    }
    if (strchr(text, '.')) {
        *floating = true;
        double value = strtod(text, NULL);
        return bits_of(negative ? -value : value);
    }
    bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    uint64_t value = strtoull(binary ? text + 2 : text, NULL, binary ? 2 : 0);
    return negative ? -value : value;
}

static uint64_t integer(parser *p)
{
    bool floating;
    return number(p, &floating);
}

static uint32_t small_integer(parser *p)
{
    uint64_t value = integer(p);
    if (value > UINT32_MAX / 2) error(p, "a number out of range");
    return (uint32_t)value;
}

/* ---- registers and types --------------------------------------------------------------------- */

/** Bytes of a type such as ".f32"; 0 for a predicate, -1 when it is no type. */
static int type_bytes(const char *text, size_t length)
{
    if (length == 5 && !memcmp(text, ".pred", 5)) return 0;
    if (length < 3 || text[0] != '.' || !strchr("bsuf", text[1])) return -1;
    if (length > 6 && !memcmp(text + length - 2, "x2", 2)) return 4;
    int bits = atoi(text + 2);
    return bits >= 8 && bits <= 128 && !(bits & (bits - 1)) ? bits / 8 : -1;
}

static const char *split_number(const char *name, size_t length, size_t *prefix, uint32_t *tail)
{
    size_t digits = 0;
    while (digits < length && digits < 9 && is_digit(name[length - digits - 1])) digits++;
    *prefix = length - digits;
    *tail = (uint32_t)strtoul(name + *prefix, NULL, 10);
    return digits ? name : NULL;
}

static bool find_register(const parser *p, const char *name, size_t length, uint32_t *reg)
{
    size_t prefix;
    uint32_t tail;
    bool numbered = split_number(name, length, &prefix, &tail);
    for (uint32_t i = p->range_count; i-- > 0;) {
        const reg_range *r = &p->ranges[i];
        if (!r->count && r->length == length && !memcmp(r->name, name, length)) {
            *reg = r->first;
            return true;
        }
        if (numbered && tail < r->count && r->length == prefix && !memcmp(r->name, name, prefix)) {
            *reg = r->first + tail;
            return true;
        }
    }
    return false;
}

static void declare_registers(parser *p, uint8_t width)
{
    ptx_function *f = p->function;
    reg_range r = {.name = p->now.text, .length = p->now.length, .first = f->registers};
    word(p);
    if (accept(p, "<")) {
        r.count = small_integer(p);
        if (r.count > 1 << 20) error(p, "too many registers");
        expect(p, ">");
    }
    uint32_t count = r.count ? r.count : 1;
    for (uint32_t i = 0; i < count; i++) {
        f->width = arena_grow(p->arena, f->width, f->registers, 1);
        f->width[f->registers++] = width;
    }
    p->ranges = arena_grow(p->arena, p->ranges, p->range_count, sizeof *p->ranges);
    p->ranges[p->range_count++] = r;
}

static void parse_registers(parser *p)
{
    int bytes = type_bytes(p->now.text, p->now.length);
    if (bytes < 0 || bytes > 8) error(p, "registers of an unknown type");
    next(p);
    do {
        declare_registers(p, bytes == 1 ? 2 : (uint8_t)bytes);
    } while (accept(p, ","));
    expect(p, ";");
}

/* ---- operands -------------------------------------------------------------------------------- */

static ptx_operand parse_operand(parser *p);

static ptx_operand parse_name(parser *p)
{
    ptx_operand o = {.kind = PTX_SYMBOL};
    if (p->now.length == 1 && *p->now.text == '_') {
        next(p);
        o.kind = PTX_SINK;
        return o;
    }
    if (find_register(p, p->now.text, p->now.length, &o.reg)) o.kind = PTX_REGISTER;
    o.name = word(p);
    return o;
}

static ptx_operand parse_list(parser *p, const char *close)
{
    ptx_operand o = {.kind = PTX_LIST};
    if (++p->nesting > MAX_NESTING) error(p, "lists nested too deeply");
    while (!accept(p, close)) {
        ptx_operand item = parse_operand(p);
        o.item = arena_grow(p->arena, o.item, o.items, sizeof *o.item);
        o.item[o.items++] = item;
        if (!is(p, close)) expect(p, ",");
    }
    p->nesting--;
    return o;
}

static void parse_displacement(parser *p, ptx_operand *o)
{
    if (accept(p, "+"))
        o->number += integer(p);
    else if (is(p, "-"))
        o->number += integer(p);
}

static ptx_operand parse_memory(parser *p)
{
    ptx_operand o = {.kind = PTX_MEMORY, .items = 1};
    o.item = arena_take(p->arena, sizeof *o.item);
    if (p->now.kind == TOKEN_NUMBER)
        o.item[0] = (ptx_operand){.kind = PTX_NUMBER, .number = integer(p)};
    else
        o.item[0] = parse_name(p);
    parse_displacement(p, &o);
    expect(p, "]");
    return o;
}

static ptx_operand parse_plain_operand(parser *p)
{
    if (accept(p, "{")) return parse_list(p, "}");
    if (accept(p, "(")) return parse_list(p, ")");
    if (accept(p, "[")) return parse_memory(p);
    if (accept(p, "!")) {
        ptx_operand o = parse_name(p);
        o.negated = true;
        return o;
    }
    if (p->now.kind == TOKEN_WORD) {
        ptx_operand o = parse_name(p);
        if (o.kind == PTX_SYMBOL) parse_displacement(p, &o);
        return o;
    }
    ptx_operand o = {.kind = PTX_NUMBER};
    o.number = number(p, &o.floating);
    return o;
}

static ptx_operand parse_operand(parser *p)
{
    ptx_operand first = parse_plain_operand(p);
    if (!accept(p, "|")) return first;
    ptx_operand pair = {.kind = PTX_PAIR, .items = 2};
    pair.item = arena_take(p->arena, 2 * sizeof *pair.item);
    pair.item[0] = first;
    pair.item[1] = parse_plain_operand(p);
    return pair;
}

/* ---- variables ------------------------------------------------------------------------------- */

static ptx_item parse_item(parser *p)
{
    ptx_item item = {0};
    if (p->now.kind == TOKEN_NUMBER || is(p, "-")) {
        item.number = integer(p);
        if (!accept(p, "(")) return item;
        item.mask = item.number;
        item.number = 0;
        item.symbol = word(p);
        if (accept(p, "(")) {
            item.symbol = word(p);
            expect(p, ")");
        }
        if (accept(p, "+")) item.number = integer(p);
        expect(p, ")");
        return item;
    }
    item.symbol = word(p);
    if (accept(p, "(")) {
        item.symbol = word(p);
        expect(p, ")");
    }
    if (accept(p, "+") || is(p, "-")) item.number = integer(p);
    return item;
}

static void parse_initialiser(parser *p, ptx_variable *v)
{
    bool list = accept(p, "{");
    do {
        if (list && accept(p, "{")) continue; /* rows of an array of arrays lie flat */
        ptx_item item = parse_item(p);
        while (list && is(p, "}") && p->at < p->end && *p->at == ',') next(p);
        v->item = arena_grow(p->arena, v->item, v->items, sizeof *v->item);
        v->item[v->items++] = item;
    } while (list && accept(p, ","));
    while (list && accept(p, "}")) {
    }
}

/* .align 4 .b8 name[16], with whatever attributes; the state space has been read. */
static ptx_variable parse_declarator(parser *p, space space)
{
    ptx_variable v = {.space = space, .element = 1};
    uint32_t vector = 1;
    for (; p->now.kind == TOKEN_WORD && *p->now.text == '.';) {
        int bytes = type_bytes(p->now.text, p->now.length);
        bool align = is(p, ".align");
        if (bytes > 0)
            v.element = (uint32_t)bytes;
        else if (is(p, ".v2") || is(p, ".v4"))
            vector = (uint32_t)(p->now.text[2] - '0');
        bool attribute = is(p, ".attribute");
        next(p);
        if (align) v.alignment = small_integer(p);
        if (attribute) skip_until(p, ")");
    }
    if (!v.alignment) v.alignment = v.element * vector;
    if (v.alignment & (v.alignment - 1) || v.alignment > 4096) error(p, "a bad alignment");
    v.name = word(p);
    v.bytes = v.element * vector;
    while (accept(p, "[")) {
        if (accept(p, "]")) {
            v.external = true;
            v.bytes = 0;
        } else {
            v.bytes *= integer(p);
            if (v.bytes > UINT64_C(1) << 32) error(p, "'%s' is too large", v.name);
            expect(p, "]");
        }
    }
    return v;
}

static void parse_variable(parser *p, space space, bool external)
{
    ptx_variable v = parse_declarator(p, space);
    if (accept(p, "=")) parse_initialiser(p, &v);
    if (v.external && v.items) v.bytes = v.items * v.element;
    v.external = (v.external && !v.items) || external;
    expect(p, ";");
    ptx_function *f = p->function;
    if (space == SPACE_PARAM) {
        v.offset = p->param_bytes;
        p->param_bytes += (uint32_t)(v.bytes + 15) & ~15u;
        if (p->param_bytes > f->param_bytes) f->param_bytes = p->param_bytes;
    }
    if (space == SPACE_LOCAL) {
        uint32_t alignment = v.alignment > 16 ? v.alignment : 16;
        v.offset = (f->local_bytes + alignment - 1) & ~(alignment - 1);
        f->local_bytes = v.offset + ((uint32_t)(v.bytes + 15) & ~15u);
    }
    if (space == SPACE_PARAM || space == SPACE_LOCAL) {
        f->variable = arena_grow(p->arena, f->variable, f->variables, sizeof v);
        f->variable[f->variables++] = v;
        return;
    }
    ptx_module *m = p->module;
    m->variable = arena_grow(p->arena, m->variable, m->variables, sizeof v);
    m->variable[m->variables++] = v;
}

static bool space_of(const parser *p, space *space)
{
    static const struct {
        const char *text;
        int space;
    } names[] = {{".global", SPACE_GLOBAL},
                 {".shared", SPACE_SHARED},
                 {".const", SPACE_CONST},
                 {".local", SPACE_LOCAL},
                 {".param", SPACE_PARAM}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!is(p, names[i].text)) continue;
        *space = names[i].space;
        return true;
    }
    return false;
}

/* ---- source places --------------------------------------------------------------------------- */

static int find_place(const parser *p, const ptx_place *like)
{
    for (uint32_t i = p->module->places; i-- > p->first_place;) {
        const ptx_place *q = &p->module->place[i];
        if (q->file == like->file && q->line == like->line && q->column == like->column) {
            return (int)i;
        }
    }
    return -1;
}

/* .loc 2 898 13, function_name $L__info_string0, inlined_at 1 21 3 */
static void parse_loc(parser *p)
{
    const char *line_end = memchr(p->at, '\n', (size_t)(p->end - p->at));
    char text[512];
    snprintf(text, sizeof text, "%.*s", (int)((line_end ? line_end : p->end) - p->at), p->at);
    ptx_place place = {.outer = -1}, outer;
    int fields = sscanf(text, "%u %u %u", &place.file, &place.line, &place.column);
    const char *inlined = strstr(text, "inlined_at");
    if (inlined && sscanf(inlined + 10, "%u %u %u", &outer.file, &outer.line, &outer.column) == 3) {
        place.outer = find_place(p, &outer);
    }
    skip_line(p);
    if (fields < 2 || place.line == 0)
        return; /* line 0: the compiler does not know; keep the last */
    ptx_module *m = p->module;
    m->place = arena_grow(p->arena, m->place, m->places, sizeof place);
    p->place = m->places;
    m->place[m->places++] = place;
}

static void parse_file(parser *p)
{
    ptx_file file = {.number = small_integer(p)};
    if (p->now.kind != TOKEN_STRING) error(p, "a file name expected");
    file.name = arena_text(p->arena, p->now.text + 1, p->now.length - 2);
    next(p);
    while (accept(p, ",")) integer(p);
    ptx_module *m = p->module;
    m->file = arena_grow(p->arena, m->file, m->files, sizeof file);
    m->file[m->files++] = file;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static ptx_statement *new_statement(parser *p)
{
    ptx_function *f = p->function;
    f->statement = arena_grow(p->arena, f->statement, f->statements, sizeof *f->statement);
    ptx_statement *s = &f->statement[f->statements++];
    *s = (ptx_statement){.place = p->place};
    return s;
}

static void parse_label_list(parser *p, const char *name)
{
    ptx_function *f = p->function;
    ptx_label_list list = {.name = name};
    do {
        const char *label = word(p);
        list.label = arena_grow(p->arena, list.label, list.labels, sizeof *list.label);
        list.label[list.labels++] = label;
    } while (accept(p, ","));
    expect(p, ";");
    f->list = arena_grow(p->arena, f->list, f->lists, sizeof list);
    f->list[f->lists++] = list;
}

static void parse_label(parser *p, const char *name)
{
    if (accept(p, ".branchtargets"))
        parse_label_list(p, name);
    else if (accept(p, ".callprototype") || accept(p, ".calltargets"))
        skip_until(p, ";");
    else
        new_statement(p)->label = name;
}

static void parse_instruction(parser *p)
{
    ptx_statement s = {.place = p->place};
    if (accept(p, "@")) {
        s.guarded = true;
        bool negated = accept(p, "!");
        s.guard = parse_name(p);
        s.guard.negated = negated;
        if (s.guard.kind != PTX_REGISTER) error(p, "a guard must be a predicate register");
    }
    s.opcode = word(p);
    while (!accept(p, ";")) {
        if (s.operands == MAX_OPERANDS) error(p, "too many operands");
        s.operand[s.operands++] = parse_operand(p);
        if (!is(p, ";")) expect(p, ",");
    }
    *new_statement(p) = s;
}

static void open_scope(parser *p)
{
    if (p->depth == MAX_SCOPES) error(p, "scopes nested too deeply");
    p->scope_ranges[p->depth] = p->range_count;
    p->scope_params[p->depth++] = p->param_bytes;
}

static void close_scope(parser *p)
{
    p->depth--;
    p->range_count = p->scope_ranges[p->depth];
    p->param_bytes = p->scope_params[p->depth];
}

static bool at_label(parser *p)
{
    const char *c = p->at;
    while (c < p->end && strchr(" \t", *c)) c++;
    return p->now.kind == TOKEN_WORD && *c == ':';
}

static void parse_directive(parser *p)
{
    space space;
    if (space_of(p, &space)) {
        next(p);
        parse_variable(p, space, false);
    } else if (is(p, ".loc")) {
        parse_loc(p);
    } else if (accept(p, ".reg")) {
        parse_registers(p);
    } else if (accept(p, ".pragma")) {
        skip_until(p, ";");
    } else {
        error(p, "unknown directive '%.*s'", (int)p->now.length, p->now.text);
    }
}

static void parse_body(parser *p)
{
    p->range_count = p->depth = p->param_bytes = 0;
    p->place = 0;
    p->first_place = p->module->places;
    open_scope(p);
    while (p->depth) {
        if (accept(p, "{")) {
            open_scope(p);
        } else if (is(p, "}")) {
            close_scope(p);
            next(p);
        } else if (at_label(p)) {
            const char *name = word(p);
            expect(p, ":");
            parse_label(p, name);
        } else if (begins(p, ".")) {
            parse_directive(p);
        } else {
            parse_instruction(p);
        }
    }
}

/* ---- functions and the module ---------------------------------------------------------------- */

static ptx_variable *parse_params(parser *p, uint32_t *count)
{
    ptx_variable *list = NULL;
    *count = 0;
    expect(p, "(");
    while (!accept(p, ")")) {
        if (!accept(p, ".param")) expect(p, ".reg");
        ptx_variable v = parse_declarator(p, SPACE_PARAM);
        list = arena_grow(p->arena, list, *count, sizeof v);
        list[(*count)++] = v;
        if (*count > 256) error(p, "too many parameters");
        if (!is(p, ")")) expect(p, ",");
    }
    return list;
}

static void parse_tuning(parser *p, ptx_function *f)
{
    while (begins(p, ".")) {
        bool threads = is(p, ".maxntid") || is(p, ".reqntid");
        next(p);
        uint32_t product = 1;
        while (p->now.kind == TOKEN_NUMBER) {
            product *= small_integer(p);
            if (!accept(p, ",")) break;
        }
        if (threads) f->max_threads = product;
    }
}

static void parse_function(parser *p, bool kernel)
{
    ptx_function f = {.kernel = kernel, .registers = 1}; /* register 0 is nobody's */
    f.width = arena_grow(p->arena, NULL, 0, 1);
    if (is(p, "(")) f.result = parse_params(p, &f.results);
    f.name = word(p);
    if (is(p, "(")) f.param = parse_params(p, &f.params);
    parse_tuning(p, &f);
    f.defined = !accept(p, ";");
    ptx_module *m = p->module;
    m->function = arena_grow(p->arena, m->function, m->functions, sizeof f);
    m->function[m->functions] = f;
    p->function = &m->function[m->functions++];
    if (!f.defined) return;
    expect(p, "{");
    parse_body(p);
}

static void skip_section(parser *p)
{
    next(p);
    while (!is(p, "{")) {
        if (p->now.kind == TOKEN_END) error(p, "a section without a body");
        next(p);
    }
    skip_until(p, "}");
}

static void parse_toplevel(parser *p)
{
    space space;
    bool external = is(p, ".extern");
    while (is(p, ".extern") || is(p, ".visible") || is(p, ".weak") || is(p, ".common")) next(p);
    if (accept(p, ".entry"))
        parse_function(p, true);
    else if (accept(p, ".func"))
        parse_function(p, false);
    else if (is(p, ".section"))
        skip_section(p);
    else if (accept(p, ".file"))
        parse_file(p);
    else if (is(p, ".loc"))
        skip_line(p);
    else if (is(p, ".version") || is(p, ".target") || is(p, ".address_size"))
        skip_line(p);
    else if (accept(p, ".pragma") || accept(p, ".alias"))
        skip_until(p, ";");
    else if (space_of(p, &space) &&
             (space == SPACE_GLOBAL || space == SPACE_CONST || space == SPACE_SHARED)) {
        next(p);
        parse_variable(p, space, external);
    } else
        error(p, "'%.*s' is not expected here", (int)p->now.length, p->now.text);
}

ptx_module *ptx_parse(const char *text, size_t bytes)
{
    arena *arena = arena_new();
    ptx_module *m = arena_take(arena, sizeof *m);
    m->arena = arena;
    m->place = arena_grow(arena, NULL, 0, sizeof *m->place);
    m->place[m->places++] = (ptx_place){.outer = -1};
    char *copy = arena_text(arena, text, bytes); /* so that a 0 ends it */
    parser p = {.at = copy, .end = copy + bytes, .arena = arena, .module = m, .line = 1};
    if (setjmp(p.failed)) return m;
    next(&p);
    while (p.now.kind != TOKEN_END) parse_toplevel(&p);
    return m;
}

void ptx_free(ptx_module *m)
{
    if (m) arena_free(m->arena);
}
