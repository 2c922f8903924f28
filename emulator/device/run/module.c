/*
 * module.c: a module: its text parsed, its variables laid out and initialised, its functions
 * decoded.
 *
 * Interface
 *   device_load, device_unload, device_module_bytes, device_function, device_function_info,
 * device_symbol module_instrument, module_free
 */
#include <stdlib.h>

#include "device/base/bits.h"
#include "device/decode/decode.h"
#include "device/checks/order.h"
#include "run.h"

/* ---- source places --------------------------------------------------------------------------- */

/* Headers of the toolkit: a place inlined from there is of no use to who called it. */
static bool is_toolkit(const char *file)
{
    static const char *const signs[] = {"/targets/", "/usr/local/cuda", "/usr/include/",
                                        "/usr/lib/", "/nvidia/",        "/cuda/include/",
                                        "/opt/cuda"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strstr(file, signs[i])) return true;
    }
    return false;
}

static const char *file_named(const ptx_module *p, uint32_t number)
{
    for (uint32_t i = 0; i < p->files; i++) {
        if (p->file[i].number == number) return p->file[i].name;
    }
    return "";
}

/* The innermost place outside the toolkit, following what was inlined where. */
static int users_place(const ptx_module *p, int at)
{
    while (p->place[at].outer >= 0 && is_toolkit(file_named(p, p->place[at].file)))
        at = p->place[at].outer;
    return at;
}

static void resolve_places(module *m, const ptx_module *p)
{
    m->place_count = p->places;
    m->places = take(p->places, sizeof *m->places);
    for (uint32_t i = 0; i < p->places; i++) {
        int at = users_place(p, (int)i), outer = p->place[at].outer;
        m->places[i] = (place){p->place[at].file, p->place[at].line, 0};
        if (outer >= 0) m->places[i].outer = (uint32_t)users_place(p, outer);
    }
    for (uint32_t i = 0; i < p->files; i++) {
        if (p->file[i].number >= 1 << 16) continue;
        if (p->file[i].number >= m->file_count) {
            m->files = retake(m->files, (p->file[i].number + 1) * sizeof *m->files);
            while (m->file_count <= p->file[i].number) m->files[m->file_count++] = NULL;
        }
        free(m->files[p->file[i].number]);
        m->files[p->file[i].number] = strdup(p->file[i].name);
    }
}

/* ---- variables ------------------------------------------------------------------------------- */

static void add_variable(module *m, const ptx_variable *from)
{
    if (find_variable(m, from->name)) return;
    m->variables = retake(m->variables, (m->variable_count + 1) * sizeof *m->variables);
    m->variables[m->variable_count++] = (variable){
        .name = strdup(from->name),
        .space = from->space,
        .bytes = from->bytes,
        .alignment = from->alignment,
        .external = from->external,
    };
}

static uint32_t align(uint64_t offset, uint32_t alignment)
{
    return (uint32_t)((offset + alignment - 1) & ~(uint64_t)(alignment - 1));
}

/* One layout for all kernels of the module, so that addresses are constants. */
static bool lay_out_shared(module *m)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < m->variable_count; i++) {
        variable *v = &m->variables[i];
        if (v->space != SPACE_SHARED || v->external) continue;
        v->address = align(offset, v->alignment > 16 ? v->alignment : 16);
        offset = v->address + v->bytes + SHARED_RED_ZONE;
        if (offset > 1 << 24) return false;
    }
    m->shared_bytes = align(offset, 1024);
    for (uint32_t i = 0; i < m->variable_count; i++) {
        variable *v = &m->variables[i];
        if (v->space == SPACE_SHARED && v->external) v->address = m->shared_bytes;
    }
    return true;
}

/* A variable that the host shares has its place, and its value if another device loaded it. */
static bool lies_placed(const device *d, variable *v)
{
    uint64_t base, bytes;
    const placement *p = find_placement(d, v->name);
    if (!p || !heap_find(&d->heap, p->address - DEVICE_BASE, &base, &bytes)) return false;
    if (v->bytes > base + bytes - (p->address - DEVICE_BASE)) return false;
    v->address = p->address;
    v->placed = true;
    v->kept = !p->initialise;
    return true;
}

static bool allocate_globals(module *m)
{
    device *d = m->device;
    for (uint32_t i = 0; i < m->variable_count; i++) {
        variable *v = &m->variables[i];
        if (v->space == SPACE_SHARED || lies_placed(d, v)) continue;
        if (!claim_range(d, v->bytes, &v->address)) return false;
        memset(d->bytes + (v->address - DEVICE_BASE), 0, v->bytes);
        bits_set(d->initialised, v->address - DEVICE_BASE, v->bytes);
    }
    return true;
}

/* What a table of virtual functions has in the place of a pure one, which nobody defines. */
static bool is_declared(const ptx_module *p, const char *name)
{
    uint32_t i = 0;
    while (i < p->functions && strcmp(p->function[i].name, name)) i++;
    return i < p->functions;
}

static bool symbol_value(const module *m, const ptx_module *p, const ptx_item *item,
                         uint64_t *value)
{
    const variable *v = find_variable(m, item->symbol);
    if (v) *value = v->address + (v->space == SPACE_SHARED ? SHARED_WINDOW : 0);
    for (uint32_t i = 0; !v && i < m->function_count; i++) {
        if (strcmp(m->functions[i]->name, item->symbol)) continue;
        *value = FUNCTION_WINDOW + 16 * (uint64_t)(i + 1);
        v = m->variables;
    }
    *value += item->number;
    if (item->mask) *value = (*value & item->mask) >> __builtin_ctzll(item->mask);
    return v != NULL || is_declared(p, item->symbol);
}

static bool initialise(module *m, const ptx_module *p, const ptx_variable *from)
{
    const variable *v = find_variable(m, from->name);
    if (v->space == SPACE_SHARED || v->kept) return true;
    uint8_t *to = m->device->bytes + (v->address - DEVICE_BASE);
    for (uint32_t i = 0; i < from->items; i++) {
        uint64_t value = from->item[i].number;
        if (from->item[i].symbol && !symbol_value(m, p, &from->item[i], &value)) return false;
        if ((i + 1) * (uint64_t)from->element > v->bytes || from->element > 8) return false;
        memcpy(to + i * from->element, &value, from->element);
    }
    return true;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* A module may declare a function before it defines it: the definition counts. */
static bool is_wanted(const ptx_function *f)
{
    return f->defined;
}

static void add_headers(module *m, const ptx_module *p)
{
    for (uint32_t i = 0; i < p->functions; i++) {
        if (!is_wanted(&p->function[i])) continue;
        m->functions = retake(m->functions, (m->function_count + 1) * sizeof *m->functions);
        m->functions[m->function_count++] = decode_header(m, &p->function[i]);
    }
}

static bool decode_bodies(module *m, const ptx_module *p, const char **failed)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->functions; i++) {
        if (!is_wanted(&p->function[i])) continue;
        *failed = p->function[i].name;
        if (!decode_body(m->functions[n++], p, &p->function[i], false)) return false;
    }
    return true;
}

/* What a kernel takes from the functions that it calls, and they from others. */
static void inherit(function *kernel, function *f)
{
    if (f->visited) return;
    f->visited = true;
    for (uint32_t i = 0; i < f->module->variable_count; i++)
        kernel->shared_used[i] |= f->shared_used[i];
    kernel->asks_cluster |= f->asks_cluster;
    if (f->unsupported_text && !kernel->lacking) kernel->lacking = f;
    for (uint32_t i = 0; i < f->callees; i++) inherit(kernel, f->callee[i]);
}

static void settle_kernel(function *kernel)
{
    module *m = kernel->module;
    for (uint32_t i = 0; i < m->function_count; i++) m->functions[i]->visited = false;
    inherit(kernel, kernel);
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const variable *v = &m->variables[i];
        if (v->space != SPACE_SHARED || v->external || !kernel->shared_used[i]) continue;
        uint32_t *bytes = &kernel->facts.static_shared_bytes;
        *bytes = align(*bytes, v->alignment) + (uint32_t)v->bytes;
    }
}

/* ---- instrumented copies --------------------------------------------------------------------- */

static bool make_instrumented(module *m, function *f, const ptx_module *p, const ptx_function *from)
{
    function *copy = f->instrumented = decode_header(m, from);
    copy->first_instruction = m->instruction_count;
    if (!decode_body(copy, p, from, true)) return false;
    copy->instructions = m->instruction_count - copy->first_instruction;
    copy->facts = f->facts;
    copy->calls = f->calls;
    memcpy(copy->shared_used, f->shared_used, m->variable_count);
    return true;
}

bool module_instrument(module *m)
{
    if (m->is_instrumented) return true;
    ptx_module *p = ptx_parse(m->text, m->text_bytes);
    bool done = true;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->functions && done; i++) {
        if (!is_wanted(&p->function[i])) continue;
        done = make_instrumented(m, m->functions[n++], p, &p->function[i]);
    }
    ptx_free(p);
    return m->is_instrumented = done;
}

/* ---- loading --------------------------------------------------------------------------------- */

static void free_function(function *f)
{
    if (!f) return;
    free_function(f->instrumented);
    for (uint32_t i = 0; i < f->ops; i++) {
        if (f->code[i].run == run_jump_table) free((void *)f->code[i].extra);
    }
    free(f->name);
    free(f->code);
    free(f->callee);
    free(f->shared_used);
    free(f->watches);
    free(f->unsupported_text);
    free(f);
}

static void release_globals(module *m)
{
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const variable *v = &m->variables[i];
        if (v->space != SPACE_SHARED && v->address && !v->placed)
            release_range(m->device, v->address);
    }
}

void module_free(module *m)
{
    if (!m) return;
    release_globals(m);
    for (uint32_t i = 0; i < m->function_count; i++) free_function(m->functions[i]);
    for (uint32_t i = 0; i < m->variable_count; i++) free(m->variables[i].name);
    for (uint32_t i = 0; i < m->file_count; i++) free(m->files[i]);
    for (uint32_t i = 0; i < m->kept_count; i++) free(m->kept[i]);
    free(m->functions);
    free(m->variables);
    free(m->files);
    free(m->kept);
    free(m->places);
    free(m->constant);
    free(m->constants);
    free(m->text);
    free(m->instructions);
    free(m);
}

static device_status build(module *m, const ptx_module *p)
{
    device *d = m->device;
    const char *failed = "";
    resolve_places(m, p);
    for (uint32_t i = 0; i < p->variables; i++) add_variable(m, &p->variable[i]);
    if (!lay_out_shared(m)) return fail(d, DEVICE_BAD_MODULE, "too much shared memory");
    if (!allocate_globals(m))
        return fail(d, DEVICE_OUT_OF_MEMORY, "no memory for module variables");
    add_headers(m, p);
    if (!decode_bodies(m, p, &failed)) {
        return fail(d, DEVICE_BAD_MODULE, "%s: a branch to an unknown label", failed);
    }
    for (uint32_t i = 0; i < p->variables; i++) {
        if (initialise(m, p, &p->variable[i])) continue;
        return fail(d, DEVICE_BAD_MODULE, "bad initialiser of '%s'", p->variable[i].name);
    }
    for (uint32_t i = 0; i < m->function_count; i++) settle_kernel(m->functions[i]);
    return DEVICE_OK;
}

static void enter(device *d, module *m, uint32_t *number)
{
    d->modules = retake(d->modules, (d->module_count + 1) * sizeof *d->modules);
    *number = d->module_count;
    d->modules[d->module_count++] = m;
    d->functions =
        retake(d->functions, (d->function_count + m->function_count) * sizeof *d->functions);
    for (uint32_t i = 0; i < m->function_count; i++)
        d->functions[d->function_count++] = m->functions[i];
}

device_status device_load(device *d, const char *ptx, size_t bytes, uint32_t *number)
{
    ptx_module *p = ptx_parse(ptx, bytes);
    if (p->error[0]) {
        fail(d, DEVICE_BAD_MODULE, "%s", p->error);
        ptx_free(p);
        return DEVICE_BAD_MODULE;
    }
    module *m = take(1, sizeof *m);
    m->device = d;
    m->version = ++d->versions;
    m->text = memcpy(take(bytes + 1, 1), ptx, bytes);
    m->text_bytes = bytes;
    device_status status = build(m, p);
    forget_placements(d);
    ptx_free(p);
    if (status == DEVICE_OK)
        enter(d, m, number);
    else
        module_free(m);
    return status;
}

static module *module_of(device *d, uint32_t number)
{
    return number < d->module_count ? d->modules[number] : NULL;
}

static uint64_t variable_bytes(const module *m)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < m->variable_count; i++)
        bytes += m->variables[i].space == SPACE_SHARED ? 0 : m->variables[i].bytes;
    return bytes;
}

uint64_t device_module_bytes(const device *d)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < d->module_count; i++)
        bytes += d->modules[i] ? variable_bytes(d->modules[i]) : 0;
    return bytes;
}

device_status device_unload(device *d, uint32_t number)
{
    module *m = module_of(d, number);
    if (!m) return fail(d, DEVICE_NOT_FOUND, "no such module");
    for (uint32_t i = 0; i < d->function_count; i++) {
        if (d->functions[i] && d->functions[i]->module == m) d->functions[i] = NULL;
    }
    d->modules[number] = NULL;
    order_forget(d); /* it may know kernels of it */
    module_free(m);
    return DEVICE_OK;
}

device_status device_function(device *d, uint32_t number, const char *name, uint32_t *function)
{
    const module *m = module_of(d, number);
    for (uint32_t i = 0; m && i < d->function_count; i++) {
        const struct function *f = d->functions[i];
        if (!f || f->module != m || !f->kernel || strcmp(f->name, name)) continue;
        *function = i;
        return DEVICE_OK;
    }
    return fail(d, DEVICE_NOT_FOUND, "no kernel '%s'", name);
}

device_status device_function_info(device *d, uint32_t number, device_function_facts *facts)
{
    if (number >= d->function_count || !d->functions[number]) {
        return fail(d, DEVICE_NOT_FOUND, "no such function");
    }
    *facts = d->functions[number]->facts;
    return DEVICE_OK;
}

device_status device_symbol(device *d, uint32_t number, const char *name, device_address *address,
                            uint64_t *bytes)
{
    const module *m = module_of(d, number);
    const variable *v = m ? find_variable(m, name) : NULL;
    if (!v || v->space == SPACE_SHARED) return fail(d, DEVICE_NOT_FOUND, "no variable '%s'", name);
    *address = v->address;
    *bytes = v->bytes;
    return DEVICE_OK;
}
