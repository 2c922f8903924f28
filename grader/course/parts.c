/* parts.c: an exercise that is several in one: the parts that its cases name. */
#include "course.h"

#include <string.h>

static int find(const char *const names[], int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return i;
    }
    return -1;
}

static bool has_parts(const exercise *e)
{
    const grading_case *c = e->cases;
    while (c && c->name && !c->part) c++;
    return c && c->name;
}

int parts_of(const exercise *e, const char *names[PARTS_MAX])
{
    int count = 0;
    names[0] = NULL;
    for (int i = 0; has_parts(e) && e->cases[i].name; i++) {
        const char *name = part_of_case(e, i);
        if (count < PARTS_MAX && find(names, count, name) < 0) names[count++] = name;
    }
    return count > 0 ? count : 1;
}

const char *part_of_case(const exercise *e, int i)
{
    if (!has_parts(e)) return NULL;
    while (i > 0 && !e->cases[i].part) i--;
    return e->cases[i].part ? e->cases[i].part : e->functions[0];
}

int part_number(const exercise *e, const char *name)
{
    const char *names[PARTS_MAX];
    const int count = parts_of(e, names);
    if (!names[0]) return 0;
    return name ? find(names, count, name) : -1;
}
