/*
 * profile_ratio.c: ratios of counts; see profile.h.
 */
#include "profile.h"

#include "runtime/core/runtime.h"

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

void count_add_times(device_counts *to, const device_counts *from, uint64_t times)
{
    uint64_t *t = (uint64_t *)to;
    const uint64_t *f = (const uint64_t *)from;

    for (size_t i = 0; i < sizeof *to / sizeof *t; i++) t[i] += times * f[i];
}

void count_add(device_counts *to, const device_counts *from)
{
    count_add_times(to, from, 1);
}
