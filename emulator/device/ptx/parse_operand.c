/*
 * parse_operand.c: registers, numbered and resolved by scope, and operands.
 *
 * Interface
 *   type_bytes, parse_registers, parse_name, parse_operand
 */
#include <stdlib.h>
#include <string.h>

#include "parse.h"

/* ---- registers and types --------------------------------------------------------------------- */

/** Bytes of a type such as ".f32"; 0 for a predicate, -1 when it is no type. */
int type_bytes(const char *text, size_t length)
{
    if (length == 5 && !memcmp(text, ".pred", 5)) return 0;
    if (length < 3 || text[0] != '.' || !strchr("bsuf", text[1])) return -1;
    if (length > 6 && !memcmp(text + length - 2, "x2", 2)) return 4;
    int bits = atoi(text + 2);
    return bits >= 8 && bits <= 128 && !(bits & (bits - 1)) ? bits / 8 : -1;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
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
    lex_word(p);
    if (lex_accept(p, "<")) {
        r.count = lex_small_integer(p);
        if (r.count > 1 << 20) lex_fail(p, "too many registers");
        lex_expect(p, ">");
    }
    uint32_t count = r.count ? r.count : 1;
    for (uint32_t i = 0; i < count; i++) {
        f->width = arena_grow(p->arena, f->width, f->registers, 1);
        f->width[f->registers++] = width;
    }
    p->ranges = arena_grow(p->arena, p->ranges, p->range_count, sizeof *p->ranges);
    p->ranges[p->range_count++] = r;
}

void parse_registers(parser *p)
{
    int bytes = type_bytes(p->now.text, p->now.length);
    if (bytes < 0 || bytes > 8) lex_fail(p, "registers of an unknown type");
    lex_next(p);
    do {
        declare_registers(p, bytes == 1 ? 2 : (uint8_t)bytes);
    } while (lex_accept(p, ","));
    lex_expect(p, ";");
}

/* ---- operands -------------------------------------------------------------------------------- */

/* 1 + the number of the body's variable; 0: it is none. */
static uint32_t find_variable_in_scope(const parser *p, const char *name)
{
    const ptx_function *f = p->function;
    for (uint32_t i = f ? f->variables : 0; i-- > 0;) {
        if (!f->variable[i].hidden && !strcmp(f->variable[i].name, name)) return i + 1;
    }
    return 0;
}

ptx_operand parse_name(parser *p)
{
    ptx_operand o = {.kind = PTX_SYMBOL};
    if (p->now.length == 1 && *p->now.text == '_') {
        lex_next(p);
        o.kind = PTX_SINK;
        return o;
    }
    if (find_register(p, p->now.text, p->now.length, &o.reg)) o.kind = PTX_REGISTER;
    o.name = lex_word(p);
    if (o.kind == PTX_SYMBOL) o.local = find_variable_in_scope(p, o.name);
    return o;
}

static ptx_operand parse_list(parser *p, const char *close)
{
    ptx_operand o = {.kind = PTX_LIST};
    if (++p->nesting > MAX_NESTING) lex_fail(p, "lists nested too deeply");
    while (!lex_accept(p, close)) {
        ptx_operand item = parse_operand(p);
        o.item = arena_grow(p->arena, o.item, o.items, sizeof *o.item);
        o.item[o.items++] = item;
        if (!lex_is(p, close)) lex_expect(p, ",");
    }
    p->nesting--;
    return o;
}

static void parse_displacement(parser *p, ptx_operand *o)
{
    if (lex_accept(p, "+"))
        o->number += lex_integer(p);
    else if (lex_is(p, "-"))
        o->number += lex_integer(p);
}

/* [texture, {x, y}]: a list of what stands between the brackets. */
static ptx_operand parse_texture(parser *p, ptx_operand texture)
{
    ptx_operand rest = parse_list(p, "]"), o = {.kind = PTX_LIST, .items = rest.items + 1};
    o.item = arena_take(p->arena, o.items * sizeof *o.item);
    o.item[0] = texture;
    for (uint32_t i = 0; i < rest.items; i++) o.item[1 + i] = rest.item[i];
    return o;
}

static ptx_operand parse_memory(parser *p)
{
    ptx_operand o = {.kind = PTX_MEMORY, .items = 1};
    o.item = arena_take(p->arena, sizeof *o.item);
    if (p->now.kind == TOKEN_NUMBER)
        o.item[0] = (ptx_operand){.kind = PTX_NUMBER, .number = lex_integer(p)};
    else
        o.item[0] = parse_name(p);
    parse_displacement(p, &o);
    o.item[0].number += o.item[0].kind == PTX_REGISTER ? o.number : 0;
    if (lex_accept(p, ",")) return parse_texture(p, o.item[0]);
    lex_expect(p, "]");
    return o;
}

static ptx_operand parse_plain_operand(parser *p)
{
    if (lex_accept(p, "{")) return parse_list(p, "}");
    if (lex_accept(p, "(")) return parse_list(p, ")");
    if (lex_accept(p, "[")) return parse_memory(p);
    if (lex_accept(p, "!")) {
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
    o.number = lex_number(p, &o.floating);
    return o;
}

ptx_operand parse_operand(parser *p)
{
    ptx_operand first = parse_plain_operand(p);
    if (!lex_accept(p, "|")) return first;
    ptx_operand pair = {.kind = PTX_PAIR, .items = 2};
    pair.item = arena_take(p->arena, 2 * sizeof *pair.item);
    pair.item[0] = first;
    pair.item[1] = parse_plain_operand(p);
    return pair;
}
