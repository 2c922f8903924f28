/*
 * integer.c: the handlers of integer and predicate operations.
 *
 * Interface
 *   integer_rules
 */
#include "lanes.h"

static inline u32 signed24(u32 x)
{
    return (u32)((s32)(x << 8) >> 8);
}

static inline s32 clamp_s32(s64 x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (s32)x;
}

static inline u32 funnel_left(u32 low, u32 high, u32 by)
{
    return (u32)(((u64)high << 32 | low) << by >> 32);
}

static inline u32 funnel_right(u32 low, u32 high, u32 by)
{
    return (u32)(((u64)high << 32 | low) >> by);
}

static inline u32 count_ones(u32 x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static inline u32 reversed(u32 x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}

static inline u32 highest_bit(u32 x)
{
    return x ? 31 - (u32)__builtin_clz(x) : ~0u;
}

static inline u32 highest_bit64(u64 x)
{
    return x ? 63 - (u32)__builtin_clzll(x) : ~0u;
}

static inline u64 low_bits(u32 count)
{
    return count >= 64 ? ~(u64)0 : ((u64)1 << count) - 1;
}

static inline u64 extract(u64 x, u32 from, u32 count, u32 width)
{
    from &= 255;
    count &= 255;
    return from >= width ? 0 : x >> from & low_bits(count);
}

static inline u64 extract_signed(s64 x, u32 from, u32 count, u32 width)
{
    from &= 255;
    count &= 255;
    if (count == 0) return 0;
    u32 top = from + count > width ? width : from + count; /* the bit above the field */
    u64 sign = x >> (top - 1) & 1 ? ~(u64)0 : 0;
    if (from >= width) return x >> (width - 1) & 1 ? ~(u64)0 : 0;
    u64 field = (u64)x >> from & low_bits(top - from);
    return field | (sign & ~low_bits(top - from));
}

static inline u64 insert(u64 x, u64 into, u32 at, u32 count, u32 width)
{
    at &= 255;
    count &= 255;
    u64 field = at >= width ? 0 : low_bits(count) << at;
    return (into & ~field) | (at >= width ? 0 : x << at & field);
}

/* The truth table's bit abc says what the three bits become. */
static inline u32 lop3(u32 a, u32 b, u32 c, u32 table)
{
    u32 result = 0;
    for (u32 k = 0; k < 8; k++) {
        u32 chosen = (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        result |= table >> k & 1 ? chosen : 0;
    }
    return result;
}

static inline u32 permute_bytes(u32 a, u32 b, u32 selector)
{
    u64 both = (u64)b << 32 | a;
    u32 result = 0;
    for (u32 k = 0; k < 4; k++) {
        u32 pick = selector >> 4 * k & 15;
        u32 byte = both >> 8 * (pick & 7) & 255;
        if (pick & 8) byte = byte & 128 ? 255 : 0; /* replicate the sign */
        result |= byte << 8 * k;
    }
    return result;
}

static inline u32 dot4(u32 x, u32 y, bool x_signed, bool y_signed)
{
    u32 sum = 0;
    for (u32 k = 0; k < 32; k += 8) {
        s32 a = x_signed ? (s8)(x >> k) : (u8)(x >> k);
        s32 b = y_signed ? (s8)(y >> k) : (u8)(y >> k);
        sum += (u32)(a * b);
    }
    return sum;
}

static inline u32 dot2(u32 x, u32 y, bool x_signed, bool y_signed)
{
    u32 sum = 0;
    for (u32 k = 0; k < 2; k++) {
        s32 a = x_signed ? (s16)(x >> 16 * k) : (u16)(x >> 16 * k);
        s32 b = y_signed ? (s8)(y >> 8 * k) : (u8)(y >> 8 * k);
        sum += (u32)(a * b);
    }
    return sum;
}

static inline u32 high_u32(u32 x, u32 y)
{
    return (u32)((u64)x * y >> 32);
}

static inline u32 high_s32(u32 x, u32 y)
{
    return (u32)((s64)(s32)x * (s32)y >> 32);
}

static inline u64 high_u64(u64 x, u64 y)
{
    return (u64)((u128)x * y >> 64);
}

#include "integer.def"

#include "rules.h"

const rule integer_rules[] = {
#include "integer.def"
    {0},
};
