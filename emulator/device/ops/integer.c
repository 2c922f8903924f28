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

static inline u32 clear_above(u32 x)
{
    return x ? (u32)__builtin_clz(x) : ~0u;
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

/* prmt in its other modes: byte k of the result is which byte of the eight? */
enum { PERMUTE_F4E, PERMUTE_B4E, PERMUTE_RC8, PERMUTE_ECL, PERMUTE_ECR, PERMUTE_RC16 };

static inline u32 permute_by_mode(u32 a, u32 b, u32 c, int mode)
{
    u32 n = c & 3, selector = 0;
    for (u32 k = 0; k < 4; k++) {
        const u32 picks[] = {k + n,         (n - k) & 7,   n,
                             k > n ? k : n, k < n ? k : n, k % 2 + 2 * (n % 2)};
        selector |= picks[mode] << 4 * k;
    }
    return permute_bytes(a, b, selector);
}

/* The position of the |which|-th set bit at or above `from`, or below it; -1: there is none. */
static inline u32 find_nth_set(u32 mask, u32 from, s32 which)
{
    s32 step = which < 0 ? -1 : 1;
    if (which == 0) return from < 32 && mask >> from & 1 ? from : ~0u;
    for (u32 at = from; at < 32; at += (u32)step) {
        if (!(mask >> at & 1)) continue;
        which -= step;
        if (which == 0) return at;
    }
    return ~0u;
}

static inline u32 bits_below(u32 count)
{
    return (u32)low_bits(count);
}

static inline u32 lesser_of(u32 x, u32 y)
{
    return x < y ? x : y;
}

static inline u32 extend(u32 x, u32 bits, bool is_signed)
{
    bool negative = is_signed && bits && bits <= 32 && x >> (bits - 1) & 1;
    return (x & bits_below(bits)) | (negative ? ~bits_below(bits) : 0);
}

/* The sum of the differences of bytes, or of halves. */
static inline u32 absolute_differences(u32 x, u32 y, u32 width, bool is_signed, bool sum)
{
    u32 result = 0, mask = bits_below(width), flip = is_signed ? 1u << (width - 1) : 0;
    for (u32 at = 0; at < 32; at += width) {
        u32 a = (x >> at & mask) ^ flip, b = (y >> at & mask) ^ flip;
        u32 difference = a > b ? a - b : b - a;
        result += sum ? difference : difference << at;
    }
    return result;
}

static inline s64 signed48(u32 x, u32 y)
{
    return (s64)(s32)signed24(x) * (s32)signed24(y);
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

static inline u64 high_s64(u64 x, u64 y)
{
    return (u64)((s128)(s64)x * (s64)y >> 64);
}

#include "integer.def"

#include "rules.h"

const rule integer_rules[] = {
#include "integer.def"
    {0},
};
