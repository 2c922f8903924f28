/*
 * follow.c: undefined values (checks/undefined.c), followed from operation to operation: an
 * undefined operand makes the result undefined, and a use is a finding.
 *
 * Interface
 *   follow_step     runs one operation while some rows are undefined
 *
 * The list of such rows is dropped silently at any operation that this file does not understand.
 */
#include "device/base/bits.h"
#include "device/counts/count.h"
#include "device/ops/matrix.h"
#include "device/tensor/tensor.h"
#include "run.h"

static bool is_one_of(handler *run, handler *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (run == list[i]) return true;
    }
    return false;
}
#define IS(run, ...)                                                                               \
    is_one_of((run), (handler *const[]){__VA_ARGS__},                                              \
              sizeof((handler *const[]){__VA_ARGS__}) / sizeof(handler *))

static bool starts_with_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!strncmp(name, list[i], strlen(list[i]))) return true;
    }
    return false;
}
#define STARTS(name, ...)                                                                          \
    starts_with_one_of((name), (const char *const[]){__VA_ARGS__},                                 \
                       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* A defined operand may hide the undefined one: a bit field is put between others, a condition that
 * is false hides the next one. With a constant that cannot be meant. */
static bool hides(const op *o, const char *name)
{
    bool constant = o->a >> 30 == BANK_CONSTANTS || o->b >> 30 == BANK_CONSTANTS;
    return STARTS(name, "or.", "lop3.", "prmt.", "bfi.") || (STARTS(name, "and.") && !constant);
}

static void hand_on(warp *w, const op *o, const char *name, uint32_t mask)
{
    const operand from[] = {o->a, o->b, o->c, o->e, o->guard};
    uint32_t lanes = 0;
    operand origin = 0;
    if (rule_find("selp.b32")->run == o->run || rule_find("selp.b64")->run == o->run) {
        uint32_t p = *(const uint32_t *)row(w, o->c);
        lanes = (undefined_lanes(w, o->a) & p) | (undefined_lanes(w, o->b) & ~p) |
                undefined_lanes(w, o->c);
    } else {
        for (int i = 0; i < 5; i++) lanes |= undefined_lanes(w, from[i]);
    }
    for (int i = 0; i < 5; i++)
        if (undefined_lanes(w, from[i]) & lanes) origin = from[i];
    undefined u = {0};
    if (origin) u = *undefined_origin(w, origin);
    if (hides(o, name)) lanes = 0;
    u.raw = u.raw && STARTS(name, "mov.", "selp.", "cvt.");
    if (o->d) undefined_set(w, o->d, mask, lanes, &u);
    if (o->v[0]) undefined_set(w, o->v[0], mask, lanes, &u);
}

/* What is made of several, or several of one. */
static void hand_on_parts(warp *w, const op *o, bool packs, uint32_t mask)
{
    undefined u = {0};
    uint32_t lanes = 0;
    for (uint32_t k = 0; k < (packs ? o->count : 1u); k++) {
        operand from = (&o->a)[k];
        if (!(undefined_lanes(w, from) & mask)) continue;
        lanes |= undefined_lanes(w, from);
        u = *undefined_origin(w, from);
    }
    for (uint32_t k = 0; k < (packs ? 1u : o->count); k++)
        undefined_set(w, (&o->d)[k], mask, lanes, &u);
}

/* A result that is defined, whatever the operands. */
static void define(warp *w, const op *o, uint32_t mask)
{
    const operand to[] = {o->d, o->v[0], o->v[1], o->v[2]};
    for (int i = 0; i < 4; i++)
        if (to[i]) undefined_set(w, to[i], mask, 0, NULL);
}

static const op *stop(warp *w, const op *o)
{
    (void)w, (void)o;
    return NULL;
}

/* Handlers of values go on to the next one by themselves; here it is not the real one. An access
 * runs its own handler, not one for it and what follows. */
static const op *run_alone(warp *w, const op *o)
{
    op alone[2] = {*o, {.run = stop}};
    w->alone = true;
    if (o->inner && o->run != run_rounded) alone->run = o->inner;
    uint32_t mask = active(w, o);
    bool stores = o->run == run_watched && mask && global_shadow_access(w, o, mask);
    alone->run(w, alone);
    if (stores) global_shadow_stored(w);
    w->alone = false;
    w->unwritten.op = NULL;
    for (uint32_t i = 0; i < w->undefined_count; i++) {
        if (w->undefined[i].origin == alone) w->undefined[i].origin = o;
    }
    return o + 1;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static uint64_t address_at(const warp *w, const op *o, uint32_t lane)
{
    const void *a = row(w, o->a);
    if (o->narrow) return (uint32_t)(((const uint32_t *)a)[lane] + (uint64_t)o->offset);
    return ((const uint64_t *)a)[lane] + (uint64_t)o->offset;
}

/* Lanes of `mask` that access local memory. */
static uint32_t local_lanes(const warp *w, const op *o, uint32_t mask)
{
    if (o->space != SPACE_GENERIC) return o->space == SPACE_LOCAL ? mask : 0;
    uint32_t local = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        local |= (uint32_t)(space_of_address(address_at(w, o, i)) == SPACE_LOCAL) << i;
    }
    return local;
}

/* Another load near by, that may be of the same structure: of local memory; elsewhere, of something
 * written, by the same address. */
static bool is_company(const warp *w, const undefined *u, const op *o)
{
    if (!o->is_load || o == u->origin) return false;
    if (u->space == SPACE_LOCAL) return o->space == SPACE_LOCAL || o->space == SPACE_GENERIC;
    return o->a == u->origin->a && o->offset != u->origin->offset &&
           undefined_neighbour(w, u, o->offset - u->origin->offset, o->size * o->count);
}

static bool has_company(const warp *w, const undefined *u)
{
    const function *f = w->groups[w->current].function;
    enum { NEAR = 8 };
    for (const op *o = u->origin - NEAR; o <= u->origin + NEAR; o++)
        if (o >= f->code && o < f->code + f->ops && is_company(w, u, o)) return true;
    return false;
}

static bool only_copied(const warp *w, operand value)
{
    const undefined *u = undefined_origin(w, value);
    return u->space != SPACE_GENERIC && u->raw && (u->part || has_company(w, u));
}

static void forget_stored(warp *w, const op *o, uint32_t k, uint32_t lanes, uint32_t local)
{
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        uint64_t address = address_at(w, o, i) + k * o->size, offset = address - DEVICE_BASE;
        if (local >> i & 1)
            local_forget(w, o->space == SPACE_GENERIC ? address - LOCAL_WINDOW : address, o->size,
                         1u << i);
        else if (o->space != SPACE_SHARED && offset < DEVICE_BYTES)
            bits_clear(w->block->device->initialised, offset, o->size);
    }
}

static const op *step_store(warp *w, const op *o, uint32_t mask)
{
    const operand values[] = {o->d, o->v[0], o->v[1], o->v[2]};
    bool used = undefined_use(w, o, o->a, mask);
    uint32_t local = local_lanes(w, o, mask);
    for (int i = 0; !used && i < o->count; i++) {
        uint32_t lanes = undefined_lanes(w, values[i]) & mask & ~local;
        if (lanes && !only_copied(w, values[i])) used = undefined_use(w, o, values[i], lanes);
    }
    const op *next = run_alone(w, o);
    for (uint32_t i = 0; i < o->count; i++)
        forget_stored(w, o, i, undefined_lanes(w, values[i]) & mask, local);
    return next;
}

static const op *step_load(warp *w, const op *o, uint32_t mask)
{
    undefined_use(w, o, o->a, mask);
    define(w, o, mask);
    return run_alone(w, o);
}

/* To add to a sum, to compare, to swap: other threads see what comes of it. */
static const op *step_atomic(warp *w, const op *o, uint32_t mask)
{
    const operand from[] = {o->a, o->b, o->c};
    bool used = false;
    for (int i = 0; !used && i < 3; i++) used = undefined_use(w, o, from[i], mask);
    define(w, o, mask);
    return run_alone(w, o);
}

/* ---- what cannot be seen through ------------------------------------------------------------- */

static void use_of_memory(warp *w, const op *o, operand row)
{
    uint32_t mask = active(w, o);
    if (undefined_lanes(w, row) & mask && undefined_is_of_memory(w, row))
        undefined_use(w, o, row, mask);
}

/* What such an operation takes from global or shared memory counts as used. */
static void use_operands(warp *w, const op *o, handler *own)
{
    const operand from[] = {o->a, o->b, o->c, o->e};
    for (int i = 0; i < 4; i++) use_of_memory(w, o, from[i]);
    if (o->is_call) {
        const call *c = o->extra;
        for (uint32_t i = 0; i < c->arguments; i++) use_of_memory(w, o, c->argument[i]);
    }
    if (IS(own, run_multiply, run_fragment_store)) {
        const matrix *m = o->extra;
        for (int i = 0; i < LANES; i++) use_of_memory(w, o, m->row[i]);
    }
}

static void use_registers(warp *w, const op *o, const wgmma *x, const fragment *of)
{
    for (uint32_t i = of->first; i < of->first + of->registers; i++) use_of_memory(w, o, x->row[i]);
}

/* A that registers hold, and the sums, where it adds to them. */
static void use_factors(warp *w, const op *o, uint32_t mask)
{
    const wgmma *x = o->extra;
    if (x->a_held) use_registers(w, o, x, &x->a);
    if (mask && *(const uint32_t *)row(w, o->c) & mask) use_registers(w, o, x, &x->d);
    for (uint32_t i = 0; i < x->d.registers; i++)
        undefined_set(w, x->row[x->d.first + i], mask, 0, NULL);
}

/* @return whether it leaves all but its results as they are */
static bool step_other(warp *w, const op *o, handler *own, uint32_t mask)
{
    use_operands(w, o, own);
    if (own == run_wgmma) use_factors(w, o, mask);
    if (!IS(own, run_vote, run_match, run_redux, run_active_mask, run_clock, run_is_space,
            run_mbarrier, run_wgmma, run_wgmma_fence, run_wgmma_commit, run_wgmma_wait, run_touch))
        return false;
    define(w, o, mask);
    return true;
}

/* ---- one operation --------------------------------------------------------------------------- */

const op *follow_step(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    handler *own = o->run == run_watched ? o->inner : o->run;
    w->budget -= 8 * LANE_COST;
    if (w->undefined_frame != w->bank[BANK_REGISTERS]) w->undefined_count = 0;
    if (++w->block->steps > MOST_FOLLOWED && w->undefined->space == SPACE_LOCAL)
        w->undefined_count = 0;
    const rule *rule = rule_of(o->run == run_rounded ? o->inner : o->run);
    if (rule) {
        hand_on(w, o, rule->name, mask);
        return run_alone(w, o);
    }
    if (IS(own, run_pack, run_unpack)) hand_on_parts(w, o, own == run_pack, mask);
    if (o->is_load) return step_load(w, o, mask);
    if (IS(own, run_store, run_store_global, run_store_shared, run_store_shared_word))
        return step_store(w, o, mask);
    if (IS(own, run_atomic)) return step_atomic(w, o, mask);
    if (IS(own, run_local_address)) define(w, o, mask);
    if (IS(own, run_barrier) && o->d) undefined_set(w, o->d, mask, 0, NULL);
    if (IS(own, run_branch))
        undefined_use(w, o, o->guard, w->mask);
    else if (!IS(own, run_local_address, run_shuffle, run_join, run_exit, run_barrier,
                 run_warp_sync, run_fence, run_pack, run_unpack, run_count, run_count_branch,
                 run_count_global, run_count_shared, run_count_local, run_count_generic,
                 run_count_async, run_count_constant, run_count_texture, run_count_fragment,
                 run_count_ldmatrix) &&
             !step_other(w, o, own, mask))
        w->undefined_count = 0;
    return o->run(w, o);
}
