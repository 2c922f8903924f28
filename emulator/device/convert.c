/*
 * convert.c: the handlers of cvt.
 *
 * Interface
 *   convert_rules
 */
#pragma GCC optimize("no-math-errno", "no-trapping-math")

#include "half.h"
#include "lanes.h"

static inline s128 clamp_to(s128 x, s128 least, s128 most)
{
    return x < least ? least : x > most ? most : x;
}

static inline u16 half_bits_toward_zero(f32 x)
{
    u16 nearest = half_bits(x);
    bool grew = __builtin_fabsf(half_value(nearest)) > __builtin_fabsf(x);
    return (u16)(nearest - (grew && x == x));
}

#include "convert.def"

#include "rules.h"

const rule convert_rules[] = {
#include "convert.def"
    {0},
};
