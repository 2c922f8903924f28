/*
 * lex.c: PTX text to tokens and numbers.
 *
 * Interface
 *   lex_next and its kin: parse.h
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

_Noreturn void lex_fail(parser *p, const char *format, ...)
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

void lex_next(parser *p)
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
        if (p->at >= p->end) lex_fail(p, "a string without an end");
        p->at++;
    } else {
        p->at++;
    }
    p->now = (token){kind, start, (size_t)(p->at - start)};
}

bool lex_is(const parser *p, const char *text)
{
    return p->now.kind != TOKEN_STRING && p->now.length == strlen(text) &&
           !memcmp(p->now.text, text, p->now.length);
}

bool lex_begins(const parser *p, const char *text)
{
    return p->now.length >= strlen(text) && !memcmp(p->now.text, text, strlen(text));
}

bool lex_accept(parser *p, const char *text)
{
    if (!lex_is(p, text)) return false;
    lex_next(p);
    return true;
}

void lex_expect(parser *p, const char *text)
{
    if (!lex_accept(p, text)) {
        lex_fail(p, "'%s' expected, not '%.*s'", text, (int)p->now.length, p->now.text);
    }
}

const char *lex_word(parser *p)
{
    if (p->now.kind != TOKEN_WORD) {
        lex_fail(p, "a name expected, not '%.*s'", (int)p->now.length, p->now.text);
    }
    const char *text = arena_text(p->arena, p->now.text, p->now.length);
    lex_next(p);
    return text;
}

void lex_skip_line(parser *p)
{
    while (p->at < p->end && *p->at != '\n') p->at++;
    lex_next(p);
}

void lex_skip_until(parser *p, const char *mark)
{
    while (!lex_is(p, mark)) {
        if (p->now.kind == TOKEN_END) lex_fail(p, "'%s' expected before the end", mark);
        lex_next(p);
    }
    lex_next(p);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* 0f3F800000 and 0d... give the bits as they are; 1.5 gives a double, to be fitted when used. */
uint64_t lex_number(parser *p, bool *floating)
{
    bool negative = lex_accept(p, "-");
    if (p->now.kind != TOKEN_NUMBER) lex_fail(p, "a number expected");
    char text[64];
    size_t length = p->now.length < sizeof text - 1 ? p->now.length : sizeof text - 1;
    memcpy(text, p->now.text, length);
    text[length] = 0;
    lex_next(p);
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

uint64_t lex_integer(parser *p)
{
    bool floating;
    return lex_number(p, &floating);
}

uint32_t lex_small_integer(parser *p)
{
    uint64_t value = lex_integer(p);
    if (value > UINT32_MAX / 2) lex_fail(p, "a number out of range");
    return (uint32_t)value;
}
