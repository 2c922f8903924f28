/*
 * known.c: which warp knows that which wgmma is over.
 *
 * Interface
 *   known_share, known_tell, known_learn
 *
 * Shared memory that a wgmma reads is free when the wgmma is over, and a warp may write there when
 * it knows that. A warp group's own warps know it once they have waited (wgmma.wait_group). Another
 * warp knows what those knew that arrived at an mbarrier, when it has waited for that phase: an
 * arrival before the wait tells nothing of the product. Any other synchronisation (a barrier, a
 * fence) tells all warps of the block all: which of them it orders is beyond this file.
 *
 * A warp group commits its wgmma in groups, and they end in order, so that a number says it all.
 */
#include "checks.h"

static void join(known *to, const known *from)
{
    for (uint32_t i = 0; i < WARP_GROUPS; i++)
        if (from->groups[i] > to->groups[i]) to->groups[i] = from->groups[i];
}

static known known_by_all(const block *b)
{
    known all = {0};
    for (uint32_t k = 0; k < b->warp_count; k++) join(&all, &b->known[k]);
    return all;
}

void known_share(block *b)
{
    if (!b->known) return;
    const known all = known_by_all(b);
    for (uint32_t k = 0; k < b->warp_count; k++) b->known[k] = all;
}

/* Of what the other block knows of this one's products there is no record: all of it. */
void known_tell(const warp *w, const block *b, mbarrier *m)
{
    if (!b->known) return;
    const known all = w->block == b ? b->known[w->index] : known_by_all(b);
    join(&m->told, &all);
}

void known_learn(const warp *w, const mbarrier *m)
{
    if (w->block->known) join(&w->block->known[w->index], &m->over);
}
