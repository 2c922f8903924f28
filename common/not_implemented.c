#include "not_implemented.h"

#include <stddef.h>

static const char *first_stub;

void not_implemented(const char *function, ...)
{
    if (first_stub == NULL) first_stub = function;
}

const char *not_implemented_take(void)
{
    const char *stub = first_stub;
    first_stub = NULL;
    return stub;
}
