/*
 * decode.c: the syntax of one function to operations: drives the decoding of statements and has
 * what all of it shares. Statements that compute are in decode_value.c, those that touch memory in
 * decode_memory.c, those that steer lanes in decode_control.c.
 *
 * Interface
 *   decode_header, decode_body          for module.c
 *   start, set_..., push                for the other decoders
 *
 * Layout of a frame: 64 reserved bytes (offset 0 means "no operand"), results, parameters, the
 * parameters of calls, then the rows of registers (slots.c).
 */
#include <stdio.h>
#include <stdlib.h>

#include "decode.h"

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

static void append(decoder *d, const draft *x)
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

const ptx_variable *find_local(const decoder *d, const char *name, space space)
{
    for (uint32_t i = d->from->variables; i-- > 0;) {
        const ptx_variable *v = &d->from->variable[i];
        if (v->space == space && !strcmp(v->name, name)) return v;
    }
    return NULL;
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
    if (special_row(o->name, &row) && width == 4) {
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

/* Modifiers that change nothing here: denormals are kept, approximations are exact, and memory is
 * as coherent as that of the host. */
static bool ignorable(const char *part)
{
    static const char *const parts[] = {"rn",       "ftz",     "approx", "full", "uni",
                                        "volatile", "relaxed", "weak",   "gpu",  "cta",
                                        "sys",      "cluster", "nc",     "noftz"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strcmp(parts[i], part)) return true;
    }
    return false;
}

static void split_opcode(decoder *d, const char *opcode)
{
    char *copy = arena_text(d->arena, opcode, strlen(opcode)), *rest = NULL;
    d->parts = 0;
    d->name[0] = 0;
    for (char *p = strtok_r(copy, ".", &rest); p && d->parts < 16; p = strtok_r(NULL, ".", &rest)) {
        d->part[d->parts++] = p;
        if (d->parts > 1 && ignorable(p)) continue;
        size_t used = strlen(d->name);
        snprintf(d->name + used, sizeof d->name - used, "%s%s", used ? "." : "", p);
    }
}

static const struct {
    const char *base;
    decode_special *decode;
} special_statements[] = {
    {"mov", decode_move},          {"setp", decode_setp},
    {"set", decode_set},           {"testp", decode_plain},
    {"cvt", decode_cvt},           {"slct", decode_slct},
    {"addc", decode_carry},        {"subc", decode_carry},
    {"madc", decode_carry},        {"prmt", decode_prmt},
    {"ld", decode_load},           {"ldu", decode_load},
    {"st", decode_store},          {"atom", decode_atomic},
    {"red", decode_atomic},        {"cvta", decode_cvta},
    {"isspacep", decode_isspacep}, {"cp", decode_copy_async},
    {"call", decode_call},         {"bra", decode_branch},
    {"brx", decode_jump_table},    {"ret", decode_return},
    {"exit", decode_exit},         {"bar", decode_barrier},
    {"barrier", decode_barrier},   {"membar", decode_fence},
    {"fence", decode_fence},       {"shfl", decode_shuffle},
    {"vote", decode_vote},         {"match", decode_match},
    {"redux", decode_redux},       {"activemask", decode_active_mask},
    {"trap", decode_trap},         {"brkpt", decode_nothing},
    {"prefetch", decode_nothing},  {"prefetchu", decode_nothing},
    {"nanosleep", decode_nothing}, {"pmevent", decode_nothing},
    {"discard", decode_nothing},   {"applypriority", decode_nothing},
};

static decode_special *find_decoder(const decoder *d)
{
    bool flags = has_part(d, "cc") && strcmp(d->part[0], "setp");
    if (flags) return decode_carry;
    for (size_t i = 0; i < sizeof special_statements / sizeof *special_statements; i++) {
        if (!strcmp(special_statements[i].base, d->part[0])) return special_statements[i].decode;
    }
    return decode_plain;
}

/* "wmma.load.a.sync", or "call.uni expf" */
static char *describe_statement(const ptx_statement *s)
{
    char text[256];
    const char *callee = "";
    for (uint32_t i = 0; i < s->operands && !strncmp(s->opcode, "call", 4); i++) {
        if (s->operand[i].kind == PTX_SYMBOL) callee = s->operand[i].name;
    }
    snprintf(text, sizeof text, "%s%s%s", s->opcode, *callee ? " " : "", callee);
    return strdup(text);
}

static void refuse(decoder *d)
{
    draft x = start(d, run_unsupported);
    append(d, &x);
    if (d->to->unsupported_text) return;
    d->to->unsupported_text = describe_statement(d->now);
    d->to->unsupported_line = d->now->place;
}

static void decode_statement(decoder *d, const ptx_statement *s)
{
    d->now = s;
    if (s->label) {
        draft x = start(d, run_join);
        x.leader = true;
        x.label = s->label;
        append(d, &x);
        return;
    }
    split_opcode(d, s->opcode);
    d->rounding = 0;
    d->saturate = false;
    d->widenings = 0;
    uint32_t before = d->count;
    bool done = find_decoder(d)(d);
    for (uint32_t i = before; done && i < d->count; i++) done = d->drafts[i].op.run != NULL;
    if (done) return;
    d->count = before;
    refuse(d);
}

/* ---- functions ------------------------------------------------------------------------------- */

static uint32_t align(uint32_t offset, uint32_t alignment)
{
    return (offset + alignment - 1) & ~(alignment - 1);
}

static uint32_t words_of(const ptx_variable *v)
{
    return (uint32_t)(v->bytes + 3) / 4;
}

static void lay_out_kernel(function *f, const ptx_function *from)
{
    device_function_facts *facts = &f->facts;
    facts->param_count = from->params;
    for (uint32_t i = 0; i < from->params; i++) {
        const ptx_variable *v = &from->param[i];
        facts->param_offset[i] = align(facts->param_bytes, v->alignment);
        facts->param_size[i] = (uint32_t)v->bytes;
        facts->param_bytes = facts->param_offset[i] + facts->param_size[i];
    }
    facts->max_threads = from->max_threads ? from->max_threads : MAX_THREADS;
}

static void lay_out_frame(function *f, const ptx_function *from)
{
    f->register_bytes = ROW_ALIGNMENT;
    for (uint32_t i = 0; i < from->results; i++) {
        f->result_offset = f->register_bytes;
        f->result_words = words_of(&from->result[i]);
        f->register_bytes += f->result_words * LANES * 4;
    }
    for (uint32_t i = 0; !from->kernel && i < from->params && i < MAX_FORMALS; i++) {
        f->formal[i] = f->register_bytes;
        f->formal_words[i] = words_of(&from->param[i]);
        f->register_bytes += f->formal_words[i] * LANES * 4;
        f->formals++;
    }
    f->call_params = f->register_bytes;
    f->register_bytes += from->param_bytes / 4 * LANES * 4;
}

function *decode_header(module *m, const ptx_function *from)
{
    function *f = take(1, sizeof *f);
    f->name = strdup(from->name);
    plain_name(f->name, f->plain_name, sizeof f->plain_name);
    f->module = m;
    f->kernel = from->kernel;
    f->shared_used = take(m->variable_count + 1, 1);
    if (from->kernel) lay_out_kernel(f, from);
    lay_out_frame(f, from);
    f->local_bytes = from->local_bytes;
    f->facts.local_bytes = f->local_bytes;
    return f;
}

static void append_end(decoder *d)
{
    d->now = NULL;
    draft x = start(d, d->to->kernel ? run_exit : run_return);
    x.leader = !d->to->kernel;
    x.label = x.leader ? "" : NULL; /* what every `ret` of a device function branches to */
    if (d->count) x.op.line = d->drafts[d->count - 1].op.line;
    append(d, &x);
}

/* The way past a branch not taken is a place where lanes may meet, label or not. */
static void add_fall_through(decoder *d)
{
    const draft *last = &d->drafts[d->count - 1];
    if (last->op.run != run_branch || !last->op.guard) return;
    draft x = {.op = {.run = run_join, .line = last->op.line}, .target = -1, .leader = true};
    append(d, &x);
}

bool decode_body(function *f, const ptx_module *syntax, const ptx_function *from)
{
    decoder d = {.module = f->module,
                 .syntax = syntax,
                 .from = from,
                 .to = f,
                 .arena = arena_new(),
                 .registers = from->registers};
    d.width = arena_take(d.arena, 2 * (size_t)from->registers + 2); /* room to grow */
    memcpy(d.width, from->width, from->registers);
    for (uint32_t i = 0; i < from->statements; i++) {
        decode_statement(&d, &from->statement[i]);
        if (d.count) add_fall_through(&d);
    }
    append_end(&d);
    assign_slots(&d);
    bool done = flow_finish(&d);
    arena_free(d.arena);
    return done;
}
