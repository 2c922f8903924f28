/*
 * convert.c: the handlers of cvt.
 *
 * Interface
 *   convert_rules
 */
#pragma GCC optimize("no-math-errno", "no-trapping-math")

#include "device/base/half.h"
#include "lanes.h"

static inline s128 clamp_to(s128 x, s128 least, s128 most)
{
    return x < least ? least : x > most ? most : x;
}

/* A negative half becomes 0; a NaN has no sign here. */
static inline u16 not_negative(u16 x)
{
    return (u16)(x & 0x8000 ? 0 : x);
}

#define PACKED(high, low) ((u32)(u16)(high) << 16 | (u16)(low))

#include "convert.def"

#include "rules.h"

const rule convert_rules[] = {
#include "convert.def"
    {0},
};
