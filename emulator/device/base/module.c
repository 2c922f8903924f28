/*
 * module.c: questions about a module that is loaded: see module.h.
 */
#include <stdlib.h>

#include "arena.h"
#include "state.h"

const char *module_file(const module *m, uint32_t line, uint32_t *number)
{
    if (line >= m->place_count) line = 0;
    const place *at = &m->places[line];
    *number = at->line;
    return at->file < m->file_count && m->files[at->file] ? m->files[at->file] : "";
}

const char *module_outer_file(const module *m, uint32_t line, uint32_t *number)
{
    if (line >= m->place_count || !m->places[line].outer) return "";
    return module_file(m, m->places[line].outer, number);
}

const variable *module_owner(const device *d, device_address address)
{
    for (uint32_t i = 0; i < d->module_count; i++) {
        const module *m = d->modules[i];
        for (uint32_t k = 0; m && k < m->variable_count; k++) {
            const variable *v = &m->variables[k];
            if (v->space != SPACE_SHARED && v->address == address) return v;
        }
    }
    return NULL;
}

void *module_keep(module *m, size_t bytes)
{
    m->kept = retake(m->kept, (m->kept_count + 1) * sizeof *m->kept);
    return m->kept[m->kept_count++] = take(1, bytes);
}
