/*
 * site.c: what a statement of PTX is, to who counts; and the counting operation before it.
 *
 * Interface
 *   add_count, settle_counts
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/counts/count.h"
#include "decode.h"

/* ---- classes --------------------------------------------------------------------------------- */

static const struct {
    const char *base;
    device_class class;
} classes[] = {
    {"bra", CLASS_CONTROL},    {"brx", CLASS_CONTROL},     {"call", CLASS_CONTROL},
    {"ret", CLASS_CONTROL},    {"exit", CLASS_CONTROL},    {"trap", CLASS_CONTROL},
    {"brkpt", CLASS_CONTROL},  {"bar", CLASS_WARP},        {"barrier", CLASS_WARP},
    {"shfl", CLASS_WARP},      {"vote", CLASS_WARP},       {"match", CLASS_WARP},
    {"redux", CLASS_WARP},     {"membar", CLASS_WARP},     {"fence", CLASS_WARP},
    {"mbarrier", CLASS_WARP},  {"activemask", CLASS_WARP}, {"elect", CLASS_WARP},
    {"nanosleep", CLASS_WARP}, {"ld", CLASS_MEMORY},       {"ldu", CLASS_MEMORY},
    {"st", CLASS_MEMORY},      {"atom", CLASS_MEMORY},     {"red", CLASS_MEMORY},
    {"cp", CLASS_MEMORY},      {"prefetch", CLASS_MEMORY}, {"prefetchu", CLASS_MEMORY},
    {"discard", CLASS_MEMORY}, {"ldmatrix", CLASS_MEMORY}, {"stmatrix", CLASS_MEMORY},
    {"mov", CLASS_MOVE},       {"selp", CLASS_MOVE},       {"cvta", CLASS_MOVE},
    {"prmt", CLASS_MOVE},      {"isspacep", CLASS_MOVE},   {"movmatrix", CLASS_WARP},
    {"cvt", CLASS_CONVERT},    {"mma", CLASS_TENSOR},
};

/* wmma.load and wmma.store move memory, wmma.mma computes. */
static device_class class_of(const decoder *d)
{
    const char *base = d->part[0], *type = last_part(d);
    if (!strcmp(base, "wmma")) return has_part(d, "mma") ? CLASS_TENSOR : CLASS_MEMORY;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (!strcmp(classes[i].base, base)) return classes[i].class;
    }
    if (!strcmp(type, "pred")) return CLASS_MOVE;
    if (!strcmp(type, "f64")) return CLASS_DOUBLE;
    return type[0] == 'f' || !strncmp(type, "bf", 2) ? CLASS_FLOAT : CLASS_INTEGER;
}

/* ---- floating-point operations --------------------------------------------------------------- */

static const struct {
    const char *base;
    uint32_t operations;
} arithmetic[] = {{"add", 1}, {"sub", 1}, {"mul", 1},  {"fma", 2},   {"mad", 2},
                  {"div", 1}, {"rcp", 1}, {"sqrt", 1}, {"rsqrt", 1}, {"sin", 1},
                  {"cos", 1}, {"ex2", 1}, {"lg2", 1},  {"tanh", 1}};

/* m16n8k16: each of the 32 lanes does its share of 2 m n k. */
static uint32_t tensor_operations(const decoder *d)
{
    unsigned m, n, k;
    bool floating = !strstr(d->now->opcode, ".s32");
    for (uint32_t i = 1; i < d->parts; i++) {
        if (sscanf(d->part[i], "m%un%uk%u", &m, &n, &k) == 3)
            return floating ? 2 * m * n * k / LANES : 0;
    }
    return 0;
}

static uint32_t operations_of(const decoder *d, device_class class)
{
    if (class == CLASS_TENSOR) return tensor_operations(d);
    if (class != CLASS_FLOAT && class != CLASS_DOUBLE) return 0;
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
        if (strcmp(arithmetic[i].base, d->part[0])) continue;
        return arithmetic[i].operations * (strstr(last_part(d), "x2") ? 2 : 1);
    }
    return 0;
}

/* ---- sites ----------------------------------------------------------------------------------- */

static uint32_t add_site(decoder *d, traffic traffic, bool instruction)
{
    module *m = d->module;
    m->sites = retake(m->sites, (m->site_count + 1) * sizeof *m->sites);
    site *s = &m->sites[m->site_count];
    device_class class = class_of(d);
    bool barrier = !strcmp(d->part[0], "bar") || !strcmp(d->part[0], "barrier");
    *s = (site){.line = d->now->place, .class = (uint8_t) class, .traffic = (uint8_t)traffic};
    snprintf(s->opcode, sizeof s->opcode, "%s", d->now->opcode);
    if (instruction) s->operations = operations_of(d, class);
    s->barrier = instruction && barrier && !has_part(d, "warp");
    return m->site_count++;
}

/** How the access of a draft is counted. */
typedef struct access {
    handler *run;
    traffic traffic;
} access;

static bool moves_fragment(const draft *x)
{
    return x->op.run == run_fragment_load || x->op.run == run_fragment_store;
}

static access access_of(const decoder *d, const draft *x)
{
    if (x->op.run == run_copy_async) return (access){run_count_async, TRAFFIC_GLOBAL_LOAD};
    if (x->op.run == run_ldmatrix) return (access){run_count_ldmatrix, TRAFFIC_SHARED_LOAD};
    bool atomic = x->op.run == run_atomic;
    int kind = atomic ? 2 : x->op.is_load ? 0 : 1; /* in the order of `traffic` */
    switch (x->op.space) {
    case SPACE_GLOBAL:
        if (has_part(d, "const")) break;
        return (access){run_count_global, TRAFFIC_GLOBAL_LOAD + kind};
    case SPACE_SHARED: return (access){run_count_shared, TRAFFIC_SHARED_LOAD + kind};
    case SPACE_LOCAL: return (access){run_count_local, TRAFFIC_LOCAL_LOAD + kind};
    case SPACE_GENERIC: return (access){run_count_generic, TRAFFIC_GLOBAL_LOAD + kind};
    }
    return (access){run_count, TRAFFIC_NONE};
}

static uint32_t find_access(const decoder *d, uint32_t first)
{
    for (uint32_t i = first; i < d->count; i++) {
        const draft *x = &d->drafts[i];
        if (x->accesses || x->op.run == run_ldmatrix || moves_fragment(x)) return i;
    }
    return d->count;
}

/* The same operands, but for those that hold values. */
static draft draft_like(const draft *x)
{
    draft y = *x;
    uint16_t addresses = 1u << FIELD_A | 1u << FIELD_GUARD;
    if (x->op.run == run_copy_async)
        addresses = 1u << FIELD_B | 1u << FIELD_C | 1u << FIELD_E | 1u << FIELD_GUARD;
    if (moves_fragment(x)) addresses |= 1u << FIELD_B; /* the stride */
    y.reads &= addresses;
    y.writes = 0;
    y.more_reads = y.more_writes = 0;
    y.accesses = false;
    y.op.is_load = false;
    y.op.variant = x->op.run == run_atomic ? PATTERN_ATOMIC
                   : x->op.is_load         ? PATTERN_LOAD
                                           : PATTERN_STORE;
    return y;
}

/* atom.shared.add.u32 r, [p], 1: a GPU counts the lanes of each word at once, if nobody reads r. */
static bool adds_one(const decoder *d, const draft *x)
{
    bool word = !strcmp(last_part(d), "u32") || !strcmp(last_part(d), "s32");
    const ptx_operand *value = &d->now->operand[d->now->operands - 1];
    return x->op.run == run_atomic && x->op.space == SPACE_SHARED && has_part(d, "add") && word &&
           value->kind == PTX_NUMBER && value->number == 1;
}

static draft count_access(decoder *d, const draft *x)
{
    draft y = draft_like(x);
    access how = access_of(d, x);
    bool generic = how.run == run_count_generic;
    y.op.used = adds_one(d, x);
    y.op.run = moves_fragment(x) ? run_count_fragment : how.run;
    y.op.site = add_site(d, how.traffic, true);
    if (!generic) return y;
    int kind = (int)how.traffic - TRAFFIC_GLOBAL_LOAD;
    add_site(d, y.op.variant == PATTERN_ATOMIC ? TRAFFIC_NONE : TRAFFIC_LOCAL_LOAD + kind, false);
    add_site(d, TRAFFIC_SHARED_LOAD + kind, false);
    return y;
}

static bool is_read(const decoder *d, operand reg)
{
    for (uint32_t i = 0; i < d->count; i++) {
        const draft *x = &d->drafts[i];
        for (int f = FIELD_D; f < FIELDS; f++) {
            if (x->reads >> f & 1 && (&x->op.d)[f] == reg) return true;
        }
    }
    return false;
}

/* When all statements are known: an atomic follows its counting operation. */
void settle_counts(decoder *d)
{
    for (uint32_t i = 0; i + 1 < d->count; i++) {
        draft *x = &d->drafts[i];
        const draft *atomic = x + 1;
        if (x->op.run != run_count_shared || !x->op.used) continue;
        bool read = atomic->writes >> FIELD_D & 1 && is_read(d, atomic->op.d);
        if (!read) x->op.variant = PATTERN_STORE;
    }
}

static draft count_other(decoder *d)
{
    bool branch = !strcmp(d->part[0], "bra");
    draft y = start(d, branch ? run_count_branch : run_count);
    if (branch) y.reads = 0, y.op.guard = 0;
    y.op.site = add_site(d, TRAFFIC_NONE, true);
    return y;
}

/* An access is counted right before it happens: what comes earlier computes its address. */
void add_count(decoder *d, uint32_t first)
{
    uint32_t at = find_access(d, first);
    bool access = at < d->count;
    draft x = access ? count_access(d, &d->drafts[at]) : count_other(d);
    if (!access) at = first;
    append(d, &x);
    memmove(&d->drafts[at + 1], &d->drafts[at], (d->count - 1 - at) * sizeof x);
    d->drafts[at] = x;
}
