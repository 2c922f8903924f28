/* scenarios.c: the functions of the worker that a call can take as an argument. */
#include "worker.h"

#include <string.h>

static const struct {
    const char *name;
    void *function;
} scenarios[] = {{NULL, NULL}};

void *scenario_function(const char *name)
{
    for (size_t i = 0; scenarios[i].name; i++) {
        if (strcmp(scenarios[i].name, name) == 0) return scenarios[i].function;
    }
    return NULL;
}
