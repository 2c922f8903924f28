/*
 * control.c: branches, calls and returns: operations after which lanes go on elsewhere.
 *
 * Interface
 *   run_branch, run_join, run_jump_table, run_call, run_return, run_exit
 *
 * See base/lane_group.c for how lanes part and meet.
 */
#include "ops.h"

enum { MAX_GROUPS = 1 << 15 }; /* more are a recursion without end */

/* ---- jumps ----------------------------------------------------------------------------------- */

/* A backward jump pays for the loop's body, so that nothing has to be counted elsewhere. */
static const op *jump(warp *w, const op *from, const op *to)
{
    if (to > from) return to;
    w->budget -= from - to + 1;
    if (__builtin_expect(--w->slice > 0 && w->budget > 0, 1)) return to;
    return group_pause(w, to);
}

/* Lanes part: some to `target`, the rest to the next operation. */
static const op *part(warp *w, const op *o, uint32_t taken, const op *target, const op *other)
{
    lane_group *g = group_now(w);
    uint32_t rest = w->mask & ~taken;
    if (o->meet && o->meet != g->stop) {
        int meeting = w->current;
        group_meet(g, o->meet, 0);
        group_fork(w, rest, other, meeting, o->meet);
        group_fork(w, taken, target, meeting, o->meet);
        return NULL;
    }
    g->mask = rest;
    g->pc = other;
    group_fork(w, taken, target, g->parent, g->stop);
    return NULL;
}

/* Back to the start of a loop, behind the operation there that would forget the notes. */
static const op *repeat(warp *w, const op *o)
{
    const op *to = jump(w, o, o->target);
    return to && group_now(w)->stop != to ? to + 1 : to;
}

const op *run_branch(warp *w, const op *o)
{
    uint32_t taken = active(w, o);
    if (taken == w->mask) return o->closes ? repeat(w, o) : jump(w, o, o->target);
    if (taken == 0) return o + 1;
    w->budget -= 2;
    if (o->target <= o) w->slice--;
    return part(w, o, taken, o->target, o + 1);
}

/* Each round takes the lanes that go where the first one left goes. */
const op *run_jump_table(warp *w, const op *o)
{
    const jump_table *table = o->extra;
    const uint32_t *index = row(w, o->a);
    uint32_t first = index[__builtin_ctz(w->mask)], same = 0;
    for (int i = 0; i < LANES; i++) same |= (uint32_t)(index[i] == first) << i;
    same &= w->mask;
    const op *target = table->target[first < table->count ? first : table->count - 1];
    if (same == w->mask) return jump(w, o, target);
    return part(w, o, same, target, o);
}

const op *run_join(warp *w, const op *o)
{
    w->noted = 0;
    if (group_now(w)->stop != o) return o + 1;
    group_end(w, w->current, w->mask);
    return NULL;
}

const op *run_exit(warp *w, const op *o)
{
    uint32_t leaving = active(w, o);
    w->alive &= ~leaving;
    w->mask &= ~leaving;
    w->block->live -= (uint32_t)__builtin_popcount(leaving);
    if (w->mask) return o + 1;
    group_end(w, w->current, 0);
    return NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static uint32_t lesser(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

static void copy_words(const warp *w, void *to, const void *from, uint32_t words)
{
    uint32_t *t = to;
    const uint32_t *f = from;
    for (uint32_t k = 0; k < words * LANES; k++) {
        if (w->mask >> k % LANES & 1) t[k] = f[k];
    }
}

/* Frames lie above those of all groups that live: lanes may be in different calls at once. */
static uint8_t *new_frame(const warp *w, const function *f)
{
    uint8_t *top = w->frames;
    for (int i = 0; i < w->group_count; i++) {
        const lane_group *g = &w->groups[i];
        if (g->state == GROUP_FREE) continue;
        uint8_t *end = g->registers + g->function->register_bytes;
        if (end > top) top = end;
    }
    top = (uint8_t *)(((uintptr_t)top + ROW_ALIGNMENT - 1) & ~(uintptr_t)(ROW_ALIGNMENT - 1));
    return top + f->register_bytes <= w->frames_end ? top : NULL;
}

static const function *pointed_callee(warp *w, const op *o)
{
    const uint64_t *address = row(w, o->a);
    const module *m = group_now(w)->function->module;
    uint64_t index = (address[__builtin_ctz(w->mask)] - FUNCTION_WINDOW) / 16 - 1;
    if (index >= m->function_count || m->functions[index]->kernel) return NULL;
    return m->functions[index];
}

static const function *callee_of(warp *w, const op *o)
{
    const call *c = o->extra;
    const function *f = c->callee ? c->callee : pointed_callee(w, o);
    return f && w->block->launch->counted ? f->instrumented : f;
}

/* Lanes whose pointer equals that of the first one. */
static uint32_t same_callee(const warp *w, const op *o, uint32_t mask)
{
    const uint64_t *address = row(w, o->a);
    uint64_t first = address[__builtin_ctz(mask)];
    uint32_t same = 0;
    for (int i = 0; i < LANES; i++) same |= (uint32_t)(address[i] == first) << i;
    return same & mask;
}

static const op *call_failed(warp *w, const op *o, const char *why)
{
    report(w, o, FINDING_TRAP, (uint32_t)__builtin_ctz(w->mask), 0, "%s", why);
    return group_halt(w, o, DEVICE_TRAP);
}

static void enter(warp *w, const op *o, const function *f, uint8_t *frame, uint32_t mask)
{
    int meeting = w->current;
    uint32_t local = group_now(w)->local + group_now(w)->function->local_bytes;
    group_meet(group_now(w), o + 1, w->mask & ~mask);
    group_now(w)->calls = true;
    int child = group_fork(w, mask, f->code, meeting, f->last); /* may move the groups */
    lane_group *g = &w->groups[child];
    g->function = f;
    g->registers = frame;
    g->local = local;
    local_enter(w, f, local, mask);
}

const op *run_call(warp *w, const op *o)
{
    const call *c = o->extra;
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    uint32_t same = c->callee ? mask : same_callee(w, o, mask);
    if (same != mask) return part(w, o, same, o, o);
    const function *f = callee_of(w, o);
    if (!f) return call_failed(w, o, "calls through a pointer that points to no device function");
    uint8_t *frame = new_frame(w, f);
    uint32_t local = group_now(w)->local + group_now(w)->function->local_bytes + f->local_bytes;
    if (!frame || local > w->block->local_stride - ROW_ALIGNMENT || w->group_count >= MAX_GROUPS) {
        return call_failed(w, o, "runs out of stack: a recursion that is too deep or endless");
    }
    for (uint32_t i = 0; i < c->arguments && i < f->formals; i++) {
        uint32_t words = lesser(f->formal_words[i], c->argument_words[i]);
        copy_words(w, frame + f->formal[i], row(w, c->argument[i]), words);
    }
    w->budget -= f->ops;
    enter(w, o, f, frame, mask);
    return NULL;
}

const op *run_return(warp *w, const op *o)
{
    const lane_group *g = group_now(w), *caller = &w->groups[g->parent];
    const call *c = caller->pc[-1].extra;
    const function *f = g->function;
    if (c->has_result && f->result_words) {
        uint8_t *to = caller->registers + (c->result & 0x3fffffff);
        copy_words(w, to, g->registers + f->result_offset,
                   lesser(f->result_words, c->result_words));
    }
    (void)o;
    group_end(w, w->current, w->mask);
    return NULL;
}
