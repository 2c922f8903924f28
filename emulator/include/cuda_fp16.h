/*
 * cuda_fp16.h: __half and __half2, 16-bit floating point numbers of IEEE.
 */
#ifndef SOFTGPU_CUDA_FP16_H
#define SOFTGPU_CUDA_FP16_H

#include "cuda_runtime.h"

/* clang-format off */

typedef struct { unsigned short x; } __half_raw;
typedef struct { unsigned short x, y; } __half2_raw;

/* ---- bits and floats ------------------------------------------------------------------------- */

SOFTGPU_BOTH unsigned short softgpu_half_from_float(float f)
{
#ifdef __CUDA_ARCH__
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
#else
    unsigned bits = __builtin_bit_cast(unsigned, f), sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) return 0x7fff;
    if (bits >= 0x477ff000) return (unsigned short)(sign | 0x7c00); /* 65520 and more */
    if (bits < 0x38800000) /* subnormal: a multiple of 2^-24 */
        return (unsigned short)(sign | (unsigned)__builtin_rintf(__builtin_fabsf(f) * 0x1p24f));
    return (unsigned short)(sign | (bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13);
#endif
}

SOFTGPU_BOTH float softgpu_float_from_half(unsigned short h)
{
#ifdef __CUDA_ARCH__
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
#else
    unsigned sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    if (exponent == 0) {
        float f = (float)fraction * 0x1p-24f;
        return sign ? -f : f;
    }
    unsigned biased = exponent == 31 ? 255 : exponent + 112;
    return __builtin_bit_cast(float, sign | biased << 23 | fraction << 13);
#endif
}

struct __attribute__((aligned(2))) __half {
    unsigned short __x;
    __half() = default;
    SOFTGPU_MEMBER __half(__half_raw r) : __x(r.x) {}
    SOFTGPU_MEMBER __half(float f) : __x(softgpu_half_from_float(f)) {}
    SOFTGPU_MEMBER __half(double d) : __x(softgpu_half_from_float((float)d)) {}
    SOFTGPU_MEMBER __half(int i) : __x(softgpu_half_from_float((float)i)) {}
    SOFTGPU_MEMBER __half(unsigned i) : __x(softgpu_half_from_float((float)i)) {}
    SOFTGPU_MEMBER __half(long i) : __x(softgpu_half_from_float((float)i)) {}
    SOFTGPU_MEMBER __half(unsigned long i) : __x(softgpu_half_from_float((float)i)) {}
    SOFTGPU_MEMBER __half(long long i) : __x(softgpu_half_from_float((float)i)) {}
    SOFTGPU_MEMBER __half(unsigned long long i) : __x(softgpu_half_from_float((float)i)) {}
    SOFTGPU_MEMBER __half(short i) : __x(softgpu_half_from_float((float)i)) {}
    SOFTGPU_MEMBER __half(unsigned short i) : __x(softgpu_half_from_float((float)i)) {}
    SOFTGPU_MEMBER operator float() const { return softgpu_float_from_half(__x); }
    SOFTGPU_MEMBER operator __half_raw() const { return __half_raw{__x}; }
};
SOFTGPU_BOTH unsigned short __half_as_ushort(__half h) { return h.__x; }
SOFTGPU_BOTH short __half_as_short(__half h) { return (short)h.__x; }
SOFTGPU_BOTH __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
SOFTGPU_BOTH __half __short_as_half(short x) { return __ushort_as_half((unsigned short)x); }
SOFTGPU_BOTH float __half2float(__half h) { return softgpu_float_from_half(h.__x); }
SOFTGPU_BOTH __half __float2half(float f) { return __ushort_as_half(softgpu_half_from_float(f)); }

#define H __half
#define H2 __half2
#define ADD "add.f16 %0, %1, %2;"
#define SUB "sub.f16 %0, %1, %2;"
#define MUL "mul.f16 %0, %1, %2;"
#define FMA "fma.rn.f16 %0, %1, %2, %3;"
#define NEG "neg.f16 %0, %1;"
#define ADD2 "add.f16x2 %0, %1, %2;"
#define SUB2 "sub.f16x2 %0, %1, %2;"
#define MUL2 "mul.f16x2 %0, %1, %2;"
#define FMA2 "fma.rn.f16x2 %0, %1, %2, %3;"
#define NEG2 "neg.f16x2 %0, %1;"
#define TO_FLOAT(h) __half2float(h)
#define FROM_FLOAT(f) __float2half(f)
#include "parts/half_operations.h"

/* ---- conversions ----------------------------------------------------------------------------- */

#define H __half
#define TO_FLOAT(h) __half2float(h)
#define FROM_FLOAT(f) __float2half(f)
#define INTO(from, mode) __##from##2half_##mode
#define OUT_OF(to, mode) __half2##to##_##mode
#include "parts/half_conversions.h"
#undef H
#undef TO_FLOAT
#undef FROM_FLOAT
SOFTGPU_BOTH __half __double2half(double d) { return __float2half(softgpu_odd(d)); }

SOFTGPU_BOTH __half2 __halves2half2(__half a, __half b) { return __half2{a, b}; }
SOFTGPU_BOTH __half2 make_half2(__half a, __half b) { return __half2{a, b}; }
SOFTGPU_BOTH __half2 __half2half2(__half a) { return __half2{a, a}; }
SOFTGPU_BOTH __half2 __float2half2_rn(float f) { return __half2half2(__float2half(f)); }
SOFTGPU_BOTH __half2 __floats2half2_rn(float a, float b) { return __half2{__float2half(a), __float2half(b)}; }
SOFTGPU_BOTH __half2 __float22half2_rn(float2 f) { return __floats2half2_rn(f.x, f.y); }
SOFTGPU_BOTH float2 __half22float2(__half2 a) { return make_float2(__low2float(a), __high2float(a)); }
SOFTGPU_BOTH __half __low2half(__half2 a) { return a.x; }
SOFTGPU_BOTH __half __high2half(__half2 a) { return a.y; }
SOFTGPU_BOTH __half2 __low2half2(__half2 a) { return __half2half2(a.x); }
SOFTGPU_BOTH __half2 __high2half2(__half2 a) { return __half2half2(a.y); }
SOFTGPU_BOTH __half2 __lows2half2(__half2 a, __half2 b) { return __half2{a.x, b.x}; }
SOFTGPU_BOTH __half2 __highs2half2(__half2 a, __half2 b) { return __half2{a.y, b.y}; }

SOFTGPU_DEVICE __half atomicAdd(__half *p, __half v)
{
    unsigned short old;
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(v.__x) : "memory");
    return __ushort_as_half(old);
}
SOFTGPU_DEVICE __half2 atomicAdd(__half2 *p, __half2 v)
{
    unsigned old;
    asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
                 : "=r"(old) : "l"(p), "r"(__builtin_bit_cast(unsigned, v)) : "memory");
    return __builtin_bit_cast(__half2, old);
}
/* clang-format on */

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

#endif
