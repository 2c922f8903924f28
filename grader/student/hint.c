/*
 * hint.c: the hints of an exercise's page, one at a time. How many were shown is remembered in the
 * build folder; after the last one it starts again.
 */
#include "student.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HINTS 3

static int next_hint(const options *o, int id)
{
    char folder[PATH_MAX], path[PATH_MAX];
    int shown = 0;
    snprintf(folder, sizeof folder, "%s/hints", o->build);
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/%d", folder, id);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &shown) != 1) shown = 0;
    if (file) fclose(file);
    const int next = shown % HINTS + 1;
    file = fopen(path, "w");
    if (file) fprintf(file, "%d\n", next);
    if (file) fclose(file);
    return next;
}

static void page_path(char path[PATH_MAX], const options *o, const exercise *e)
{
    char page[PATH_MAX];
    page_of(e, page);
    snprintf(path, PATH_MAX, "%s/%s", o->root, page);
}

static bool print_section(FILE *page, int number)
{
    char line[1024], heading[32];
    bool inside = false, found = false, blank = false;
    snprintf(heading, sizeof heading, "### Hint %d", number);
    while (fgets(line, sizeof line, page)) {
        if (line[0] == '#') inside = strncmp(line, heading, strlen(heading)) == 0;
        if (!inside || line[0] == '<') continue; /* what folds it on the page */
        if (line[0] == '\n' && blank) continue;
        blank = line[0] == '\n';
        found = true;
        fputs(line[0] == '#' ? line + strspn(line, "# ") : line, stdout);
    }
    return found;
}

int hint(const options *o)
{
    char path[PATH_MAX];
    const exercise *e = o->exercises ? catalog_find(id_parse(o->exercises, NULL)) : NULL;
    if (!e) {
        fprintf(stderr, "grader: which exercise? e.g. make hint EX=211\n");
        return 2;
    }
    page_path(path, o, e);
    FILE *page = fopen(path, "r");
    const int number = next_hint(o, e->id);
    const bool found = page && print_section(page, number);
    if (page) fclose(page);
    if (found) {
        printf("(%d of %d; %s: make hint EX=%s)\n", number, HINTS,
               number < HINTS ? "the next" : "from the first again", id_words(e->id));
    }
    if (!found) fprintf(stderr, "grader: %s has no hint %d\n", path, number);
    return found ? 0 : 2;
}
