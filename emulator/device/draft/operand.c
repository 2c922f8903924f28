/*
 * operand.c: operations in the making, and what their operands become: registers, rows of
 * constants, special registers.
 *
 * Interface
 *   has_part, last_part
 *   start, push, append, push_rule, new_register
 *   set_register, set_constant, set_read, set_write, next_use
 *   constant_row, find_variable, find_local, symbol_address, type_size, register_width
 */
#include <stdio.h>
#include <stdlib.h>

#include "draft.h"

/* ---- opcodes --------------------------------------------------------------------------------- */

bool has_part(const decoder *d, const char *part)
{
    for (uint32_t i = 1; i < d->parts; i++) {
        if (!strcmp(d->part[i], part)) return true;
    }
    return false;
}

const char *last_part(const decoder *d)
{
    return d->part[d->parts - 1];
}

/* ---- operations in the making ---------------------------------------------------------------- */

draft start(decoder *d, handler *run)
{
    draft x = {.op = {.run = run, .line = d->now ? d->now->place : 0}, .target = -1};
    if (d->now && d->now->guarded) {
        set_register(&x, FIELD_GUARD, d->now->guard.reg, false);
        x.op.guard_negated = d->now->guard.negated;
    }
    return x;
}

void append(decoder *d, const draft *x)
{
    d->drafts = arena_grow(d->arena, d->drafts, d->count, sizeof *d->drafts);
    d->drafts[d->count++] = *x;
}

void push(decoder *d, draft *x)
{
    append(d, x);
    uint32_t widenings = d->widenings;
    d->widenings = 0;
    for (uint32_t i = 0; i < widenings; i++) {
        uint32_t from = d->widening[i].from, to = d->widening[i].to;
        char sign = d->widening[i].is_signed ? 's' : 'u', name[32];
        snprintf(name, sizeof name, "cvt.%c%d.%c%d", sign, 8 * d->width[to], sign,
                 8 * d->width[from]);
        push_rule(d, name, to, from);
    }
}

void push_rule(decoder *d, const char *name, uint32_t to, uint32_t from)
{
    draft x = start(d, rule_find(name)->run);
    set_register(&x, FIELD_D, to, true);
    set_register(&x, FIELD_A, from, false);
    append(d, &x);
}

uint32_t new_register(decoder *d, uint8_t width)
{
    d->width = arena_grow(d->arena, d->width, d->registers, 1);
    d->width[d->registers] = width;
    return d->registers++;
}

static operand *field_of(draft *x, field f)
{
    return &x->op.d + f;
}

void set_register(draft *x, field f, uint32_t reg, bool write)
{
    *field_of(x, f) = reg;
    if (write)
        x->writes |= (uint16_t)(1u << f);
    else
        x->reads |= (uint16_t)(1u << f);
}

bool next_use(draft *x, uint32_t *i, use *u)
{
    for (; *i < FIELDS; ++*i) {
        *u = (use){field_of(x, *i), x->reads >> *i & 1, x->writes >> *i & 1};
        if (u->reads || u->writes) return ++*i;
    }
    for (; x->more && *i < FIELDS + x->more_count; ++*i) {
        uint32_t k = *i - FIELDS;
        *u = (use){&x->more[k], x->more_reads[k / 64] >> k % 64 & 1,
                   x->more_writes[k / 64] >> k % 64 & 1};
        if (u->reads || u->writes) return ++*i;
    }
    return false;
}

void set_constant(decoder *d, draft *x, field f, uint64_t value, uint8_t width)
{
    *field_of(x, f) = constant_row(d->module, value, width);
}

/* ---- constants ------------------------------------------------------------------------------- */

static bool holds(const uint8_t *row, uint64_t value, uint8_t width)
{
    return !memcmp(row, &value, width) && !memcmp(row + (LANES - 1) * width, &value, width);
}

/* Rows of 16, 32 and 64 bits lie mixed; the list of them is short enough to be searched. */
operand constant_row(module *m, uint64_t value, uint8_t width)
{
    if (width == PREDICATE) value = value & 1 ? UINT32_MAX : 0;
    uint8_t element = width == PREDICATE ? 4 : width;
    for (uint32_t i = 0; i < m->constant_count; i++) {
        const constant *c = &m->constant[i];
        if (c->width == width && holds(m->constants + c->offset, value, element)) {
            return OPERAND(BANK_CONSTANTS, c->offset);
        }
    }
    uint32_t bytes = (uint32_t)element * LANES;
    if (m->constant_bytes + bytes > m->constant_capacity) {
        m->constant_capacity = 2 * m->constant_capacity + 16384;
        uint8_t *bigger = aligned_alloc(ROW_ALIGNMENT, m->constant_capacity);
        if (!bigger) abort();
        if (m->constant_bytes) memcpy(bigger, m->constants, m->constant_bytes);
        free(m->constants);
        m->constants = bigger;
    }
    uint32_t offset = (uint32_t)m->constant_bytes;
    for (uint32_t i = 0; i < LANES; i++)
        memcpy(m->constants + offset + i * element, &value, element);
    m->constant_bytes += bytes;
    m->constant = retake(m->constant, (m->constant_count + 1) * sizeof *m->constant);
    m->constant[m->constant_count++] = (constant){offset, width};
    return OPERAND(BANK_CONSTANTS, offset);
}

/* ---- names ----------------------------------------------------------------------------------- */

variable *find_variable(const module *m, const char *name)
{
    for (uint32_t i = 0; i < m->variable_count; i++) {
        if (!strcmp(m->variables[i].name, name)) return &m->variables[i];
    }
    return NULL;
}

const ptx_variable *find_local(const decoder *d, const ptx_operand *symbol, space space)
{
    if (symbol->kind != PTX_SYMBOL || !symbol->local) return NULL;
    const ptx_variable *v = &d->from->variable[symbol->local - 1];
    return v->space == space ? v : NULL;
}

static bool kernel_param(const decoder *d, const char *name, uint64_t *address)
{
    for (uint32_t i = 0; d->from->kernel && i < d->from->params; i++) {
        if (strcmp(d->from->param[i].name, name)) continue;
        *address = d->to->facts.param_offset[i];
        return true;
    }
    return false;
}

static bool function_address(const decoder *d, const char *name, uint64_t *address)
{
    for (uint32_t i = 0; i < d->module->function_count; i++) {
        if (strcmp(d->module->functions[i]->name, name)) continue;
        *address = FUNCTION_WINDOW + 16 * (uint64_t)(i + 1);
        return true;
    }
    return false;
}

bool symbol_address(const decoder *d, const ptx_operand *o, uint64_t *address)
{
    if (o->kind != PTX_SYMBOL) return false;
    variable *v = find_variable(d->module, o->name);
    if (v && v->space == SPACE_SHARED) {
        d->to->shared_used[v - d->module->variables] = true;
    }
    if (v)
        *address = v->address;
    else if (!kernel_param(d, o->name, address) && !function_address(d, o->name, address))
        return false;
    *address += o->number;
    return true;
}

int type_size(const char *type)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"pred", 0}, {"b8", 1},    {"u8", 1},     {"s8", 1},   {"b16", 2}, {"u16", 2},
                 {"s16", 2},  {"f16", 2},   {"bf16", 2},   {"b32", 4},  {"u32", 4}, {"s32", 4},
                 {"f32", 4},  {"f16x2", 4}, {"bf16x2", 4}, {"tf32", 4}, {"b64", 8}, {"u64", 8},
                 {"s64", 8},  {"f64", 8},   {"b128", 16}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!strcmp(types[i].name, type)) return types[i].bytes;
    }
    return -1;
}

uint8_t register_width(int bytes)
{
    return bytes == 1 ? 2 : (uint8_t)bytes;
}

/* ---- operands -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bank bank;
    uint32_t row;
} specials[] = {
    {"%ctaid.x", BANK_BLOCK, 0},
    {"%ctaid.y", BANK_BLOCK, 1},
    {"%ctaid.z", BANK_BLOCK, 2},
    {"%ntid.x", BANK_BLOCK, 3},
    {"%ntid.y", BANK_BLOCK, 4},
    {"%ntid.z", BANK_BLOCK, 5},
    {"%nctaid.x", BANK_BLOCK, 6},
    {"%nctaid.y", BANK_BLOCK, 7},
    {"%nctaid.z", BANK_BLOCK, 8},
    {"%nwarpid", BANK_BLOCK, 9},
    {"%smid", BANK_BLOCK, 10},
    {"%nsmid", BANK_BLOCK, 11},
    {"%gridid", BANK_BLOCK, 10},
    {"%dynamic_smem_size", BANK_BLOCK, 12},
    {"%total_smem_size", BANK_BLOCK, 13},
    {"%envreg1", BANK_BLOCK, 14}, /* the address where a cooperative grid meets: high half */
    {"%envreg2", BANK_BLOCK, 15}, /* and low half */
    {"%cluster_ctaid.x", BANK_BLOCK, 16},
    {"%cluster_ctaid.y", BANK_BLOCK, 17},
    {"%cluster_ctaid.z", BANK_BLOCK, 18},
    {"%cluster_nctaid.x", BANK_BLOCK, 19},
    {"%cluster_nctaid.y", BANK_BLOCK, 20},
    {"%cluster_nctaid.z", BANK_BLOCK, 21},
    {"%clusterid.x", BANK_BLOCK, 22},
    {"%clusterid.y", BANK_BLOCK, 23},
    {"%clusterid.z", BANK_BLOCK, 24},
    {"%nclusterid.x", BANK_BLOCK, 25},
    {"%nclusterid.y", BANK_BLOCK, 26},
    {"%nclusterid.z", BANK_BLOCK, 27},
    {"%cluster_ctarank", BANK_BLOCK, 28},
    {"%cluster_nctarank", BANK_BLOCK, 29},
    {"%is_explicit_cluster", BANK_BLOCK, 30}, /* a predicate */
    {"%tid.x", BANK_WARP, 0},
    {"%tid.y", BANK_WARP, 1},
    {"%tid.z", BANK_WARP, 2},
    {"%laneid", BANK_WARP, 3},
    {"%warpid", BANK_WARP, 4},
    {"%lanemask_eq", BANK_WARP, 5},
    {"%lanemask_le", BANK_WARP, 6},
    {"%lanemask_lt", BANK_WARP, 7},
    {"%lanemask_ge", BANK_WARP, 8},
    {"%lanemask_gt", BANK_WARP, 9},
};

static bool special_row(const char *name, operand *row)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (strcmp(specials[i].name, name)) continue;
        *row = OPERAND(specials[i].bank, specials[i].row * LANES * 4);
        return true;
    }
    return false;
}

/* A register of another width goes through a temporary: cvt.u32.u8 may name a 32-bit source. */
static uint32_t resized(decoder *d, uint32_t reg, uint8_t width)
{
    uint8_t from = d->width[reg];
    if (from == width || from == PREDICATE || width == PREDICATE) return reg;
    char name[32];
    snprintf(name, sizeof name, "cvt.u%d.u%d", 8 * width, 8 * from);
    uint32_t narrow = new_register(d, width);
    push_rule(d, name, narrow, reg);
    return narrow;
}

static uint32_t inverted(decoder *d, uint32_t reg)
{
    uint32_t inverse = new_register(d, PREDICATE);
    draft x = start(d, rule_find("not.pred")->run);
    set_register(&x, FIELD_D, inverse, true);
    set_register(&x, FIELD_A, reg, false);
    set_constant(d, &x, FIELD_B, 0, PREDICATE);
    append(d, &x);
    return inverse;
}

static uint64_t number_bits(const ptx_operand *o, uint8_t width)
{
    if (!o->floating || width != 4) return o->number;
    double value;
    memcpy(&value, &o->number, sizeof value);
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static void set_symbol(decoder *d, draft *x, field f, const ptx_operand *o, uint8_t width)
{
    operand row;
    uint64_t address;
    if (!strcmp(o->name, "%envreg2")) d->to->asks_grid = true;
    if (strstr(o->name, "cluster")) d->to->asks_cluster |= o->name[0] == '%';
    bool predicate = !strcmp(o->name, "%is_explicit_cluster");
    if (special_row(o->name, &row) && width == (predicate ? PREDICATE : 4)) {
        *field_of(x, f) = row;
    } else if (special_row(o->name, &row)) {
        uint32_t copy = new_register(d, 4);
        draft move = start(d, rule_find("mov.b32")->run);
        set_register(&move, FIELD_D, copy, true);
        move.op.a = row;
        append(d, &move);
        set_register(x, f, resized(d, copy, width), false);
    } else if (!strcmp(o->name, "WARP_SZ")) {
        set_constant(d, x, f, LANES, width);
    } else if (symbol_address(d, o, &address)) {
        set_constant(d, x, f, address, width);
    } else {
        x->op.run = NULL;
    }
}

/* A draft whose operand makes no sense loses its handler; decode_statement sees to that. */
void set_read(decoder *d, draft *x, field f, const ptx_operand *o, uint8_t width)
{
    if (o->kind == PTX_REGISTER) {
        uint32_t reg = resized(d, o->reg, width);
        set_register(x, f, o->negated ? inverted(d, reg) : reg, false);
        if ((d->width[reg] == PREDICATE) != (width == PREDICATE)) x->op.run = NULL;
    } else if (o->kind == PTX_NUMBER) {
        set_constant(d, x, f, number_bits(o, width), width);
    } else if (o->kind == PTX_SYMBOL) {
        set_symbol(d, x, f, o, width);
    } else {
        x->op.run = NULL;
    }
}

void set_write(decoder *d, draft *x, field f, const ptx_operand *o, uint8_t width, bool is_signed)
{
    if (o->kind == PTX_SINK) {
        set_register(x, f, new_register(d, width), true);
        return;
    }
    if (o->kind != PTX_REGISTER) {
        x->op.run = NULL;
        return;
    }
    uint8_t has = d->width[o->reg];
    if (has == width) {
        set_register(x, f, o->reg, true);
    } else if (has == PREDICATE || width == PREDICATE || d->widenings == MAX_OPERANDS) {
        x->op.run = NULL;
    } else {
        uint32_t narrow = new_register(d, width);
        set_register(x, f, narrow, true);
        d->widening[d->widenings].from = narrow;
        d->widening[d->widenings].to = o->reg;
        d->widening[d->widenings++].is_signed = is_signed;
    }
}
