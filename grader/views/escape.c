/*
 * escape.c: untrusted text, made harmless in a format. Bytes that are no UTF-8 and characters that
 * no document should hold are shown as U+FFFD, the sign for just that.
 */
#include "views.h"

#include <string.h>

#define REPLACEMENT 0xfffdu

/* What can stand in XML 1.0, less what turns or breaks lines unseen; a terminal's escapes and the
 * like cannot. */
static bool is_character(unsigned c)
{
    if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
    if (c == 0x61c || c == 0x200e || c == 0x200f) return false; /* they turn text around */
    if ((c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069)) return false;
    return !(c >= 0x7f && c < 0xa0) && !(c >= 0xd800 && c < 0xe000) && (c & 0xfffe) != 0xfffe &&
           c <= 0x10ffff;
}

/* One character of *s, which moves on by at least a byte. */
static unsigned next_character(const char **s)
{
    static const unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)*s;
    const int length = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    unsigned c = length == 1 ? *at : *at & (0xffu >> (length + 1));
    ++*s;
    if (length == 0 || *at >= 0xf8) return REPLACEMENT;
    for (int i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return REPLACEMENT;
        c = c << 6 | (at[i] & 0x3f);
    }
    *s = (const char *)at + length;
    return c >= smallest[length] && is_character(c) ? c : REPLACEMENT;
}

static void put_utf8(FILE *to, unsigned c)
{
    if (c < 0x80) {
        fputc((int)c, to);
    } else if (c < 0x800) {
        fprintf(to, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        fprintf(to, "%c%c%c", 0xe0 | c >> 12, 0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
    } else {
        fprintf(to, "%c%c%c%c", 0xf0 | c >> 18, 0x80 | (c >> 12 & 0x3f), 0x80 | (c >> 6 & 0x3f),
                0x80 | (c & 0x3f));
    }
}

typedef struct escape {
    char c;
    const char *text;
} escape;

static void put(FILE *to, const char *text, const escape *escapes)
{
    while (*text) {
        const unsigned c = next_character(&text);
        const escape *e = escapes;
        while (e->c && (unsigned char)e->c != c) e++;
        if (e->c) {
            fputs(e->text, to);
        } else {
            put_utf8(to, c);
        }
    }
}

void put_xml(FILE *to, const char *text)
{
    /* A bare carriage return would be read as the end of a line. */
    static const escape xml[] = {{'<', "&lt;"},   {'>', "&gt;"},   {'&', "&amp;"}, {'"', "&quot;"},
                                 {'\'', "&#39;"}, {'\r', "&#13;"}, {0, NULL}};
    put(to, text, xml);
}

void put_csv(FILE *to, const char *text)
{
    static const escape csv[] = {{'"', "\"\""}, {0, NULL}};
    const bool computed = *text && strchr("=+-@\t\r", *text);
    const bool quoted = computed || strpbrk(text, ",;\"\r\n\t") || *text == ' ';
    if (quoted) fputc('"', to);
    if (computed) fputc('\'', to);
    put(to, text, csv);
    if (quoted) fputc('"', to);
}

void put_markdown(FILE *to, const char *text)
{
    static const escape markdown[] = {
        {'<', "&lt;"},  {'>', "&gt;"}, {'&', "&amp;"}, {'|', "\\|"}, {'*', "\\*"}, {'_', "\\_"},
        {'`', "\\`"},   {'[', "\\["},  {']', "\\]"},   {'#', "\\#"}, {'~', "\\~"}, {'\\', "\\\\"},
        {'\n', "<br>"}, {'\r', " "},   {'@', "&#64;"}, {'$', "\\$"}, {0, NULL}};
    put(to, text, markdown);
}

void put_cell(FILE *to, const char *text)
{
    static const escape cell[] = {{'<', "&lt;"}, {'>', "&gt;"},  {'&', "&amp;"}, {'|', "\\|"},
                                  {'`', "\\`"},  {'\n', "<br>"}, {'\r', " "},    {0, NULL}};
    put(to, text, cell);
}

void put_command(FILE *to, const char *text, bool property)
{
    static const escape command[] = {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}, {0, NULL}};
    static const escape in_property[] = {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"},
                                         {':', "%3A"}, {',', "%2C"},  {0, NULL}};
    put(to, text, property ? in_property : command);
}
