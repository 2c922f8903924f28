/*
 * undefined.c: what a shuffle gets from a lane that does not take part, or a load from local memory
 * that its thread has not written: nothing that a program may use. To read it is no mistake:
 * `y = __shfl_down_sync(mask, x, d); if (lane + d < n) x += y;` is right, and compilers load before
 * they know whether they must. So from such a shuffle or load on the warp keeps a list of the rows
 * and lanes that are undefined, operations hand that on from operands to results, and only a value
 * that is stored, or that chooses an address or a branch, is a finding, at the shuffle or load.
 *
 * To copy is no use: a structure may have members without a value, and gaps. A store to local
 * memory makes that unwritten; one elsewhere counts if something was computed with the value, or if
 * it was loaded whole and alone.
 *
 * Interface
 *   undefined_read     run_shuffle has read; may start the list
 *   undefined_load     run_load has found something unwritten; may start the list
 *   undefined_step     runs one operation while there is a list
 *
 * The list is short: it loses its oldest row to a new one, and is given up, without a word, at any
 * operation that it cannot see through.
 */
#include "device/decode/decode.h"

static uint32_t lanes_of(const warp *w, operand row)
{
    for (uint32_t i = 0; row && i < w->undefined_count; i++) {
        if (w->undefined[i].row == row) return w->undefined[i].lanes;
    }
    return 0;
}

/* In the lanes of `mask` exactly those of `lanes` are undefined from now on. */
static void set(warp *w, operand row, uint32_t mask, uint32_t lanes, const undefined *origin)
{
    for (uint32_t i = 0; i < w->undefined_count; i++) {
        undefined *u = &w->undefined[i];
        if (u->row != row) continue;
        uint32_t kept = u->lanes & ~mask;
        bool raw = kept && u->raw;
        if (lanes & mask) *u = *origin;
        u->row = row;
        u->raw |= raw;
        u->lanes = kept | (lanes & mask);
        if (!u->lanes) *u = w->undefined[--w->undefined_count];
        return;
    }
    if (!row || !(lanes & mask)) return;
    if (w->undefined_count == MOST_UNDEFINED) {
        memmove(w->undefined, w->undefined + 1, --w->undefined_count * sizeof *w->undefined);
    }
    undefined u = *origin;
    u.row = row;
    u.lanes = lanes & mask;
    w->undefined[w->undefined_count++] = u;
}

/* ---- the shuffle ----------------------------------------------------------------------------- */

static const undefined *origin_of(const warp *w, operand row)
{
    const undefined *u = w->undefined;
    while (u->row != row) u++;
    return u;
}

const op *undefined_read(warp *w, const op *o, uint32_t mask, const uint8_t source[LANES])
{
    uint32_t before = lanes_of(w, o->a), alone = 0, inherited = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        if (w->block->launch->check_lanes) alone |= (~mask >> source[i] & 1) << i;
        inherited |= (before >> source[i] & 1) << i;
    }
    uint32_t first = alone ? (uint32_t)__builtin_ctz(alone) : 0;
    undefined origin = {.origin = o, .lane = (uint8_t)first, .source = source[first]};
    if (!alone && inherited) origin = *origin_of(w, o->a);
    uint32_t count = w->undefined_count;
    set(w, o->d, mask, alone | inherited, &origin);
    if (!count) w->undefined_frame = w->bank[BANK_REGISTERS];
    return count || !w->undefined_count ? o + 1 : path_pause(w, o + 1);
}

/* ---- the load -------------------------------------------------------------------------------- */

enum { MOST_STEPS = 1 << 20 }; /* followed in one launch, on one host thread */

const op *undefined_load(warp *w, const op *o)
{
    unwritten found = w->unwritten;
    uint32_t all = ~0u, count = w->undefined_count;
    w->unwritten.op = NULL;
    if (w->block->steps > MOST_STEPS) return w->alone ? o + 1 : go_on(w, o + 1);
    for (uint32_t k = 0; k < o->count; k++) all &= found.lanes[k];
    for (uint32_t k = 0; k < o->count; k++) {
        if (!found.lanes[k] || !(o->used >> k & 1)) continue;
        uint8_t first = (uint8_t)__builtin_ctz(found.lanes[k]);
        undefined origin = {.origin = o,
                            .lane = first,
                            .local = true,
                            .raw = true,
                            .part = !(all >> first & 1),
                            .offset = found.offset};
        set(w, (&o->d)[k], found.lanes[k], found.lanes[k], &origin);
    }
    if (!count) w->undefined_frame = w->bank[BANK_REGISTERS];
    if (w->alone) return o + 1;
    return w->undefined_count ? path_pause(w, o + 1) : go_on(w, o + 1);
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static void report_load(warp *w, const undefined *u, uint32_t line)
{
    report(w, u->origin, FINDING_UNINITIALISED, u->lane, u->offset,
           "reads %u bytes of an array or variable of its own (local memory) that the thread has "
           "not written, and uses them at line %u",
           u->origin->size, line);
}

static void report_use(warp *w, const op *o, operand row)
{
    const undefined *u = origin_of(w, row);
    uint32_t line;
    char name[48];
    module_file(w->paths[w->current].function->module, o->line, &line);
    if (u->local) {
        report_load(w, u, line);
        w->undefined_count = 0;
        return;
    }
    thread_name(w->block, w->index * LANES + u->lane, name);
    report(w, u->origin, FINDING_INACTIVE_LANE, u->lane, 0,
           "thread%s reads from lane %u, which does not take part in this shuffle, and what it "
           "gets, which is undefined, is used at line %u",
           name, u->source, line);
    w->undefined_count = 0;
}

/* Stored or followed: a use. @return whether there was one. */
static bool check_use(warp *w, const op *o, operand row, uint32_t mask)
{
    bool used = lanes_of(w, row) & mask;
    if (used) report_use(w, o, row);
    return used;
}

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
        lanes = (lanes_of(w, o->a) & p) | (lanes_of(w, o->b) & ~p) | lanes_of(w, o->c);
    } else {
        for (int i = 0; i < 5; i++) lanes |= lanes_of(w, from[i]);
    }
    for (int i = 0; i < 5; i++)
        if (lanes_of(w, from[i]) & lanes) origin = from[i];
    undefined u = {0};
    if (origin) u = *origin_of(w, origin);
    if (hides(o, name)) lanes = 0;
    u.raw = u.raw && STARTS(name, "mov.", "selp.", "cvt.");
    if (o->d) set(w, o->d, mask, lanes, &u);
    if (o->v[0]) set(w, o->v[0], mask, lanes, &u);
}

/* A result that is defined, whatever the operands. */
static void define(warp *w, const op *o, uint32_t mask)
{
    const operand to[] = {o->d, o->v[0], o->v[1], o->v[2]};
    for (int i = 0; i < 4; i++)
        if (to[i]) set(w, to[i], mask, 0, NULL);
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
    if (o->run == run_watched && active(w, o)) global_shadow_access(w, o, active(w, o));
    alone->run(w, alone);
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

/* Is there another load near by that may be of the same structure? */
static bool has_company(const warp *w, const op *load)
{
    const function *f = w->paths[w->current].function;
    enum { NEAR = 8 };
    for (const op *o = load - NEAR; o <= load + NEAR; o++) {
        bool there = o >= f->code && o < f->code + f->ops && o != load;
        if (there && o->is_load && (o->space == SPACE_LOCAL || o->space == SPACE_GENERIC))
            return true;
    }
    return false;
}

static bool only_copied(const warp *w, operand value)
{
    const undefined *u = origin_of(w, value);
    return u->local && u->raw && (u->part || has_company(w, u->origin));
}

static void forget_stored(warp *w, const op *o, uint32_t k, uint32_t lanes)
{
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        uint64_t offset = address_at(w, o, i) + k * o->size;
        if (o->space == SPACE_GENERIC) offset -= LOCAL_WINDOW;
        local_forget(w, offset, o->size, 1u << i);
    }
}

static const op *step_store(warp *w, const op *o, uint32_t mask)
{
    const operand values[] = {o->d, o->v[0], o->v[1], o->v[2]};
    bool used = check_use(w, o, o->a, mask);
    uint32_t local = local_lanes(w, o, mask);
    for (int i = 0; !used && i < o->count; i++) {
        uint32_t lanes = lanes_of(w, values[i]) & mask & ~local;
        if (lanes && !only_copied(w, values[i])) used = check_use(w, o, values[i], lanes);
    }
    const op *next = run_alone(w, o);
    for (uint32_t i = 0; i < o->count; i++) forget_stored(w, o, i, lanes_of(w, values[i]) & local);
    return next;
}

static const op *step_load(warp *w, const op *o, uint32_t mask)
{
    check_use(w, o, o->a, mask);
    define(w, o, mask);
    return run_alone(w, o);
}

const op *undefined_step(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    handler *own = o->run == run_watched ? o->inner : o->run;
    if (w->undefined_frame != w->bank[BANK_REGISTERS]) w->undefined_count = 0;
    if (++w->block->steps > MOST_STEPS && w->undefined->local) w->undefined_count = 0;
    const rule *rule = rule_of(o->run == run_rounded ? o->inner : o->run);
    if (rule) {
        hand_on(w, o, rule->name, mask);
        return run_alone(w, o);
    }
    if (o->is_load) return step_load(w, o, mask);
    if (IS(own, run_store, run_store_global, run_store_shared, run_store_shared_word))
        return step_store(w, o, mask);
    if (IS(own, run_local_address)) define(w, o, mask);
    if (IS(own, run_barrier) && o->d) set(w, o->d, mask, 0, NULL);
    if (IS(own, run_branch))
        check_use(w, o, o->guard, w->mask);
    else if (!IS(own, run_local_address, run_shuffle, run_join, run_exit, run_barrier,
                 run_warp_sync, run_fence, run_count, run_count_branch, run_count_global,
                 run_count_shared, run_count_local, run_count_generic, run_count_async,
                 run_count_fragment, run_count_ldmatrix))
        w->undefined_count = 0;
    return o->run(w, o);
}
