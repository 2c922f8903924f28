/* quote.c: the line of a student's file that a finding or a count is about. */
#include "views.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Without what it is indented by; nothing in it commands a terminal. */
static void take_text(const char *line, char text[QUOTE_MAX])
{
    size_t n = 0;
    line += strspn(line, " \t");
    for (; line[n] && line[n] != '\n' && n + 1 < QUOTE_MAX; n++)
        text[n] = isprint((unsigned char)line[n]) ? line[n] : '?';
    text[n] = '\0';
}

bool quote_line(const char *submission, const char *own, const char *file, long number,
                char text[QUOTE_MAX])
{
    char path[PATH_MAX], line[1024];
    *text = '\0';
    if (number < 1 || strcmp(name_of(own), name_of(file)) != 0) return false;
    snprintf(path, sizeof path, "%s/%s", submission, submitted_file(submission, own));
    FILE *from = fopen(path, "r");
    if (!from) return false;
    for (long at = 0; at < number && fgets(line, sizeof line, from);) {
        if (strchr(line, '\n') || feof(from)) at++;
        if (at == number) take_text(line, text);
    }
    fclose(from);
    return *text != '\0';
}
