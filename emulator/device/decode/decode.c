/*
 * decode.c: the syntax of one function to operations. Its statements are decoded in
 * statement/.
 *
 * Interface
 *   decode_header, decode_body          for module.c
 *
 * Layout of a frame: 64 reserved bytes (offset 0 means "no operand"), results, parameters, the
 * parameters of calls, then the rows of registers (registers.c).
 */
#include <stdio.h>
#include <stdlib.h>

#include "decode.h"
#include "device/analysis/analysis.h"
#include "device/fusion/fusion.h"
#include "device/residency.h"
#include "device/statement/statement.h"

/* ---- opcodes --------------------------------------------------------------------------------- */

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

/* @return false: it is beyond the device */
static bool decode_by_opcode(decoder *d)
{
    d->opcode = opcode_find(d->part[0]);
    if (!d->opcode) return false;
    bool flags = has_part(d, "cc") && strcmp(d->part[0], "setp");
    return flags ? decode_carry(d) : d->opcode->decode(d);
}

/* "mma.sp.sync", "call.uni expf" or "mov.u32 %pm0" */
static char *describe_statement(const ptx_statement *s)
{
    char text[256];
    const char *name = "";
    for (uint32_t i = 0; i < s->operands; i++) {
        if (s->operand[i].kind == PTX_SYMBOL) name = s->operand[i].name;
    }
    snprintf(text, sizeof text, "%s%s%s", s->opcode, *name ? " " : "", name);
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
    bool done = decode_by_opcode(d);
    for (uint32_t i = before; done && i < d->count; i++) done = d->drafts[i].op.run != NULL;
    if (done && d->counted) add_count(d, before);
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
    memcpy(facts->cluster, from->cluster, sizeof facts->cluster);
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

/* A parameter whose address is taken lies in local memory as well. */
static void give_homes(function *f, const ptx_function *from)
{
    for (uint32_t i = 0; i < from->statements; i++) {
        const ptx_statement *s = &from->statement[i];
        if (s->operands != 2 || s->operand[1].kind != PTX_SYMBOL) continue;
        for (uint32_t k = 0; k < f->formals; k++) {
            if (f->formal_home[k] || strcmp(from->param[k].name, s->operand[1].name)) continue;
            uint32_t home = align(f->local_bytes, 16);
            f->formal_home[k] = 1 + home;
            f->local_bytes = home + 4 * f->formal_words[k];
        }
    }
}

function *decode_header(module *m, const ptx_function *from)
{
    function *f = take(1, sizeof *f);
    f->name = strdup(from->name);
    plain_name(f->name, f->plain_name, sizeof f->plain_name);
    memcpy(f->facts.name, f->plain_name, sizeof f->facts.name);
    f->module = m;
    f->kernel = from->kernel;
    f->shared_used = take(m->variable_count + 1, 1);
    if (from->kernel) lay_out_kernel(f, from);
    lay_out_frame(f, from);
    f->local_bytes = from->local_bytes;
    give_homes(f, from);
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

/* ptxas spills rather than use more than a block of .maxntid threads leaves to each of them; a warp
 * has them by the unit. */
static void bound_registers(device_function_facts *facts, uint32_t max_threads)
{
    if (max_threads == 0) return;
    uint32_t threads = (uint32_t)units(max_threads, WARP_SIZE), each = REGISTER_UNIT / WARP_SIZE;
    facts->registers = (uint32_t)least(facts->registers, SM_REGISTERS / threads / each * each);
}

/* As ptxas chooses: what it may, but no more than the largest setmaxnreg.inc asks for. */
static void find_entry_registers(device_function_facts *facts, const ptx_function *from)
{
    uint32_t most = from->max_registers, asked = facts->entry_registers;
    if (!most && from->max_threads && from->min_blocks)
        most = SM_REGISTERS / (uint32_t)units(from->max_threads, WARP_SIZE) / from->min_blocks /
               REGISTER_STEP * REGISTER_STEP;
    facts->entry_registers = (uint32_t)least(most, asked ? asked : MOST_REGISTERS);
}

bool decode_body(function *f, const ptx_module *syntax, const ptx_function *from, bool counted)
{
    decoder d = {.module = f->module,
                 .syntax = syntax,
                 .from = from,
                 .to = f,
                 .arena = arena_new(),
                 .registers = from->registers,
                 .counted = counted};
    d.width = arena_take(d.arena, 2 * (size_t)from->registers + 2); /* room to grow */
    memcpy(d.width, from->width, from->registers);
    for (uint32_t i = 0; i < from->statements; i++) {
        decode_statement(&d, &from->statement[i]);
        if (d.count) add_fall_through(&d);
    }
    append_end(&d);
    if (counted) settle_counts(&d);
    watch_wgmma(&d);
    flow_turn(&d);
    mark_cas_loops(&d);
    gather_loads(&d);
    mark_stride_classes(&d);
    mark_origins(&d);
    mark_uniform(&d);
    fuse_loads(&d);
    assign_registers(&d);
    bound_registers(&d.to->facts, from->max_threads);
    find_entry_registers(&d.to->facts, from);
    bool done = flow_finish(&d);
    arena_free(d.arena);
    return done;
}
