/*
 * half_conversions.h: conversions of __half and __nv_bfloat16 in every rounding. cuda_fp16.h and
 * cuda_bf16.h each include it once, with these defined:
 *
 *   H                          the type
 *   TO_FLOAT(x), FROM_FLOAT(f) to nearest even
 *   INTO(from, mode)           the name of a conversion, __int2half_rz
 *   OUT_OF(to, mode)           __half2int_rz
 */

/* clang-format off */
#ifndef SOFTGPU_HALF_CONVERSIONS_H
#define SOFTGPU_HALF_CONVERSIONS_H

/* A wide number as a float from which a narrow one is rounded as from the number itself: what is cut
 * off leaves the last bit set. */
SOFTGPU_BOTH float softgpu_odd(double d)
{
    const float f = (float)d;
    if (!((double)f < d || (double)f > d)) return f;
    const bool beyond = __builtin_fabs((double)f) > __builtin_fabs(d);
    return __builtin_bit_cast(float, (__builtin_bit_cast(unsigned, f) - beyond) | 1);
}
SOFTGPU_BOTH float softgpu_odd(unsigned long long n)
{
    const unsigned long long low = n >> 53 ? n & 2047 : 0;
    return softgpu_odd((double)((n - low) | (low ? 2048 : 0)));
}
SOFTGPU_BOTH float softgpu_odd(long long n)
{ return n < 0 ? -softgpu_odd(0 - (unsigned long long)n) : softgpu_odd((unsigned long long)n); }
#endif

/* From the nearest one a step nearer to zero (-1) or away from it, if that is the wrong side. */
#define STEP(mode, wrong, step)                                                                    \
    SOFTGPU_BOTH H INTO(float, mode)(float f)                                                      \
    {                                                                                              \
        const H h = FROM_FLOAT(f);                                                                 \
        const float near = TO_FLOAT(h);                                                            \
        const bool negative = __builtin_signbit(f);                                                \
        return wrong ? __builtin_bit_cast(H, (unsigned short)(__builtin_bit_cast(unsigned short, h) + (step))) : h; \
    }
STEP(rz, (negative ? near < f : near > f), -1)
STEP(rd, near > f, (negative ? 1 : -1))
STEP(ru, near < f, (negative ? -1 : 1))
SOFTGPU_BOTH H INTO(float, rn)(float f) { return FROM_FLOAT(f); }
#undef STEP

#define MODE(m)                                                                                    \
    SOFTGPU_BOTH H INTO(int, m)(int i) { return INTO(float, m)(softgpu_odd((double)i)); }          \
    SOFTGPU_BOTH H INTO(uint, m)(unsigned i) { return INTO(float, m)(softgpu_odd((double)i)); }    \
    SOFTGPU_BOTH H INTO(short, m)(short i) { return INTO(float, m)((float)i); }                    \
    SOFTGPU_BOTH H INTO(ushort, m)(unsigned short i) { return INTO(float, m)((float)i); }          \
    SOFTGPU_BOTH H INTO(ll, m)(long long i) { return INTO(float, m)(softgpu_odd(i)); }             \
    SOFTGPU_BOTH H INTO(ull, m)(unsigned long long i) { return INTO(float, m)(softgpu_odd(i)); }   \
    SOFTGPU_DEVICE int OUT_OF(int, m)(H h) { return __float2int_##m(TO_FLOAT(h)); }                \
    SOFTGPU_DEVICE unsigned OUT_OF(uint, m)(H h) { return __float2uint_##m(TO_FLOAT(h)); }         \
    SOFTGPU_DEVICE short OUT_OF(short, m)(H h) { return (short)max(min(OUT_OF(int, m)(h), 32767), -32768); } \
    SOFTGPU_DEVICE unsigned short OUT_OF(ushort, m)(H h) { return (unsigned short)min(OUT_OF(uint, m)(h), 65535u); } \
    SOFTGPU_DEVICE long long OUT_OF(ll, m)(H h) { return __float2ll_##m(TO_FLOAT(h)); }            \
    SOFTGPU_DEVICE unsigned long long OUT_OF(ull, m)(H h) { return __float2ull_##m(TO_FLOAT(h)); }
MODE(rn) MODE(rz) MODE(rd) MODE(ru)
#undef MODE
SOFTGPU_DEVICE signed char OUT_OF(char, rz)(H h) { return (signed char)max(min(OUT_OF(int, rz)(h), 127), -128); }
SOFTGPU_DEVICE unsigned char OUT_OF(uchar, rz)(H h) { return (unsigned char)min(OUT_OF(uint, rz)(h), 255u); }
/* clang-format on */

#undef INTO
#undef OUT_OF
