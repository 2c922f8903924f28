/*
 * parse.c: PTX text to syntax (ptx.h). A recursive descent over tokens; the first error ends it.
 *
 * Interface
 *   ptx_parse, ptx_free
 *
 * Trusts nothing in the text: a malformed module gives an error, never a crash.
 */
#include <stdio.h>
#include <string.h>

#include "parse.h"

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
        const char *label = lex_word(p);
        list.label = arena_grow(p->arena, list.label, list.labels, sizeof *list.label);
        list.label[list.labels++] = label;
    } while (lex_accept(p, ","));
    lex_expect(p, ";");
    f->list = arena_grow(p->arena, f->list, f->lists, sizeof list);
    f->list[f->lists++] = list;
}

static void parse_label(parser *p, const char *name)
{
    if (lex_accept(p, ".branchtargets"))
        parse_label_list(p, name);
    else if (lex_accept(p, ".callprototype") || lex_accept(p, ".calltargets"))
        lex_skip_until(p, ";");
    else
        new_statement(p)->label = name;
}

static void parse_instruction(parser *p)
{
    ptx_statement s = {.place = p->place};
    if (lex_accept(p, "@")) {
        s.guarded = true;
        bool negated = lex_accept(p, "!");
        s.guard = parse_name(p);
        s.guard.negated = negated;
        if (s.guard.kind != PTX_REGISTER) lex_fail(p, "a guard must be a predicate register");
    }
    s.opcode = lex_word(p);
    while (!lex_accept(p, ";")) {
        ptx_operand operand = parse_operand(p);
        if (s.operands < MAX_OPERANDS)
            s.operand[s.operands++] = operand; /* else beyond us anyway */
        if (!lex_is(p, ";")) lex_expect(p, ",");
    }
    *new_statement(p) = s;
}

static void open_scope(parser *p)
{
    if (p->depth == MAX_SCOPES) lex_fail(p, "scopes nested too deeply");
    p->scope_ranges[p->depth] = p->range_count;
    p->scope_variables[p->depth] = p->function->variables;
    p->scope_statements[p->depth] = p->function->statements;
    p->scope_params[p->depth++] = p->param_bytes;
}

static bool is_label_before(const ptx_function *f, uint32_t end, const char *name)
{
    for (uint32_t i = 0; i < end; i++) {
        const char *label = f->statement[i].label;
        if (label && !strcmp(label, name)) return true;
    }
    return false;
}

static void rename_label(parser *p, uint32_t first, ptx_statement *label)
{
    ptx_function *f = p->function;
    const char *old = label->label;
    char name[128];
    int length = snprintf(name, sizeof name, "%.100s.%u", old, f->statements);
    label->label = arena_text(p->arena, name, (size_t)length);
    for (uint32_t i = first; i < f->statements; i++) {
        ptx_operand *to = &f->statement[i].operand[0];
        if (f->statement[i].label || to->kind != PTX_SYMBOL || strcmp(to->name, old)) continue;
        if (!strncmp(f->statement[i].opcode, "bra", 3)) to->name = label->label;
    }
}

/* A label is known in its scope alone: one of an earlier scope that has its name is another. */
static void close_labels(parser *p)
{
    ptx_function *f = p->function;
    uint32_t first = p->scope_statements[p->depth];
    for (uint32_t i = first; p->depth && i < f->statements; i++) {
        const char *label = f->statement[i].label;
        if (label && is_label_before(f, first, label)) rename_label(p, first, &f->statement[i]);
    }
}

static void close_scope(parser *p)
{
    p->depth--;
    close_labels(p);
    p->range_count = p->scope_ranges[p->depth];
    p->param_bytes = p->scope_params[p->depth];
    ptx_function *f = p->function;
    for (uint32_t i = p->scope_variables[p->depth]; i < f->variables; i++) {
        f->variable[i].hidden = true;
    }
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
        lex_next(p);
        parse_variable(p, space, false);
    } else if (lex_is(p, ".loc")) {
        parse_loc(p);
    } else if (lex_accept(p, ".reg")) {
        parse_registers(p);
    } else if (lex_accept(p, ".pragma")) {
        lex_skip_until(p, ";");
    } else {
        lex_fail(p, "unknown directive '%.*s'", (int)p->now.length, p->now.text);
    }
}

static void parse_body(parser *p)
{
    p->range_count = p->depth = p->param_bytes = 0;
    p->place = 0;
    p->first_place = p->module->places;
    open_scope(p);
    while (p->depth) {
        if (lex_accept(p, "{")) {
            open_scope(p);
        } else if (lex_is(p, "}")) {
            close_scope(p);
            lex_next(p);
        } else if (at_label(p)) {
            const char *name = lex_word(p);
            lex_expect(p, ":");
            parse_label(p, name);
        } else if (lex_begins(p, ".")) {
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
    lex_expect(p, "(");
    while (!lex_accept(p, ")")) {
        if (!lex_accept(p, ".param")) lex_expect(p, ".reg");
        ptx_variable v = parse_declarator(p, SPACE_PARAM);
        list = arena_grow(p->arena, list, *count, sizeof v);
        list[(*count)++] = v;
        if (*count > 256) lex_fail(p, "too many parameters");
        if (!lex_is(p, ")")) lex_expect(p, ",");
    }
    return list;
}

/* Up to three numbers; those that are missing are 1. @return their product */
static uint32_t parse_extent(parser *p, uint32_t size[3])
{
    for (uint32_t i = 0; i < 3; i++) size[i] = 1;
    for (uint32_t i = 0; i < 3 && p->now.kind == TOKEN_NUMBER; i++) {
        size[i] = lex_small_integer(p);
        if (!lex_accept(p, ",")) break;
    }
    return size[0] * size[1] * size[2];
}

/* .explicitcluster alone leaves the size to the launch. */
static void parse_tuning(parser *p, ptx_function *f)
{
    while (lex_begins(p, ".")) {
        bool threads = lex_is(p, ".maxntid") || lex_is(p, ".reqntid");
        bool cluster = lex_is(p, ".reqnctapercluster");
        bool blocks = lex_is(p, ".minnctapersm"), registers = lex_is(p, ".maxnreg");
        uint32_t size[3];
        lex_next(p);
        uint32_t product = parse_extent(p, size);
        if (threads) f->max_threads = product;
        if (blocks) f->min_blocks = product;
        if (registers) f->max_registers = product;
        if (cluster) memcpy(f->cluster, size, sizeof f->cluster);
    }
}

static void parse_function(parser *p, bool kernel)
{
    ptx_function f = {.kernel = kernel, .registers = 1}; /* register 0 is nobody's */
    f.width = arena_grow(p->arena, NULL, 0, 1);
    if (lex_is(p, "(")) f.result = parse_params(p, &f.results);
    f.name = lex_word(p);
    if (lex_is(p, "(")) f.param = parse_params(p, &f.params);
    parse_tuning(p, &f);
    f.defined = !lex_accept(p, ";");
    ptx_module *m = p->module;
    m->function = arena_grow(p->arena, m->function, m->functions, sizeof f);
    m->function[m->functions] = f;
    p->function = &m->function[m->functions++];
    if (!f.defined) return;
    lex_expect(p, "{");
    parse_body(p);
}

static void skip_section(parser *p)
{
    lex_next(p);
    while (!lex_is(p, "{")) {
        if (p->now.kind == TOKEN_END) lex_fail(p, "a section without a body");
        lex_next(p);
    }
    lex_skip_until(p, "}");
}

static void parse_toplevel(parser *p)
{
    space space;
    bool external = lex_is(p, ".extern");
    while (lex_is(p, ".extern") || lex_is(p, ".visible") || lex_is(p, ".weak") ||
           lex_is(p, ".common"))
        lex_next(p);
    if (lex_accept(p, ".entry"))
        parse_function(p, true);
    else if (lex_accept(p, ".func"))
        parse_function(p, false);
    else if (lex_is(p, ".section"))
        skip_section(p);
    else if (lex_accept(p, ".file"))
        parse_file(p);
    else if (lex_is(p, ".loc"))
        lex_skip_line(p);
    else if (lex_is(p, ".version") || lex_is(p, ".target") || lex_is(p, ".address_size"))
        lex_skip_line(p);
    else if (lex_accept(p, ".pragma") || lex_accept(p, ".alias"))
        lex_skip_until(p, ";");
    else if (space_of(p, &space) &&
             (space == SPACE_GLOBAL || space == SPACE_CONST || space == SPACE_SHARED)) {
        lex_next(p);
        parse_variable(p, space, external);
    } else
        lex_fail(p, "'%.*s' is not expected here", (int)p->now.length, p->now.text);
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
    lex_next(&p);
    while (p.now.kind != TOKEN_END) parse_toplevel(&p);
    return m;
}

void ptx_free(ptx_module *m)
{
    if (m) arena_free(m->arena);
}
