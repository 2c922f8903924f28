/*
 * lane_group.c: the lanes of a warp that run together: how they part, meet and wait for each other.
 *
 * Interface
 *   group_new, group_fork, group_meet, group_end     for control.c and warp.c
 *   group_gather, group_missing                      for operations of several lanes
 *   group_pause, group_halt                          to leave the group
 *
 * A warp starts as one lane group. A branch that parts its lanes turns the group into a meeting
 * point, with two children that run on until they reach it; when the last child is there (or has
 * exited), the meeting point becomes a group again. A call is a meeting point too: the child runs
 * in a frame of its own and meets its caller at the return. Any group that is not waiting can run,
 * so lanes that wait at a barrier do not keep their neighbours from getting there.
 */
#include <stdlib.h>

#include "arena.h"
#include "block.h"

/* ---- making and ending groups ---------------------------------------------------------------- */

/* Pointers to groups are stale after this. */
int group_new(warp *w)
{
    w->noted = 0;
    for (int i = 0; i < w->group_count; i++) {
        if (w->groups[i].state == GROUP_FREE) return i;
    }
    if (w->group_count == w->group_capacity) {
        w->group_capacity = w->group_capacity ? 2 * w->group_capacity : 8;
        w->groups = retake(w->groups, (size_t)w->group_capacity * sizeof *w->groups);
    }
    return w->group_count++;
}

/* A group ends; `arriving` of its lanes go on in its parent, if it has one. */
void group_end(warp *w, int index, uint32_t arriving)
{
    for (;;) {
        lane_group *g = &w->groups[index];
        g->state = GROUP_FREE;
        index = g->parent;
        if (index < 0) return;
        lane_group *parent = &w->groups[index];
        parent->mask |= arriving;
        if (--parent->children) return;
        arriving = parent->mask &= w->alive;
        if (arriving) {
            parent->state = GROUP_READY;
            return;
        }
    }
}

/* Add a group that starts like the current one, with `mask`, at `pc`. */
int group_fork(warp *w, uint32_t mask, const op *pc, int parent, const op *stop)
{
    int i = group_new(w);
    w->groups[i] = *group_now(w);
    lane_group *g = &w->groups[i];
    g->state = GROUP_READY;
    g->mask = mask;
    g->pc = pc;
    g->parent = parent;
    g->stop = stop;
    g->children = 0;
    g->gathered = false;
    if (parent >= 0) w->groups[parent].children++;
    return i;
}

/* From now on the group is where its lanes meet; `there` are there already. */
void group_meet(lane_group *g, const op *pc, uint32_t there)
{
    g->state = GROUP_JOINING;
    g->pc = pc;
    g->mask = there;
    g->children = 0;
    g->calls = false;
}

/* ---- leaving --------------------------------------------------------------------------------- */

const op *group_pause(warp *w, const op *o)
{
    lane_group *g = group_now(w);
    g->pc = o;
    g->mask = w->mask;
    return NULL;
}

const op *group_halt(warp *w, const op *o, device_status status)
{
    launch_stop(w->block->launch, status);
    return group_pause(w, o);
}

/* ---- waiting for lanes ----------------------------------------------------------------------- */

/* Take in a group that waits at the same operation. */
static void absorb(warp *w, lane_group *g, lane_group *other)
{
    g->mask |= other->mask;
    w->mask |= other->mask;
    other->state = GROUP_FREE;
    if (other->parent >= 0) w->groups[other->parent].children--;
}

uint32_t group_missing(const warp *w, uint32_t members)
{
    uint32_t missing = members & w->alive & ~w->mask;
    for (int i = 0; i < w->group_count; i++) {
        const lane_group *g = &w->groups[i];
        bool waits = g->state == GROUP_GATHERING || (g->state == GROUP_READY && g->gathered);
        if (waits) missing &= ~g->mask;
    }
    return missing;
}

bool group_gather(warp *w, const op *o, uint32_t members)
{
    lane_group *g = group_now(w);
    if (!(members & w->alive & ~w->mask) || g->gathered) {
        g->gathered = false;
        return true;
    }
    g->mask = w->mask;
    for (int i = 0; i < w->group_count; i++) {
        lane_group *q = &w->groups[i];
        bool same = q->state == GROUP_GATHERING && q->pc == o && q->parent == g->parent &&
                    q->stop == g->stop && q->registers == g->registers;
        if (same) absorb(w, g, q);
    }
    if (!(members & w->alive & ~w->mask)) return true;
    group_pause(w, o);
    g->state = GROUP_GATHERING;
    return false;
}
