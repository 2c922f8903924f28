/*
 * name.c: the identifier inside a mangled C++ name.
 *
 * Interface
 *   plain_name
 *
 * _Z4vaddPKfS0_Pfi is vadd, _ZN2ns4kernIiEEvv is kern, _ZZ2mmILi16EEvPKfE4tile is tile. Enough to
 * be found again in the source; no types, no template arguments.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "state.h"

/* An identifier "4vadd" at `at`. @return what follows it, NULL when there is none. */
static const char *read_identifier(const char *at, const char **name, size_t *length)
{
    if (!isdigit((unsigned char)*at)) return NULL;
    char *end;
    unsigned long n = strtoul(at, &end, 10);
    if (n > strlen(end)) return NULL;
    *name = end;
    *length = n;
    return end + n;
}

/* A variable of a function comes last, behind an E, maybe with a number: E4tile_0. */
static bool last_identifier(const char *mangled, const char **name, size_t *length)
{
    for (const char *e = mangled + strlen(mangled); e-- > mangled;) {
        if (*e != 'E') continue;
        const char *rest = read_identifier(e + 1, name, length);
        if (rest && (*rest == 0 || *rest == '_')) return true;
    }
    return false;
}

static bool first_identifier(const char *at, const char **name, size_t *length)
{
    bool nested = *at == 'N', found = false;
    if (nested) at++;
    while (*at == 'K' || *at == 'L') at++;
    for (const char *next; (next = read_identifier(at, name, length)); at = next) {
        found = true;
        if (!nested) break; /* what follows is a parameter's class */
    }
    return found;
}

void plain_name(const char *mangled, char *text, size_t room)
{
    const char *name = mangled;
    size_t length = strlen(mangled);
    if (!strncmp(mangled, "_ZZ", 3))
        last_identifier(mangled, &name, &length);
    else if (!strncmp(mangled, "_Z", 2))
        first_identifier(mangled + 2, &name, &length);
    snprintf(text, room, "%.*s", (int)(length < room ? length : room - 1), name);
}
