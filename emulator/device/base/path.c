/*
 * path.c: the lanes of a warp that run together: how they part, meet and wait for each other.
 *
 * Interface
 *   path_new, path_fork, path_meet, path_end     for control.c and warp.c
 *   path_gather, path_missing                    for operations of several lanes
 *   path_pause, path_halt                        to leave the path
 *
 * A warp starts as one path. A branch that parts its lanes turns the path into a meeting point,
 * with two children that run on until they reach it; when the last child is there (or has exited),
 * the meeting point becomes a path again. A call is a meeting point too: the child runs in a frame
 * of its own and meets its caller at the return. Any path that is not waiting can run, so lanes
 * that wait at a barrier do not keep their neighbours from getting there.
 */
#include <stdlib.h>

#include "arena.h"
#include "block.h"

/* ---- making and ending paths ----------------------------------------------------------------- */

/* Pointers to paths are stale after this. */
int path_new(warp *w)
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

/* A path ends; `arriving` of its lanes go on in its parent, if it has one. */
void path_end(warp *w, int index, uint32_t arriving)
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
int path_fork(warp *w, uint32_t mask, const op *pc, int parent, const op *stop)
{
    int i = path_new(w);
    w->paths[i] = *path_now(w);
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
void path_meet(path *p, const op *pc, uint32_t there)
{
    p->state = PATH_JOINING;
    p->pc = pc;
    p->mask = there;
    p->children = 0;
    p->calls = false;
}

/* ---- leaving --------------------------------------------------------------------------------- */

const op *path_pause(warp *w, const op *o)
{
    path *p = path_now(w);
    p->pc = o;
    p->mask = w->mask;
    return NULL;
}

const op *path_halt(warp *w, const op *o, device_status status)
{
    launch_stop(w->block->launch, status);
    return path_pause(w, o);
}

/* ---- waiting for lanes ----------------------------------------------------------------------- */

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
    path *p = path_now(w);
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
    path_pause(w, o);
    p->state = PATH_GATHERING;
    return false;
}
