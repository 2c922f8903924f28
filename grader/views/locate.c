/*
 * locate.c: compilers write FILE:13:5 or FILE(13), and may put folders before the name. Other files
 * (a header, the grader's own) are not the student's and not looked for.
 */
#include "views.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool ends_name(const char *text, const char *at)
{
    return at == text || !(isalnum((unsigned char)at[-1]) || strchr("_-.", at[-1]));
}

const char *locate(const char *text, const char *file, long *line)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const size_t length = strlen(name);
    for (const char *at = text; length && (at = strstr(at, name)); at += length) {
        const char *mark = at + length;
        if (!ends_name(text, at) || !(*mark == ':' || *mark == '(')) continue;
        if (!isdigit((unsigned char)mark[1])) continue;
        char *end;
        *line = strtol(mark + 1, &end, 10);
        if (*line > 0 && (*mark == ':' || *end == ')')) return end + (*mark == '(');
    }
    return NULL;
}
