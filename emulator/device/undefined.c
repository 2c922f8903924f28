/*
 * undefined.c: what a shuffle gets from a lane that does not take part: nothing that a program may
 * use. To read it is no mistake: `y = __shfl_down_sync(mask, x, d); if (lane + d < n) x += y;` is
 * right. So from such a shuffle on the warp keeps a list of the rows and lanes that are undefined,
 * operations hand that on from operands to results, and only a value that is stored, or that
 * chooses an address or a branch, is a finding, at the shuffle.
 *
 * Interface
 *   undefined_read     run_shuffle has read; may start the list
 *   undefined_step     runs one operation while there is a list
 *
 * The list is short and given up, without a word, at any operation that it cannot see through.
 */
#include "decode.h"

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
        u->lanes = (u->lanes & ~mask) | (lanes & mask);
        if (!u->lanes) *u = w->undefined[--w->undefined_count];
        return;
    }
    if (!row || !(lanes & mask)) return;
    if (w->undefined_count == MOST_UNDEFINED) {
        w->undefined_count = 0;
        return;
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
        alone |= (~mask >> source[i] & 1) << i;
        inherited |= (before >> source[i] & 1) << i;
    }
    uint32_t first = alone ? (uint32_t)__builtin_ctz(alone) : 0;
    undefined origin = {.shuffle = o, .lane = (uint8_t)first, .source = source[first]};
    if (!alone && inherited) origin = *origin_of(w, o->a);
    uint32_t count = w->undefined_count;
    set(w, o->d, mask, alone | inherited, &origin);
    if (!count) w->undefined_frame = w->bank[BANK_REGISTERS];
    return count || !w->undefined_count ? o + 1 : path_pause(w, o + 1);
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static void report_use(warp *w, const op *o, operand row)
{
    const undefined *u = origin_of(w, row);
    uint32_t line;
    char name[48];
    module_file(w->paths[w->current].function->module, o->line, &line);
    thread_name(w->block, w->index * LANES + u->lane, name);
    report(w, u->shuffle, FINDING_INACTIVE_LANE, u->lane, 0,
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

static void hand_on(warp *w, const op *o, uint32_t mask)
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
    if (o->inner && o->run != run_rounded) alone->run = o->inner;
    if (o->run == run_watched && active(w, o)) global_shadow_access(w, o, active(w, o));
    alone->run(w, alone);
    return o + 1;
}

static const op *step_access(warp *w, const op *o, uint32_t mask)
{
    const operand values[] = {o->d, o->v[0], o->v[1], o->v[2]};
    bool used = check_use(w, o, o->a, mask);
    for (int i = 0; !used && !o->is_load && i < 4; i++) used = check_use(w, o, values[i], mask);
    if (o->is_load) define(w, o, mask);
    return run_alone(w, o);
}

const op *undefined_step(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    handler *own = o->run == run_watched ? o->inner : o->run;
    if (w->undefined_frame != w->bank[BANK_REGISTERS]) w->undefined_count = 0;
    if (rule_runs(o->run) || o->run == run_rounded) {
        hand_on(w, o, mask);
        return run_alone(w, o);
    }
    if (o->is_load || IS(own, run_store, run_store_global, run_store_shared, run_store_shared_word))
        return step_access(w, o, mask);
    if (IS(own, run_branch))
        check_use(w, o, o->guard, w->mask);
    else if (!IS(own, run_shuffle, run_join, run_exit, run_barrier, run_warp_sync, run_fence,
                 run_count, run_count_branch, run_count_global, run_count_shared, run_count_local,
                 run_count_generic, run_count_async, run_count_fragment, run_count_ldmatrix))
        w->undefined_count = 0;
    return o->run(w, o);
}
