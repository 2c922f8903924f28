/*
 * float.c: the handlers of floating-point operations.
 *
 * Interface
 *   float_rules, run_rounded
 */
#pragma GCC optimize("no-math-errno", "no-trapping-math")

#include <fenv.h>
#include <math.h>

#include "device/base/half.h"
#include "lanes.h"

/* A number beats a NaN, and -0 is below +0. */
#define lesser(x, y)  ((x) < (y) || (y) != (y) || ((x) == (y) && __builtin_signbit(x)) ? (x) : (y))
#define greater(x, y) ((x) > (y) || (y) != (y) || ((x) == (y) && __builtin_signbit(y)) ? (x) : (y))

/* 2^x = 2^n 2^f with |f| <= 1/2; 2^f by its series; 2^n in two factors, to reach denormals. */
static inline f32 power_of_two(f32 x)
{
    f32 bounded = x < -160 ? -160 : x > 130 ? 130 : x;
    f32 n = bounded + 0x1.8p23f - 0x1.8p23f, f = bounded - n, p = 1.52527338e-5f;
    p = __builtin_fmaf(p, f, 1.54035304e-4f);
    p = __builtin_fmaf(p, f, 1.33335581e-3f);
    p = __builtin_fmaf(p, f, 9.61812911e-3f);
    p = __builtin_fmaf(p, f, 5.55041087e-2f);
    p = __builtin_fmaf(p, f, 2.40226507e-1f);
    p = __builtin_fmaf(p, f, 6.93147181e-1f);
    p = __builtin_fmaf(p, f, 1);
    s32 whole = n == n ? (s32)n : 0, part = whole >> 1;
    return p * bits_float((u32)(part + 127) << 23) * bits_float((u32)(whole - part + 127) << 23);
}

/* x = m 2^e with m near 1; log2(m) = 2 atanh(s) / ln 2 with s = (m - 1) / (m + 1). */
static inline f32 binary_logarithm(f32 x)
{
    bool tiny = x < 0x1p-126f;
    u32 bits = float_bits(tiny ? x * 0x1p24f : x);
    s32 e = (s32)(bits - 0x3f3504f3) >> 23;
    f32 m = bits_float(bits - ((u32)e << 23)), s = (m - 1) / (m + 1), t = s * s;
    f32 p = __builtin_fmaf(t, 0.320598898f, 0.412198583f);
    p = __builtin_fmaf(p, t, 0.577078016f);
    p = __builtin_fmaf(p, t, 0.961796694f);
    p = __builtin_fmaf(p, t, 2.88539008f);
    f32 result = __builtin_fmaf(p, s, (f32)(tiny ? e - 24 : e));
    result = x == 0 ? -INFINITY : x < 0 ? NAN : result;
    return x == INFINITY || x != x ? x : result;
}

/* tanh.approx.f32 errs by up to 2^-11 of the result on a GPU. So that nobody takes it for tanhf, 11
 * bits behind the leading one are all that is kept. */
static inline f32 quick_tanh(f32 x)
{
    f32 y = tanhf(x);
    return y == y ? bits_float((float_bits(y) + 0x800) & ~0xfffu) : y;
}

/* x * y + z as f32, its last bit set if anything was lost, so that rounding once more is right. The
 * product is exact in double; what the sum loses is known (Knuth). */
static inline f32 sum_to_odd(f64 product, f64 z)
{
    f64 sum = product + z, part = sum - product, lost = (product - (sum - part)) + (z - part);
    f32 nearest = (f32)sum;
    u32 bits = float_bits(nearest);
    bool above =
        __builtin_fabs(nearest) > __builtin_fabs(sum) || (nearest == sum && lost * sum < 0);
    bits -= above;
    bits |= nearest != sum || lost != 0;
    return __builtin_isfinite(sum) ? bits_float(bits) : nearest;
}

static inline u16 half_fma(u16 x, u16 y, u16 z)
{
    return half_bits(sum_to_odd((f64)half_value(x) * half_value(y), half_value(z)));
}

static inline u16 brain_fma(u16 x, u16 y, u16 z)
{
    return brain_bits(sum_to_odd((f64)brain_value(x) * brain_value(y), brain_value(z)));
}

static inline u16 half_relu(u16 x)
{
    return x & 0x8000 ? 0 : x; /* NaN has no sign */
}

/* Between 0 and 1; NaN becomes 0. */
static inline u16 half_saturated(u16 x)
{
    return x > 0x7c00 ? 0 : x > 0x3c00 ? 0x3c00 : x;
}

#define PAIR3(f)                                                                                   \
    (f((u16)x, (u16)y, (u16)z) | (u32)f((u16)(x >> 16), (u16)(y >> 16), (u16)(z >> 16)) << 16)

#pragma GCC diagnostic ignored "-Wunused-parameter" /* testp has one operand */
#include "float.def"

static const op *run_nothing(warp *w, const op *o)
{
    (void)w, (void)o;
    return NULL;
}

/** Runs o->inner with the rounding that o->variant holds: 1 down, 2 up, 3 toward zero. */
const op *run_rounded(warp *w, const op *o)
{
    static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    const op alone[2] = {*o, {.run = run_nothing}}; /* the next one rounds to nearest */
    fesetround(modes[o->variant & 3]);
    o->inner(w, alone);
    fesetround(FE_TONEAREST);
    return o + 1;
}

#include "rules.h"

const rule float_rules[] = {
#include "float.def"
    {0},
};
