/*
 * cuda_bf16.h: __nv_bfloat16 and __nv_bfloat162, the upper halves of floats. What compute
 * capability 8.0 has is their fma; sums and products are made of it.
 */
#ifndef SOFTGPU_CUDA_BF16_H
#define SOFTGPU_CUDA_BF16_H

#include "cuda_runtime.h"

/* clang-format off */

typedef struct { unsigned short x; } __nv_bfloat16_raw;
typedef struct { unsigned short x, y; } __nv_bfloat162_raw;

SOFTGPU_BOTH unsigned short softgpu_bfloat_from_float(float f)
{
#ifdef __CUDA_ARCH__
    unsigned short h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
#else
    unsigned bits = __builtin_bit_cast(unsigned, f);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}
SOFTGPU_BOTH float softgpu_float_from_bfloat(unsigned short h)
{
    return __builtin_bit_cast(float, (unsigned)h << 16);
}

struct __attribute__((aligned(2))) __nv_bfloat16 {
    unsigned short __x;
    __nv_bfloat16() = default;
    SOFTGPU_MEMBER __nv_bfloat16(__nv_bfloat16_raw r) : __x(r.x) {}
    SOFTGPU_MEMBER __nv_bfloat16(float f) : __x(softgpu_bfloat_from_float(f)) {}
    SOFTGPU_MEMBER __nv_bfloat16(double d) : __x(softgpu_bfloat_from_float((float)d)) {}
    SOFTGPU_MEMBER __nv_bfloat16(int i) : __x(softgpu_bfloat_from_float((float)i)) {}
    SOFTGPU_MEMBER __nv_bfloat16(unsigned i) : __x(softgpu_bfloat_from_float((float)i)) {}
    SOFTGPU_MEMBER __nv_bfloat16(long i) : __x(softgpu_bfloat_from_float((float)i)) {}
    SOFTGPU_MEMBER __nv_bfloat16(unsigned long i) : __x(softgpu_bfloat_from_float((float)i)) {}
    SOFTGPU_MEMBER operator float() const { return softgpu_float_from_bfloat(__x); }
    SOFTGPU_MEMBER operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
};
SOFTGPU_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.__x; }
SOFTGPU_BOTH short __bfloat16_as_short(__nv_bfloat16 h) { return (short)h.__x; }
SOFTGPU_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16(__nv_bfloat16_raw{x}); }
SOFTGPU_BOTH __nv_bfloat16 __short_as_bfloat16(short x) { return __ushort_as_bfloat16((unsigned short)x); }
SOFTGPU_BOTH float __bfloat162float(__nv_bfloat16 h) { return softgpu_float_from_bfloat(h.__x); }
SOFTGPU_BOTH __nv_bfloat16 __float2bfloat16(float f) { return __ushort_as_bfloat16(softgpu_bfloat_from_float(f)); }

#define H __nv_bfloat16
#define H2 __nv_bfloat162
#define ADD "{.reg .b16 one; mov.b16 one, 0x3f80U; fma.rn.bf16 %0, %1, one, %2;}"
#define SUB "{.reg .b16 one; mov.b16 one, 0xbf80U; fma.rn.bf16 %0, %2, one, %1;}"
#define MUL "{.reg .b16 zero; mov.b16 zero, 0x8000U; fma.rn.bf16 %0, %1, %2, zero;}"
#define FMA "fma.rn.bf16 %0, %1, %2, %3;"
#define NEG "neg.bf16 %0, %1;"
#define ADD2 "{.reg .b32 one; mov.b32 one, 0x3f803f80U; fma.rn.bf16x2 %0, %1, one, %2;}"
#define SUB2 "{.reg .b32 one; mov.b32 one, 0xbf80bf80U; fma.rn.bf16x2 %0, %2, one, %1;}"
#define MUL2 "{.reg .b32 zero; mov.b32 zero, 0x80008000U; fma.rn.bf16x2 %0, %1, %2, zero;}"
#define FMA2 "fma.rn.bf16x2 %0, %1, %2, %3;"
#define NEG2 "neg.bf16x2 %0, %1;"
#define TO_FLOAT(h) __bfloat162float(h)
#define FROM_FLOAT(f) __float2bfloat16(f)
#include "parts/half_operations.h"

#define H __nv_bfloat16
#define TO_FLOAT(h) __bfloat162float(h)
#define FROM_FLOAT(f) __float2bfloat16(f)
#define INTO(from, mode) __##from##2bfloat16_##mode
#define OUT_OF(to, mode) __bfloat162##to##_##mode
#include "parts/half_conversions.h"
#undef H
#undef TO_FLOAT
#undef FROM_FLOAT
SOFTGPU_BOTH __nv_bfloat16 __double2bfloat16(double d) { return __float2bfloat16(softgpu_odd(d)); }
SOFTGPU_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162{a, b}; }
SOFTGPU_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162{a, b}; }
SOFTGPU_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162{a, a}; }
SOFTGPU_BOTH __nv_bfloat162 __float2bfloat162_rn(float f) { return __bfloat162bfloat162(__float2bfloat16(f)); }
SOFTGPU_BOTH __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{ return __nv_bfloat162{__float2bfloat16(a), __float2bfloat16(b)}; }
SOFTGPU_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __floats2bfloat162_rn(f.x, f.y); }
SOFTGPU_BOTH float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(__low2float(a), __high2float(a)); }
SOFTGPU_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
SOFTGPU_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
SOFTGPU_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162{a.x, b.x}; }
SOFTGPU_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162{a.y, b.y}; }
SOFTGPU_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __bfloat162bfloat162(a.x); }
SOFTGPU_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __bfloat162bfloat162(a.y); }

/* The device adds no bfloat16 atomically before 9.0: try until nobody came between. */
template <class T, class Bits> SOFTGPU_DEVICE T softgpu_atomic_add(T *p, T v)
{
    Bits old = *(volatile Bits *)p, seen;
    do {
        seen = old;
        T sum = __builtin_bit_cast(T, seen) + v;
        old = atomicCAS((Bits *)p, seen, __builtin_bit_cast(Bits, sum));
    } while (old != seen);
    return __builtin_bit_cast(T, old);
}
SOFTGPU_DEVICE __nv_bfloat16 atomicAdd(__nv_bfloat16 *p, __nv_bfloat16 v)
{ return softgpu_atomic_add<__nv_bfloat16, unsigned short>(p, v); }
SOFTGPU_DEVICE __nv_bfloat162 atomicAdd(__nv_bfloat162 *p, __nv_bfloat162 v)
{ return softgpu_atomic_add<__nv_bfloat162, unsigned>(p, v); }
/* clang-format on */

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#endif
