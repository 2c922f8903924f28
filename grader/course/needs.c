/* needs.c: the files that a program is linked with: those of some exercises, and of all that they
 * call. */
#include "course.h"

#include <stdio.h>

static bool is_needed(const options *o, const exercise *e)
{
    if (options_want(o, e)) return true;
    for (const exercise *const *by = catalog(); *by; by++) {
        for (int i = 0; (*by)->prerequisites[i]; i++) {
            if ((*by)->prerequisites[i] == e->id && is_needed(o, *by)) return true;
        }
    }
    return false;
}

int needs(const options *o)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        if (is_needed(o, *e)) puts((*e)->file);
    }
    return 0;
}
