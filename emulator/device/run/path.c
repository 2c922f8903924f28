/*
 * path.c: the lanes of a warp that run together, how they part, meet, call and end.
 *
 * Interface
 *   warp_start, warp_run, path_gather, path_missing, path_pause, path_halt
 *   run_branch, run_join, run_jump_table, run_call, run_return, run_exit
 *
 * A warp starts as one path. A branch that parts its lanes turns the path into a meeting point,
 * with two children that run on until they reach it; when the last child is there (or has exited),
 * the meeting point becomes a path again. A call is a meeting point too: the child runs in a frame
 * of its own and meets its caller at the return. Any path that is not waiting can run, so lanes
 * that wait at a barrier do not keep their neighbours from getting there.
 */
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/internal.h"

enum {
    SLICE = 1 << 14,     /* backward jumps before another path, warp or block gets its turn */
    MAX_PATHS = 1 << 15, /* more are a recursion without end */
};

static path *current(warp *w)
{
    return &w->paths[w->current];
}

/* ---- making and ending paths ----------------------------------------------------------------- */

/* Pointers to paths are stale after this. */
static int new_path(warp *w)
{
    w->noted = 0;
    for (int i = 0; i < w->path_count; i++) {
        if (w->paths[i].state == PATH_FREE) return i;
    }
    if (w->path_count == w->path_capacity) {
        w->path_capacity = w->path_capacity ? 2 * w->path_capacity : 8;
        w->paths = retake(w->paths, (size_t)w->path_capacity * sizeof *w->paths);
    }
    return w->path_count++;
}

void warp_start(warp *w, const function *f, uint32_t mask)
{
    w->alive = mask;
    w->path_count = 0;
    w->synced = w->fenced = 0;
    w->undefined_count = 0;
    int i = new_path(w);
    w->current = i;
    w->paths[i] = (path){.state = PATH_READY,
                         .mask = mask,
                         .pc = f->code,
                         .parent = -1,
                         .function = f,
                         .registers = w->frames};
}

/* A path ends; `arriving` of its lanes go on in its parent, if it has one. */
static void end_path(warp *w, int index, uint32_t arriving)
{
    for (;;) {
        path *p = &w->paths[index];
        p->state = PATH_FREE;
        index = p->parent;
        if (index < 0) return;
        path *parent = &w->paths[index];
        parent->mask |= arriving;
        if (--parent->children) return;
        arriving = parent->mask &= w->alive;
        if (arriving) {
            parent->state = PATH_READY;
            return;
        }
    }
}

/* Add a path that starts like the current one, with `mask`, at `pc`. */
static int fork_path(warp *w, uint32_t mask, const op *pc, int parent, const op *stop)
{
    int i = new_path(w);
    w->paths[i] = *current(w);
    path *p = &w->paths[i];
    p->state = PATH_READY;
    p->mask = mask;
    p->pc = pc;
    p->parent = parent;
    p->stop = stop;
    p->children = 0;
    p->gathered = false;
    if (parent >= 0) w->paths[parent].children++;
    return i;
}

/* From now on the path is where its lanes meet; `there` are there already. */
static void become_meeting(path *p, const op *pc, uint32_t there)
{
    p->state = PATH_JOINING;
    p->pc = pc;
    p->mask = there;
    p->children = 0;
}

/** Park the current path at `pc`; the scheduler goes on with any other. */
static const op *leave_at(warp *w, const op *pc)
{
    path *p = current(w);
    p->pc = pc;
    p->mask = w->mask;
    return NULL;
}

const op *path_pause(warp *w, const op *o)
{
    return leave_at(w, o);
}

const op *path_halt(warp *w, const op *o, device_status status)
{
    launch_stop(w->block->launch, status);
    return leave_at(w, o);
}

/* ---- jumps ----------------------------------------------------------------------------------- */

/* A backward jump pays for the loop's body, so that nothing has to be counted elsewhere. */
static const op *jump(warp *w, const op *from, const op *to)
{
    if (to > from) return to;
    w->budget -= from - to + 1;
    if (__builtin_expect(--w->slice > 0 && w->budget > 0, 1)) return to;
    return leave_at(w, to);
}

/* Lanes part: some to `target`, the rest to the next operation. */
static const op *part(warp *w, const op *o, uint32_t taken, const op *target, const op *other)
{
    path *p = current(w);
    uint32_t rest = w->mask & ~taken;
    if (o->meet && o->meet != p->stop) {
        int meeting = w->current;
        become_meeting(p, o->meet, 0);
        fork_path(w, rest, other, meeting, o->meet);
        fork_path(w, taken, target, meeting, o->meet);
        return NULL;
    }
    p->mask = rest;
    p->pc = other;
    fork_path(w, taken, target, p->parent, p->stop);
    return NULL;
}

/* Back to the start of a loop, behind the operation there that would forget the notes. */
static const op *repeat(warp *w, const op *o)
{
    const op *to = jump(w, o, o->target);
    return to && current(w)->stop != to ? to + 1 : to;
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
    if (current(w)->stop != o) return o + 1;
    end_path(w, w->current, w->mask);
    return NULL;
}

const op *run_exit(warp *w, const op *o)
{
    uint32_t leaving = active(w, o);
    w->alive &= ~leaving;
    w->mask &= ~leaving;
    w->block->live -= (uint32_t)__builtin_popcount(leaving);
    if (w->mask) return o + 1;
    end_path(w, w->current, 0);
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

/* Frames lie above those of all paths that live: lanes may be in different calls at once. */
static uint8_t *new_frame(const warp *w, const function *f)
{
    uint8_t *top = w->frames;
    for (int i = 0; i < w->path_count; i++) {
        const path *p = &w->paths[i];
        if (p->state == PATH_FREE) continue;
        uint8_t *end = p->registers + p->function->register_bytes;
        if (end > top) top = end;
    }
    top = (uint8_t *)(((uintptr_t)top + ROW_ALIGNMENT - 1) & ~(uintptr_t)(ROW_ALIGNMENT - 1));
    return top + f->register_bytes <= w->frames_end ? top : NULL;
}

static const function *pointed_callee(warp *w, const op *o)
{
    const uint64_t *address = row(w, o->a);
    const module *m = current(w)->function->module;
    uint64_t index = (address[__builtin_ctz(w->mask)] - FUNCTION_WINDOW) / 16 - 1;
    if (index >= m->function_count || m->functions[index]->kernel) return NULL;
    return m->functions[index];
}

static const function *callee_of(warp *w, const op *o)
{
    const call *c = o->extra;
    const function *f = c->callee ? c->callee : pointed_callee(w, o);
    return f && w->block->launch->counted ? f->twin : f;
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
    return path_halt(w, o, DEVICE_TRAP);
}

static void enter(warp *w, const op *o, const function *f, uint8_t *frame, uint32_t mask)
{
    int meeting = w->current;
    uint32_t local = current(w)->local + current(w)->function->local_bytes;
    become_meeting(current(w), o + 1, w->mask & ~mask);
    int child = fork_path(w, mask, f->code, meeting, f->last); /* may move the paths */
    path *p = &w->paths[child];
    p->function = f;
    p->registers = frame;
    p->local = local;
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
    uint32_t local = current(w)->local + current(w)->function->local_bytes + f->local_bytes;
    if (!frame || local > w->block->local_stride - ROW_ALIGNMENT || w->path_count >= MAX_PATHS) {
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
    const path *p = current(w), *caller = &w->paths[p->parent];
    const call *c = caller->pc[-1].extra;
    const function *f = p->function;
    if (c->has_result && f->result_words) {
        uint8_t *to = caller->registers + (c->result & 0x3fffffff);
        copy_words(w, to, p->registers + f->result_offset,
                   lesser(f->result_words, c->result_words));
    }
    (void)o;
    end_path(w, w->current, w->mask);
    return NULL;
}

/* ---- taking turns ---------------------------------------------------------------------------- */

static int next_ready(const warp *w)
{
    for (int i = w->current + 1; i < w->path_count; i++) {
        if (w->paths[i].state == PATH_READY) return i;
    }
    for (int i = 0; i <= w->current && i < w->path_count; i++) {
        if (w->paths[i].state == PATH_READY) return i;
    }
    return -1;
}

/* Lanes that wait for others of their warp go on without them when nothing else can run. */
static bool release_gathering(warp *w)
{
    bool any = false;
    for (int i = 0; i < w->path_count; i++) {
        path *p = &w->paths[i];
        if (p->state != PATH_GATHERING) continue;
        p->state = PATH_READY;
        p->gathered = any = true;
    }
    return any;
}

/* Take in a path that waits at the same operation. */
static void absorb(warp *w, path *p, path *other)
{
    p->mask |= other->mask;
    w->mask |= other->mask;
    other->state = PATH_FREE;
    if (other->parent >= 0) w->paths[other->parent].children--;
}

uint32_t path_missing(const warp *w, uint32_t members)
{
    uint32_t missing = members & w->alive & ~w->mask;
    for (int i = 0; i < w->path_count; i++) {
        const path *p = &w->paths[i];
        bool waits = p->state == PATH_GATHERING || (p->state == PATH_READY && p->gathered);
        if (waits) missing &= ~p->mask;
    }
    return missing;
}

bool path_gather(warp *w, const op *o, uint32_t members)
{
    path *p = current(w);
    if (!(members & w->alive & ~w->mask) || p->gathered) {
        p->gathered = false;
        return true;
    }
    p->mask = w->mask;
    for (int i = 0; i < w->path_count; i++) {
        path *q = &w->paths[i];
        bool same = q->state == PATH_GATHERING && q->pc == o && q->parent == p->parent &&
                    q->stop == p->stop && q->registers == p->registers;
        if (same) absorb(w, p, q);
    }
    if (!(members & w->alive & ~w->mask)) return true;
    leave_at(w, o);
    p->state = PATH_GATHERING;
    return false;
}

/* While some lanes spin, those that wait for them where they meet must get on: one of them may hold
 * the lock. They run ahead as a path of their own. */
static void release_waiting(warp *w)
{
    int count = w->path_count;
    for (int i = 0; i < count; i++) {
        path *p = &w->paths[i];
        bool in_call = p->children && p->pc[-1].run == run_call;
        if (p->state != PATH_JOINING || !(p->mask & w->alive) || in_call) continue;
        int n = new_path(w);
        p = &w->paths[i];
        w->paths[n] = *p;
        w->paths[n].state = PATH_READY;
        w->paths[n].mask &= w->alive;
        w->paths[n].children = 0;
        if (p->parent >= 0) w->paths[p->parent].children++;
        p->mask = 0;
    }
}

static void out_of_budget(warp *w)
{
    const op *o = current(w)->pc;
    if (o->run == run_join) o++; /* the loop's start has the line of what comes before it */
    report(w, o, FINDING_ENDLESS_LOOP, (uint32_t)__builtin_ctz(w->mask), 0,
           "runs without end: the instruction budget is spent");
    launch_stop(w->block->launch, DEVICE_TIMEOUT);
}

static void run_path(warp *w, int index)
{
    if (w->current != index) w->noted = 0;
    w->current = index;
    const path *p = current(w);
    w->mask = p->mask;
    w->bank[BANK_REGISTERS] = p->registers;
    const op *o = p->pc;
    while (o && w->undefined_count) o = undefined_step(w, o);
    while (o) o = o->run(w, o);
}

bool warp_run(warp *w)
{
    w->slice = SLICE;
    for (;;) {
        int i = next_ready(w);
        if (i < 0 && release_gathering(w)) continue;
        if (i < 0) return false;
        run_path(w, i);
        if (w->budget <= 0) out_of_budget(w);
        if (w->slice > 0 && w->budget > 0 && !w->block->launch->stop) continue;
        release_waiting(w);
        return true;
    }
}
