/*
 * math_functions.h: mathematical functions of kernels. What PTX has is an instruction; the rest are
 * calls that the device answers (device/libm.c).
 *
 * The C names (sinf, sin) are one function for both sides, so that a template can take one as its
 * argument: the C library's declarations are read as __host__ __device__, and when clang compiles
 * for the device, a body stands before them. The overload sin(float) is the device's own; it must
 * be known before <cmath> declares the host's.
 */
#ifndef SOFTGPU_MATH_FUNCTIONS_H
#define SOFTGPU_MATH_FUNCTIONS_H

#include "host_defines.h"

/* clang-format off */

/* ---- the C library's functions --------------------------------------------------------------- */

#ifdef __CUDA_ARCH__
#define BODY(T, name, parameters, ...)                                                             \
    extern "C" inline __attribute__((host, device, always_inline, nodebug))                        \
    T name parameters noexcept { return __VA_ARGS__; }
#else
#define BODY(T, name, parameters, ...) extern "C" __host__ __device__ T name parameters noexcept;
#endif

/* name and kin for double and float; `call`, of which the device knows the answer */
#define CALL1(name, call)                                                                          \
    extern "C" __device__ float softgpu_##call##f(float);                                          \
    extern "C" __device__ double softgpu_##call(double);                                           \
    BODY(float, name##f, (float x), softgpu_##call##f(x))                                          \
    BODY(double, name, (double x), softgpu_##call(x))                                              \
    SOFTGPU_DEVICE float name(float x) { return softgpu_##call##f(x); }
#define CALL2(name, T)                                                                             \
    extern "C" __device__ float softgpu_##name##f(float, T(float));                                \
    extern "C" __device__ double softgpu_##name(double, T(double));                                \
    BODY(float, name##f, (float x, T(float) y), softgpu_##name##f(x, y))                           \
    BODY(double, name, (double x, T(double) y), softgpu_##name(x, y))                              \
    SOFTGPU_DEVICE float name(float x, T(float) y) { return softgpu_##name##f(x, y); }
#define SAME(type) type
#define INTEGER(type) int

CALL1(sin, sin) CALL1(cos, cos) CALL1(tan, tan) CALL1(asin, asin) CALL1(acos, acos)
CALL1(atan, atan) CALL1(sinh, sinh) CALL1(cosh, cosh) CALL1(tanh, tanh) CALL1(asinh, asinh)
CALL1(acosh, acosh) CALL1(atanh, atanh) CALL1(exp, exp) CALL1(exp2, exp2) CALL1(exp10, exp10)
CALL1(expm1, expm1) CALL1(log, log) CALL1(log2, log2) CALL1(log10, log10) CALL1(log1p, log1p)
CALL1(logb, logb) CALL1(cbrt, cbrt) CALL1(erf, erf) CALL1(erfc, erfc) CALL1(tgamma, tgamma)
CALL1(lgamma, plain_lgamma) CALL1(j0, j0) CALL1(j1, j1) CALL1(y0, y0) CALL1(y1, y1)
CALL2(pow, SAME) CALL2(atan2, SAME) CALL2(fmod, SAME) CALL2(remainder, SAME) CALL2(hypot, SAME)
CALL2(nextafter, SAME) CALL2(fdim, SAME) CALL2(ldexp, INTEGER)

/* what is an instruction */
#define OWN1(name, builtin, suffix, suffixf)                                                       \
    BODY(float, name##f, (float x), builtin##suffixf(x))                                           \
    BODY(double, name, (double x), builtin##suffix(x))                                             \
    SOFTGPU_DEVICE float name(float x) { return builtin##suffixf(x); }
#define OWN2(name, builtin)                                                                        \
    BODY(float, name##f, (float x, float y), builtin##f(x, y))                                     \
    BODY(double, name, (double x, double y), builtin(x, y))                                        \
    SOFTGPU_DEVICE float name(float x, float y) { return builtin##f(x, y); }

OWN1(sqrt, __nvvm_sqrt_rn_, d, f) OWN1(fabs, __builtin_fabs, , f)
OWN1(floor, __builtin_floor, , f) OWN1(ceil, __builtin_ceil, , f)
OWN1(trunc, __builtin_trunc, , f) OWN1(rint, __builtin_rint, , f)
OWN1(nearbyint, __builtin_nearbyint, , f)
OWN2(fmin, __builtin_fmin) OWN2(fmax, __builtin_fmax) OWN2(copysign, __builtin_copysign)
BODY(float, fmaf, (float x, float y, float z), __nvvm_fma_rn_f(x, y, z))
BODY(double, fma, (double x, double y, double z), __nvvm_fma_rn_d(x, y, z))
SOFTGPU_DEVICE float fma(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }

/* what takes a few; half goes away from zero, and -0 stays -0 */
#define SOME(T, f)                                                                                 \
    BODY(T, round##f, (T x), copysign(trunc(fabs(x) + T(sizeof(T) == 4 ? 0.49999997f               \
                                                         : 0.49999999999999994)), x))              \
    BODY(long, lround##f, (T x), (long)round##f(x))                                                \
    BODY(long long, llround##f, (T x), (long long)round##f(x))                                     \
    BODY(long, lrint##f, (T x), (long)rint(x))                                                     \
    BODY(long long, llrint##f, (T x), (long long)rint(x))                                          \
    BODY(T, modf##f, (T x, T *whole),                                                              \
         *whole = trunc(x), copysign(__builtin_isinf(x) ? 0 : x - *whole, x))                      \
    BODY(T, frexp##f, (T x, int *exponent),                                                        \
         *exponent = x == 0 || !__builtin_isfinite(x) ? 0 : (int)logb(x) + 1, ldexp(x, -*exponent))\
    BODY(T, scalbn##f, (T x, int n), ldexp(x, n))                                                  \
    BODY(int, ilogb##f, (T x), (int)logb(x))                                                       \
    BODY(void, sincos##f, (T x, T *s, T *c), *s = sin(x), *c = cos(x), (void)0)
SOME(float, f) SOME(double, )
SOFTGPU_DEVICE float round(float x) { return roundf(x); }
#undef BODY
#undef CALL1
#undef CALL2
#undef SAME
#undef INTEGER
#undef OWN1
#undef OWN2
#undef SOME

/* The header of C, not that of C++ around it. Its __sinf and kin, of no use to anybody, must not be
 * taken for CUDA's. */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#define __sinf softgpu_unused_sinf
#define __cosf softgpu_unused_cosf
#define __tanf softgpu_unused_tanf
#define __expf softgpu_unused_expf
#define __exp2f softgpu_unused_exp2f
#define __exp10f softgpu_unused_exp10f
#define __logf softgpu_unused_logf
#define __log2f softgpu_unused_log2f
#define __log10f softgpu_unused_log10f
#define __powf softgpu_unused_powf
#define __sincosf softgpu_unused_sincosf
#define __tanhf softgpu_unused_tanhf
#pragma clang force_cuda_host_device begin
#include <math.h>
#include <string.h>
#pragma clang force_cuda_host_device end
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#undef __sinf
#undef __cosf
#undef __tanf
#undef __expf
#undef __exp2f
#undef __exp10f
#undef __logf
#undef __log2f
#undef __log10f
#undef __powf
#undef __sincosf
#undef __tanhf

/* ---- CUDA's own ------------------------------------------------------------------------------ */

/* d = op(x): one operand, result and operand of the given types and asm letters */
#define ASM1(name, D, d, A, a, op)                                                                 \
    SOFTGPU_DEVICE D name(A x) { D r; asm(op " %0, %1;" : "=" d(r) : a(x)); return r; }
#define ASM2(name, T, t, op)                                                                       \
    SOFTGPU_DEVICE T name(T x, T y)                                                                \
    { T r; asm(op " %0, %1, %2;" : "=" t(r) : t(x), t(y)); return r; }
#define ASM3(name, T, t, op)                                                                       \
    SOFTGPU_DEVICE T name(T x, T y, T z)                                                           \
    { T r; asm(op " %0, %1, %2, %3;" : "=" t(r) : t(x), t(y), t(z)); return r; }

ASM1(rsqrtf, float, "f", float, "f", "rsqrt.approx.f32")
#define EXTREMES(prefix, T)                                                                        \
    SOFTGPU_DEVICE T prefix##min(T x, T y) { return x < y ? x : y; }                               \
    SOFTGPU_DEVICE T prefix##max(T x, T y) { return x < y ? y : x; }
EXTREMES(u, unsigned)
EXTREMES(ll, long long)
EXTREMES(ull, unsigned long long)
#undef EXTREMES
SOFTGPU_DEVICE float rsqrt(float x) { return rsqrtf(x); }
SOFTGPU_DEVICE double rsqrt(double x) { return 1 / sqrt(x); }
ASM1(__saturatef, float, "f", float, "f", "cvt.sat.f32.f32")

#define SOME(T, f)                                                                                 \
    SOFTGPU_DEVICE T sinpi##f(T x) /* the sine of a quarter turn at most, so that it can be 0 */   \
    {                                                                                              \
        T r = remainder(x, T(2));                                                                  \
        return sin((fabs(r) > T(0.5) ? copysign(T(1), r) - r : r) * T(3.14159265358979323846));    \
    }                                                                                              \
    SOFTGPU_DEVICE T cospi##f(T x) { return sinpi##f(T(0.5) - fabs(remainder(x, T(2)))); }         \
    SOFTGPU_DEVICE void sincospi##f(T x, T *s, T *c) { *s = sinpi##f(x), *c = cospi##f(x); }       \
    SOFTGPU_DEVICE T normcdf##f(T x) { return erfc(x * T(-0.70710678118654752440)) / 2; }          \
    SOFTGPU_DEVICE T norm3d##f(T x, T y, T z) { return sqrt(x * x + y * y + z * z); }              \
    SOFTGPU_DEVICE T rhypot##f(T x, T y) { return 1 / hypot(x, y); }                               \
    SOFTGPU_DEVICE T rcbrt##f(T x) { return 1 / cbrt(x); }
SOME(float, f) SOME(double, )
#undef SOME
SOFTGPU_DEVICE float pow(float x, int n) { return powf(x, (float)n); }
SOFTGPU_DEVICE double pow(double x, int n) { return pow(x, (double)n); }
SOFTGPU_DEVICE float fdividef(float x, float y) { return x / y; }
SOFTGPU_DEVICE int abs(int x) { return x < 0 ? -x : x; }
SOFTGPU_DEVICE long labs(long x) { return x < 0 ? -x : x; }
SOFTGPU_DEVICE long abs(long x) { return x < 0 ? -x : x; }
SOFTGPU_DEVICE long long llabs(long long x) { return x < 0 ? -x : x; }
SOFTGPU_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
SOFTGPU_DEVICE float abs(float x) { return fabsf(x); }
SOFTGPU_DEVICE double abs(double x) { return fabs(x); }

/* ---- fast approximations --------------------------------------------------------------------- */

ASM1(__sinf, float, "f", float, "f", "sin.approx.f32")
ASM1(__cosf, float, "f", float, "f", "cos.approx.f32")
ASM1(softgpu_ex2, float, "f", float, "f", "ex2.approx.f32")
ASM1(__log2f, float, "f", float, "f", "lg2.approx.f32")
ASM1(__tanhf, float, "f", float, "f", "tanh.approx.f32")
ASM2(__fdividef, float, "f", "div.approx.f32")
SOFTGPU_DEVICE float __exp2f(float x) { return softgpu_ex2(x); }
SOFTGPU_DEVICE float __expf(float x) { return softgpu_ex2(x * 1.4426950408889634f); }
SOFTGPU_DEVICE float __exp10f(float x) { return softgpu_ex2(x * 3.3219280948873623f); }
SOFTGPU_DEVICE float __logf(float x) { return __log2f(x) * 0.6931471805599453f; }
SOFTGPU_DEVICE float __log10f(float x) { return __log2f(x) * 0.3010299956639812f; }
SOFTGPU_DEVICE float __powf(float x, float y) { return softgpu_ex2(y * __log2f(x)); }
SOFTGPU_DEVICE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
SOFTGPU_DEVICE void __sincosf(float x, float *s, float *c) { *s = __sinf(x); *c = __cosf(x); }

/* ---- correctly rounded, in each direction ---------------------------------------------------- */

#define DIRECTIONS(each, ...)                                                                      \
    each(rn, rn, rni, __VA_ARGS__) each(rz, rz, rzi, __VA_ARGS__)                                  \
    each(ru, rp, rpi, __VA_ARGS__) each(rd, rm, rmi, __VA_ARGS__)
#define ARITHMETIC(m, r, ri, T, t, p, type)                                                        \
    ASM2(__##p##add_##m, T, t, "add." #r type) ASM2(__##p##sub_##m, T, t, "sub." #r type)          \
    ASM2(__##p##mul_##m, T, t, "mul." #r type) ASM2(__##p##div_##m, T, t, "div." #r type)          \
    ASM1(__##p##rcp_##m, T, t, T, t, "rcp." #r type)                                               \
    ASM1(__##p##sqrt_##m, T, t, T, t, "sqrt." #r type)
#define FUSED(m, r, ri, T, t, name, type) ASM3(name##m, T, t, "fma." #r type)
#define TO_INTEGER(m, r, ri, from, F, f, ft)                                                       \
    ASM1(__##from##2int_##m, int, "r", F, f, "cvt." #ri ".s32" ft)                                 \
    ASM1(__##from##2uint_##m, unsigned, "r", F, f, "cvt." #ri ".u32" ft)                           \
    ASM1(__##from##2ll_##m, long long, "l", F, f, "cvt." #ri ".s64" ft)                            \
    ASM1(__##from##2ull_##m, unsigned long long, "l", F, f, "cvt." #ri ".u64" ft)
#define FROM_INTEGER(m, r, ri, to, F, f, ft)                                                       \
    ASM1(__int2##to##_##m, F, f, int, "r", "cvt." #r ft ".s32")                                    \
    ASM1(__uint2##to##_##m, F, f, unsigned, "r", "cvt." #r ft ".u32")                              \
    ASM1(__ll2##to##_##m, F, f, long long, "l", "cvt." #r ft ".s64")                               \
    ASM1(__ull2##to##_##m, F, f, unsigned long long, "l", "cvt." #r ft ".u64")
#define NARROW(m, r, ri, unused)                                                                   \
    ASM1(__double2float_##m, float, "f", double, "d", "cvt." #r ".f32.f64")

DIRECTIONS(ARITHMETIC, float, "f", f, ".f32")
DIRECTIONS(ARITHMETIC, double, "d", d, ".f64")
DIRECTIONS(FUSED, float, "f", __fmaf_, ".f32")
DIRECTIONS(FUSED, double, "d", __fma_, ".f64")
DIRECTIONS(TO_INTEGER, float, float, "f", ".f32")
DIRECTIONS(TO_INTEGER, double, double, "d", ".f64")
DIRECTIONS(FROM_INTEGER, float, float, "f", ".f32")
DIRECTIONS(FROM_INTEGER, double, double, "d", ".f64")
DIRECTIONS(NARROW, )
ASM1(__frsqrt_rn, float, "f", float, "f", "rsqrt.approx.f32")
#undef DIRECTIONS
#undef ARITHMETIC
#undef FUSED
#undef TO_INTEGER
#undef FROM_INTEGER
#undef NARROW

/* ---- bits and integers ----------------------------------------------------------------------- */

#define BITS(name, D, A) SOFTGPU_DEVICE D name(A x) { return __builtin_bit_cast(D, x); }
BITS(__float_as_int, int, float) BITS(__int_as_float, float, int)
BITS(__float_as_uint, unsigned, float) BITS(__uint_as_float, float, unsigned)
BITS(__double_as_longlong, long long, double) BITS(__longlong_as_double, double, long long)
#undef BITS
SOFTGPU_DEVICE int __double2loint(double x) { return (int)__double_as_longlong(x); }
SOFTGPU_DEVICE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
SOFTGPU_DEVICE double __hiloint2double(int high, int low)
{ return __longlong_as_double((long long)high << 32 | (unsigned)low); }

ASM1(__clz, int, "r", int, "r", "clz.b32") ASM1(__clzll, int, "r", long long, "l", "clz.b64")
ASM1(__popc, int, "r", unsigned, "r", "popc.b32")
ASM1(__popcll, int, "r", unsigned long long, "l", "popc.b64")
ASM1(__brev, unsigned, "r", unsigned, "r", "brev.b32")
ASM1(__brevll, unsigned long long, "l", unsigned long long, "l", "brev.b64")
ASM2(__mul24, int, "r", "mul24.lo.s32") ASM2(__umul24, unsigned, "r", "mul24.lo.u32")
ASM2(__mulhi, int, "r", "mul.hi.s32") ASM2(__umulhi, unsigned, "r", "mul.hi.u32")
ASM2(__mul64hi, long long, "l", "mul.hi.s64")
ASM2(__umul64hi, unsigned long long, "l", "mul.hi.u64")
ASM3(__byte_perm, unsigned, "r", "prmt.b32")
ASM3(__dp4a, int, "r", "dp4a.s32.s32") ASM3(__dp4a, unsigned, "r", "dp4a.u32.u32")
ASM3(__dp2a_lo, int, "r", "dp2a.lo.s32.s32") ASM3(__dp2a_hi, int, "r", "dp2a.hi.s32.s32")
ASM3(__dp2a_lo, unsigned, "r", "dp2a.lo.u32.u32") ASM3(__dp2a_hi, unsigned, "r", "dp2a.hi.u32.u32")
/* From `first` on the count-th bit that is set, backwards if the count is negative; 0: that one. */
SOFTGPU_DEVICE unsigned __fns(unsigned bits, unsigned first, int count)
{ unsigned r; asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(bits), "r"(first), "r"(count)); return r; }
SOFTGPU_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
SOFTGPU_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
SOFTGPU_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
SOFTGPU_DEVICE unsigned __sad(int x, int y, unsigned z)
{ return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x); }
SOFTGPU_DEVICE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
SOFTGPU_DEVICE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
SOFTGPU_DEVICE unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
SOFTGPU_DEVICE unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y + 1) >> 1); }

#define SHIFT(name, op)                                                                            \
    SOFTGPU_DEVICE unsigned name(unsigned low, unsigned high, unsigned n)                          \
    { unsigned r; asm(op " %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(n)); return r; }
SHIFT(__funnelshift_l, "shf.l.wrap.b32") SHIFT(__funnelshift_lc, "shf.l.clamp.b32")
SHIFT(__funnelshift_r, "shf.r.wrap.b32") SHIFT(__funnelshift_rc, "shf.r.clamp.b32")
#undef SHIFT

/* ---- min and max of every type, on both sides ------------------------------------------------ */

#define LEAST(T)                                                                                   \
    SOFTGPU_BOTH T min(T x, T y) { return y < x ? y : x; }                                         \
    SOFTGPU_BOTH T max(T x, T y) { return x < y ? y : x; }
#define MIXED(A, B, T)                                                                             \
    SOFTGPU_BOTH T min(A x, B y) { return min((T)x, (T)y); }                                       \
    SOFTGPU_BOTH T min(B x, A y) { return min((T)x, (T)y); }                                       \
    SOFTGPU_BOTH T max(A x, B y) { return max((T)x, (T)y); }                                       \
    SOFTGPU_BOTH T max(B x, A y) { return max((T)x, (T)y); }
LEAST(int) LEAST(unsigned) LEAST(long) LEAST(unsigned long) LEAST(long long)
LEAST(unsigned long long)
SOFTGPU_BOTH float min(float x, float y) { return __builtin_fminf(x, y); }
SOFTGPU_BOTH float max(float x, float y) { return __builtin_fmaxf(x, y); }
SOFTGPU_BOTH double min(double x, double y) { return __builtin_fmin(x, y); }
SOFTGPU_BOTH double max(double x, double y) { return __builtin_fmax(x, y); }
MIXED(int, unsigned, unsigned) MIXED(long, unsigned long, unsigned long)
MIXED(long long, unsigned long long, unsigned long long) MIXED(float, double, double)
#undef LEAST
#undef MIXED
#undef ASM1
#undef ASM2
#undef ASM3
    /* clang-format on */

    namespace std
{
    using ::abs;
    using ::acos;
    using ::acosh;
    using ::asin;
    using ::asinh;
    using ::atan;
    using ::atan2;
    using ::atanh;
    using ::cbrt;
    using ::ceil;
    using ::copysign;
    using ::cos;
    using ::cosh;
    using ::erf;
    using ::erfc;
    using ::exp;
    using ::exp2;
    using ::expm1;
    using ::fabs;
    using ::fdim;
    using ::floor;
    using ::fma;
    using ::fmax;
    using ::fmin;
    using ::fmod;
    using ::hypot;
    using ::ldexp;
    using ::lgamma;
    using ::log;
    using ::log10;
    using ::log1p;
    using ::log2;
    using ::logb;
    using ::lrint;
    using ::lround;
    using ::nearbyint;
    using ::nextafter;
    using ::pow;
    using ::remainder;
    using ::rint;
    using ::round;
    using ::sin;
    using ::sinh;
    using ::sqrt;
    using ::tan;
    using ::tanh;
    using ::tgamma;
    using ::trunc;
} // namespace std

#endif
