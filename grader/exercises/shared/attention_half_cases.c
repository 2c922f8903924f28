#include "attention_half_cases.h"

#include <string.h>

argument attention_half_in(const char *name, float *x, size_t count, unsigned shift)
{
    const void *halves = upper_halves(x, count);
    return shift ? shifted(in_bytes(name, halves, 2 * count), shift)
                 : in_of(ELEMENT_BF16, name, halves, count);
}

bool attention_half_baseline(const char *function, const long *shape)
{
    const long side = ATTENTION_HALF_SIDE;
    if (strncmp(function, "baseline_", 9) != 0) return false;
    half_timed(function, (const long[]){shape[1] * side / ATTENTION_HALF_HEADS, side, side});
    return true;
}
