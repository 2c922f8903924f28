/*
 * profile_ratio.c: what counts mean; see profile.h.
 */
#include "profile.h"

double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

double active_lanes(const device_counts *c)
{
    return ratio(c->lanes, 32 * c->instructions);
}

uint64_t moved_bytes(const device_counts *c)
{
    return 32 * (c->global_load.sectors + c->global_store.sectors + c->global_atomic.sectors);
}

double intensity(const device_counts *c)
{
    return ratio(c->operations, moved_bytes(c));
}
