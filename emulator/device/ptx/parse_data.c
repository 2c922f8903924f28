/*
 * parse_data.c: declarations of variables with their initialisers, and source places.
 *
 * Interface
 *   space_of, parse_declarator, parse_variable, parse_loc, parse_file
 */
#include <stdio.h>
#include <string.h>

#include "parse.h"

/* ---- variables ------------------------------------------------------------------------------- */

static ptx_item parse_item(parser *p)
{
    ptx_item item = {0};
    if (p->now.kind == TOKEN_NUMBER || lex_is(p, "-")) {
        item.number = lex_integer(p);
        if (!lex_accept(p, "(")) return item;
        item.mask = item.number;
        item.number = 0;
        item.symbol = lex_word(p);
        if (lex_accept(p, "(")) {
            item.symbol = lex_word(p);
            lex_expect(p, ")");
        }
        if (lex_accept(p, "+")) item.number = lex_integer(p);
        lex_expect(p, ")");
        return item;
    }
    item.symbol = lex_word(p);
    if (lex_accept(p, "(")) {
        item.symbol = lex_word(p);
        lex_expect(p, ")");
    }
    if (lex_accept(p, "+") || lex_is(p, "-")) item.number = lex_integer(p);
    return item;
}

static void parse_initialiser(parser *p, ptx_variable *v)
{
    bool list = lex_accept(p, "{");
    do {
        if (list && lex_accept(p, "{")) continue; /* rows of an array of arrays lie flat */
        ptx_item item = parse_item(p);
        while (list && lex_is(p, "}") && p->at < p->end && *p->at == ',') lex_next(p);
        v->item = arena_grow(p->arena, v->item, v->items, sizeof *v->item);
        v->item[v->items++] = item;
    } while (list && lex_accept(p, ","));
    while (list && lex_accept(p, "}")) {
    }
}

/* .align 4 .b8 name[16], with whatever attributes; the state space has been read. */
ptx_variable parse_declarator(parser *p, space space)
{
    ptx_variable v = {.space = space, .element = 1};
    uint32_t vector = 1;
    for (; p->now.kind == TOKEN_WORD && *p->now.text == '.';) {
        int bytes = type_bytes(p->now.text, p->now.length);
        bool align = lex_is(p, ".align");
        if (bytes > 0)
            v.element = (uint32_t)bytes;
        else if (lex_is(p, ".v2") || lex_is(p, ".v4"))
            vector = (uint32_t)(p->now.text[2] - '0');
        bool attribute = lex_is(p, ".attribute");
        lex_next(p);
        if (align) v.alignment = lex_small_integer(p);
        if (attribute) lex_skip_until(p, ")");
    }
    if (!v.alignment) v.alignment = v.element * vector;
    if (v.alignment & (v.alignment - 1) || v.alignment > 4096) lex_fail(p, "a bad alignment");
    v.name = lex_word(p);
    v.bytes = v.element * vector;
    while (lex_accept(p, "[")) {
        if (lex_accept(p, "]")) {
            v.external = true;
            v.bytes = 0;
        } else {
            v.bytes *= lex_integer(p);
            if (v.bytes > UINT64_C(1) << 32) lex_fail(p, "'%s' is too large", v.name);
            lex_expect(p, "]");
        }
    }
    return v;
}

void parse_variable(parser *p, space space, bool external)
{
    ptx_variable v = parse_declarator(p, space);
    if (lex_accept(p, "=")) parse_initialiser(p, &v);
    if (v.external && v.items) v.bytes = v.items * v.element;
    v.external = (v.external && !v.items) || external;
    lex_expect(p, ";");
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

bool space_of(const parser *p, space *space)
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
        if (!lex_is(p, names[i].text)) continue;
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
void parse_loc(parser *p)
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
    lex_skip_line(p);
    if (fields < 2 || place.line == 0)
        return; /* line 0: the compiler does not know; keep the last */
    ptx_module *m = p->module;
    m->place = arena_grow(p->arena, m->place, m->places, sizeof place);
    p->place = m->places;
    m->place[m->places++] = place;
}

void parse_file(parser *p)
{
    ptx_file file = {.number = lex_small_integer(p)};
    if (p->now.kind != TOKEN_STRING) lex_fail(p, "a file name expected");
    file.name = arena_text(p->arena, p->now.text + 1, p->now.length - 2);
    lex_next(p);
    while (lex_accept(p, ",")) lex_integer(p);
    ptx_module *m = p->module;
    m->file = arena_grow(p->arena, m->file, m->files, sizeof file);
    m->file[m->files++] = file;
}
