/*
 * visit.h: functions that shadow.c and visit.c call in each other.
 *
 * Interface
 *   is_flying, shadow_split, visits_meet, report_visit
 */
#ifndef SOFTGPU_DEVICE_VISIT_H
#define SOFTGPU_DEVICE_VISIT_H

#include "shadow.h"

/** A word is from now on kept byte by byte. */
void shadow_split(block *, uint32_t word);
/** Something asynchronous is under way there; reductions, and what is atomic, may meet. */
static inline bool is_flying(uint32_t written, const op *o)
{
    return written == FLYING || (written == ADDING && o->strength != STRENGTH_ATOMIC);
}

/** An access of this block to a cell, which may be VISITED: what does it meet there? @return
 *  whether there is nothing more to ask */
bool visits_meet(warp *, const op *, cells *, uint32_t i, uint32_t lane, access_kind, conflict *);
void report_visit(warp *, const op *, uint32_t offset, uint32_t lane, access_kind,
                  const conflict *);

#endif
