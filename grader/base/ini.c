/*
 * ini.c: settings in sections, one a line: [section], name = value; a comment begins with ; or #.
 */
#include "base.h"

#include <ctype.h>
#include <string.h>

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]);) text[--n] = '\0';
    return text;
}

/* @return what is wrong with the line, or NULL */
static const char *read_line(ini_setting *take, void *context, ini_line *at, char *line)
{
    line[strcspn(line, ";#\n")] = '\0';
    line = trimmed(line);
    at->name = at->value = "";
    if (!*line) return NULL;
    if (*line == '[') {
        const size_t length = strcspn(line + 1, "]");
        snprintf(at->section, sizeof at->section, "%.*s", (int)length, line + 1);
        if (line[1 + length] != ']' || line[2 + length]) return "a section is like [section]";
        return take(context, at);
    }
    char *equals = strchr(line, '=');
    if (!equals) return "neither [section] nor name = value";
    *equals = '\0';
    at->name = trimmed(line);
    at->value = trimmed(equals + 1);
    return take(context, at);
}

const char *ini_read(FILE *file, ini_setting *take, void *context, int *number)
{
    char line[512];
    ini_line at = {.number = 0};
    const char *wrong = NULL;
    while (!wrong && fgets(line, sizeof line, file)) {
        at.number++;
        wrong = strchr(line, '\n') || feof(file) ? read_line(take, context, &at, line)
                                                 : "this line is too long";
    }
    *number = at.number;
    return wrong;
}
