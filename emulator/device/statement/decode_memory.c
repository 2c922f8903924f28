/*
 * decode_memory.c: statements that touch memory, and calls, whose parameters are a kind of memory.
 *
 * Interface
 *   decode_load, decode_store, decode_atomic, decode_cvta, decode_isspacep, decode_call
 *   space_named, set_address            for decode_async.c
 */
#include <stdlib.h>

#include "statement.h"

space space_named(const decoder *d)
{
    static const struct {
        const char *name;
        space space;
    } names[] = {{"global", SPACE_GLOBAL},      {"shared", SPACE_SHARED},
                 {"shared::cta", SPACE_SHARED}, {"shared::cluster", SPACE_SHARED},
                 {"local", SPACE_LOCAL},        {"const", SPACE_CONST},
                 {"param", SPACE_PARAM},        {"param::entry", SPACE_PARAM},
                 {"param::func", SPACE_PARAM}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (has_part(d, names[i].name)) return names[i].space;
    }
    return SPACE_GENERIC;
}

bool set_address(decoder *d, draft *x, const ptx_operand *memory)
{
    if (memory->kind != PTX_MEMORY) return false;
    const ptx_operand *base = &memory->item[0];
    x->op.offset = (int64_t)memory->number;
    const ptx_variable *local = base->kind == PTX_SYMBOL ? find_local(d, base, SPACE_LOCAL) : NULL;
    if (base->kind == PTX_REGISTER) {
        x->op.narrow = d->width[base->reg] == 4;
        set_read(d, x, FIELD_A, base, x->op.narrow ? 4 : 8);
    } else if (local) {
        uint32_t address = new_register(d, 8);
        draft take = start(d, run_local_address);
        take.op.size = 8;
        take.op.offset = local->offset;
        set_register(&take, FIELD_D, address, true);
        push(d, &take);
        set_register(x, FIELD_A, address, false);
    } else {
        set_read(d, x, FIELD_A, base, 8);
    }
    return x->op.run != NULL;
}

static uint8_t width_of(const decoder *d, const ptx_operand *o, int bytes)
{
    return o->kind == PTX_REGISTER ? d->width[o->reg] : register_width(bytes);
}

/* ---- parameters of calls: rows of the frame -------------------------------------------------- */

typedef struct param_row {
    uint32_t base;   /* offset in the frame */
    uint32_t bytes;  /* size of the parameter */
    uint32_t offset; /* bytes into it */
} param_row;

static bool find_param(const decoder *d, const ptx_operand *symbol, param_row *p)
{
    const function *f = d->to;
    const ptx_variable *v = find_local(d, symbol, SPACE_PARAM);
    const char *name = symbol->name;
    if (v) {
        p->base = f->call_params + v->offset / 4 * LANES * 4;
        p->bytes = (uint32_t)v->bytes;
        return true;
    }
    for (uint32_t i = 0; i < f->formals; i++) {
        if (strcmp(d->from->param[i].name, name)) continue;
        p->base = f->formal[i];
        p->bytes = 4 * f->formal_words[i];
        return true;
    }
    p->base = f->result_offset;
    p->bytes = 4 * f->result_words;
    return d->from->results && !strcmp(d->from->result[0].name, name);
}

static void push_param_access(decoder *d, const param_row *p, const ptx_operand *value, int bytes,
                              bool load)
{
    draft x = start(d, load ? run_param_load : run_param_store);
    x.op.size = (uint8_t)bytes;
    x.op.variant = last_part(d)[0] == 's';
    x.op.a = OPERAND(BANK_REGISTERS, p->base + p->offset / 4 * LANES * 4);
    x.op.offset = p->offset % 4;
    uint8_t width = register_width(bytes);
    if (load)
        set_write(d, &x, FIELD_D, value, width, x.op.variant);
    else
        set_read(d, &x, FIELD_B, value, width);
    push(d, &x);
}

static bool decode_param_access(decoder *d, const ptx_operand *memory, const ptx_operand *value,
                                bool load)
{
    param_row p;
    if (memory->kind != PTX_MEMORY) return false;
    const ptx_operand *base = &memory->item[0];
    if (base->kind != PTX_SYMBOL || !find_param(d, base, &p)) return false;
    int bytes = type_size(last_part(d));
    if (bytes < 1 || bytes > 8) return false;
    bool vector = value->kind == PTX_LIST;
    for (uint32_t i = 0; i < (vector ? value->items : 1); i++) {
        p.offset = (uint32_t)memory->number + i * (uint32_t)bytes;
        if (p.offset >= p.bytes || (uint32_t)bytes > p.bytes - p.offset) return false;
        push_param_access(d, &p, vector ? &value->item[i] : value, bytes, load);
    }
    return true;
}

/* ---- loads, stores, atomics ------------------------------------------------------------------ */

static strength strength_of(const decoder *d)
{
    static const char *const atomic[] = {"relaxed", "acquire", "release", "acq_rel"};
    for (size_t i = 0; i < sizeof atomic / sizeof *atomic; i++) {
        if (has_part(d, atomic[i])) return STRENGTH_ATOMIC;
    }
    return has_part(d, "volatile") ? STRENGTH_VOLATILE : STRENGTH_PLAIN;
}

/* An access that releases is a fence and the access. */
static bool releases(const decoder *d)
{
    return has_part(d, "release") || has_part(d, "acq_rel") || has_part(d, "sc");
}

static bool start_access(decoder *d, draft *x, handler *run, const ptx_operand *memory)
{
    int bytes = type_size(last_part(d));
    if (bytes < 1 || bytes > 8) return false;
    if (releases(d)) decode_fence(d);
    *x = start(d, run);
    x->accesses = true;
    x->op.size = (uint8_t)bytes;
    x->op.variant = (uint8_t)last_part(d)[0];
    x->op.count = has_part(d, "v4") ? 4 : has_part(d, "v2") ? 2 : 1;
    x->op.space = space_named(d);
    if (x->op.space == SPACE_PARAM && !d->from->kernel) x->op.space = SPACE_LOCAL; /* its home */
    x->op.is_atomic = run == run_atomic;
    x->op.strength = x->op.is_atomic ? STRENGTH_ATOMIC : strength_of(d);
    x->op.in_block = x->op.is_atomic && has_part(d, "cta");
    x->op.in_system = has_part(d, "sys") || has_part(d, "volatile");
    return set_address(d, x, memory);
}

static bool set_values(decoder *d, draft *x, const ptx_operand *value, bool load)
{
    bool vector = value->kind == PTX_LIST;
    if (vector ? value->items != x->op.count : x->op.count != 1) return false;
    const ptx_operand *first = vector ? value->item : value;
    uint8_t width = width_of(d, first, x->op.size);
    x->op.extra = find_mover(load, x->op.size, last_part(d)[0] == 's', width);
    x->op.width = width;
    for (uint32_t i = 0; i < x->op.count; i++) {
        if (load)
            set_write(d, x, FIELD_D + i, &first[i], width, false);
        else
            set_read(d, x, FIELD_D + i, &first[i], width);
    }
    return x->op.extra != NULL;
}

/* Handlers for the commonest accesses, which know more when they are compiled. */
static handler *fitting_handler(const op *o, bool load)
{
    bool global = o->space == SPACE_GLOBAL && !o->narrow,
         shared = o->space == SPACE_SHARED && o->narrow;
    if (shared && o->strength != STRENGTH_PLAIN) return load ? run_load : run_store;
    bool word = o->size == 4 && o->count == 1 && o->width == 4;
    if (!global && !shared) return load ? run_load : run_store;
    if (!load && word && shared) return run_store_shared_word;
    if (!load) return global ? run_store_global : run_store_shared;
    if (word) return global ? run_load_global_word : run_load_shared_word;
    return global ? run_load_global : run_load_shared;
}

void push_formal_copy(decoder *d, uint32_t row, uint32_t home)
{
    uint32_t value = new_register(d, 4), address = new_register(d, 8);
    draft load = start(d, run_param_load), take = start(d, run_local_address);
    load.op.size = 4;
    load.op.a = OPERAND(BANK_REGISTERS, row);
    set_register(&load, FIELD_D, value, true);
    push(d, &load);
    take.op.size = 8;
    take.op.offset = home;
    set_register(&take, FIELD_D, address, true);
    push(d, &take);
    draft store = start(d, run_store);
    store.accesses = true;
    store.op.size = store.op.width = 4;
    store.op.count = 1;
    store.op.space = SPACE_LOCAL;
    store.op.extra = find_mover(false, 4, false, 4);
    set_register(&store, FIELD_A, address, false);
    set_register(&store, FIELD_D, value, false);
    push(d, &store);
}

static bool decode_access(decoder *d, const ptx_operand *memory, const ptx_operand *value,
                          bool load)
{
    if (memory->kind != PTX_MEMORY) return false;
    if (space_named(d) == SPACE_PARAM && decode_param_access(d, memory, value, load)) return true;
    draft x;
    if (!start_access(d, &x, run_load, memory) || !set_values(d, &x, value, load)) return false;
    if (x.op.space == SPACE_CONST) x.op.space = SPACE_GLOBAL;
    x.op.is_load = load;
    x.op.read_only = load && has_part(d, "nc");
    if (x.op.run) x.op.run = fitting_handler(&x.op, load);
    push(d, &x);
    return true;
}

bool decode_load(decoder *d)
{
    const ptx_statement *s = d->now;
    return s->operands >= 2 && decode_access(d, &s->operand[1], &s->operand[0], true);
}

bool decode_store(decoder *d)
{
    const ptx_statement *s = d->now;
    if (has_part(d, "async")) return decode_store_async(d);
    return s->operands >= 2 && decode_access(d, &s->operand[0], &s->operand[1], false);
}

static const char *atomic_name(const decoder *d)
{
    static const char *const names[] = {"add", "min",  "max", "and", "or",
                                        "xor", "exch", "cas", "inc", "dec"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (has_part(d, names[i])) return names[i];
    }
    return "";
}

bool decode_atomic(decoder *d)
{
    const ptx_statement *s = d->now;
    bool returns = !strcmp(d->part[0], "atom");
    const ptx_operand *from = &s->operand[returns];
    if (has_part(d, "async")) return !returns && decode_store_async(d);
    if (s->operands < 2u + returns || has_part(d, "v2") || has_part(d, "v4")) return false;
    draft x;
    if (!start_access(d, &x, run_atomic, &from[0])) return false;
    x.op.extra = (const void *)find_atomic(atomic_name(d), last_part(d));
    if (!x.op.extra) return false;
    uint8_t width = register_width(x.op.size);
    set_read(d, &x, FIELD_B, &from[1], width);
    bool compares = !strcmp(atomic_name(d), "cas");
    if (compares && s->operands < 3u + returns) return false;
    if (compares)
        set_read(d, &x, FIELD_C, &from[2], width);
    else
        x.op.c = x.op.b, x.reads |= (uint16_t)((x.reads >> FIELD_B & 1) << FIELD_C);
    if (returns) set_write(d, &x, FIELD_D, &s->operand[0], width, false);
    push(d, &x);
    return true;
}

/* ---- addresses ------------------------------------------------------------------------------- */

bool decode_cvta(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands != 2 || type_size(last_part(d)) != 8) return false;
    space space = space_named(d);
    uint64_t window = space == SPACE_SHARED  ? SHARED_WINDOW
                      : space == SPACE_LOCAL ? LOCAL_WINDOW
                      : space == SPACE_PARAM ? PARAM_WINDOW
                                             : 0;
    draft x = start(d, rule_find("add.u64")->run);
    set_read(d, &x, FIELD_A, &s->operand[1], 8);
    set_constant(d, &x, FIELD_B, has_part(d, "to") ? -window : window, 8);
    set_write(d, &x, FIELD_D, &s->operand[0], 8, false);
    push(d, &x);
    return true;
}

bool decode_isspacep(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands != 2) return false;
    draft x = start(d, run_is_space);
    x.op.space = space_named(d);
    x.op.variant = has_part(d, "shared::cluster");
    set_read(d, &x, FIELD_A, &s->operand[1], 8);
    set_write(d, &x, FIELD_D, &s->operand[0], PREDICATE, false);
    push(d, &x);
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static function *find_function(const module *m, const char *name)
{
    for (uint32_t i = 0; i < m->function_count; i++) {
        if (!strcmp(m->functions[i]->name, name)) return m->functions[i];
    }
    return NULL;
}

static void add_callee(function *f, function *callee)
{
    f->calls = true;
    f->callee = retake(f->callee, (f->callees + 1) * sizeof *f->callee);
    f->callee[f->callees++] = callee;
}

/* Where the parameters lie: in the caller as their declarations say, in the callee (if known) as
 * its header says. An unknown callee, called through a pointer, is asked when the call runs. */
static bool lay_out_call(const decoder *d, call *c, const ptx_operand *arguments,
                         const ptx_operand *results)
{
    param_row p;
    for (uint32_t i = 0; arguments && i < arguments->items; i++) {
        const ptx_operand *a = &arguments->item[i];
        if (i == MAX_FORMALS || a->kind != PTX_SYMBOL || !find_param(d, a, &p)) return false;
        c->argument_words[c->arguments] = (p.bytes + 3) / 4;
        c->argument[c->arguments++] = OPERAND(BANK_REGISTERS, p.base);
    }
    c->has_result = results && results->items;
    if (!c->has_result) return true;
    if (results->item[0].kind != PTX_SYMBOL || !find_param(d, &results->item[0], &p)) return false;
    c->result = OPERAND(BANK_REGISTERS, p.base);
    c->result_words = (p.bytes + 3) / 4;
    return true;
}

bool decode_call(decoder *d)
{
    const ptx_statement *s = d->now;
    uint32_t i = 0;
    const ptx_operand *results = NULL, *arguments = NULL;
    if (i < s->operands && s->operand[i].kind == PTX_LIST) results = &s->operand[i++];
    if (i == s->operands) return false;
    const ptx_operand *target = &s->operand[i++];
    if (i < s->operands && s->operand[i].kind == PTX_LIST) arguments = &s->operand[i++];
    call *c = module_keep(d->module, sizeof *c);
    if (!lay_out_call(d, c, arguments, results)) return false;
    draft x = start(d, run_call);
    x.op.is_call = true;
    x.op.extra = c;
    if (target->kind == PTX_REGISTER) {
        set_read(d, &x, FIELD_A, target, 8);
        d->to->calls = true;
    } else if (target->kind != PTX_SYMBOL) {
        return false;
    } else {
        c->callee = find_function(d->module, target->name);
        if (c->callee)
            add_callee(d->to, c->callee);
        else
            x.op.run = syscall_find(target->name);
        if (!x.op.run) x.op.run = libm_find(target->name, c);
    }
    if (!x.op.run) return false;
    push(d, &x);
    return true;
}
