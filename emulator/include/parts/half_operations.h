/*
 * half_operations.h: what __half and __nv_bfloat16 have in common. cuda_fp16.h and cuda_bf16.h each
 * include it once, with these defined:
 *
 *   H, H2          the type and the pair of it
 *   ADD ... NEG    PTX for one value, ADD2 ... NEG2 for a pair
 *   TO_FLOAT(x)    and FROM_FLOAT(f), rounding to nearest even
 *
 * Arithmetic is the device's own; on the host, and for the rest, it goes by way of float.
 */

/* clang-format off */
struct __attribute__((aligned(4))) H2 {
    H x, y;
    H2() = default;
    SOFTGPU_MEMBER H2(H x, H y) : x(x), y(y) {}
};

#define BITS(v) __builtin_bit_cast(unsigned short, v)
#define PAIR(v) __builtin_bit_cast(unsigned, v)
#ifdef __CUDA_ARCH__
#define OPERATION(T, t, bits, U, name, parameters, ptx, host, ...)                                 \
    SOFTGPU_BOTH T name parameters                                                                 \
    { U r; asm(ptx : "=" t(r) : __VA_ARGS__); return __builtin_bit_cast(T, r); }
#else
#define OPERATION(T, t, bits, U, name, parameters, ptx, host, ...)                                 \
    SOFTGPU_BOTH T name parameters { return host; }
#endif
#define ONE1(name, ptx, value)                                                                     \
    OPERATION(H, "h", BITS, unsigned short, name, (H a), ptx, FROM_FLOAT(value), "h"(BITS(a)))
#define ONE2(name, ptx, value)                                                                     \
    OPERATION(H, "h", BITS, unsigned short, name, (H a, H b), ptx, FROM_FLOAT(value),              \
              "h"(BITS(a)), "h"(BITS(b)))
#define TWO1(name, one, ptx)                                                                       \
    OPERATION(H2, "r", PAIR, unsigned, name, (H2 a), ptx, (H2{one(a.x), one(a.y)}), "r"(PAIR(a)))
#define TWO2(name, one, ptx)                                                                       \
    OPERATION(H2, "r", PAIR, unsigned, name, (H2 a, H2 b), ptx,                                    \
              (H2{one(a.x, b.x), one(a.y, b.y)}), "r"(PAIR(a)), "r"(PAIR(b)))

ONE2(__hadd, ADD, TO_FLOAT(a) + TO_FLOAT(b))
ONE2(__hsub, SUB, TO_FLOAT(a) - TO_FLOAT(b))
ONE2(__hmul, MUL, TO_FLOAT(a) * TO_FLOAT(b))
ONE1(__hneg, NEG, -TO_FLOAT(a))
OPERATION(H, "h", BITS, unsigned short, __hfma, (H a, H b, H c), FMA,
          FROM_FLOAT(TO_FLOAT(a) * TO_FLOAT(b) + TO_FLOAT(c)), "h"(BITS(a)), "h"(BITS(b)), "h"(BITS(c)))
TWO2(__hadd2, __hadd, ADD2)
TWO2(__hsub2, __hsub, SUB2)
TWO2(__hmul2, __hmul, MUL2)
TWO1(__hneg2, __hneg, NEG2)
OPERATION(H2, "r", PAIR, unsigned, __hfma2, (H2 a, H2 b, H2 c), FMA2,
          (H2{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}), "r"(PAIR(a)), "r"(PAIR(b)), "r"(PAIR(c)))
#undef OPERATION
#undef ONE1
#undef ONE2
#undef TWO1
#undef TWO2
#undef BITS
#undef PAIR

SOFTGPU_BOTH H __hadd_rn(H a, H b) { return __hadd(a, b); }
SOFTGPU_BOTH H __hsub_rn(H a, H b) { return __hsub(a, b); }
SOFTGPU_BOTH H __hmul_rn(H a, H b) { return __hmul(a, b); }
SOFTGPU_BOTH H2 __hadd2_rn(H2 a, H2 b) { return __hadd2(a, b); }
SOFTGPU_BOTH H2 __hsub2_rn(H2 a, H2 b) { return __hsub2(a, b); }
SOFTGPU_BOTH H2 __hmul2_rn(H2 a, H2 b) { return __hmul2(a, b); }
SOFTGPU_BOTH H __hdiv(H a, H b) { return FROM_FLOAT(TO_FLOAT(a) / TO_FLOAT(b)); }
SOFTGPU_BOTH H __habs(H a) { return FROM_FLOAT(__builtin_fabsf(TO_FLOAT(a))); }
SOFTGPU_BOTH H __hmin(H a, H b) { return FROM_FLOAT(__builtin_fminf(TO_FLOAT(a), TO_FLOAT(b))); }
SOFTGPU_BOTH H __hmax(H a, H b) { return FROM_FLOAT(__builtin_fmaxf(TO_FLOAT(a), TO_FLOAT(b))); }
SOFTGPU_BOTH H2 __h2div(H2 a, H2 b) { return H2{__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
SOFTGPU_BOTH H2 __habs2(H2 a) { return H2{__habs(a.x), __habs(a.y)}; }
SOFTGPU_BOTH H2 __hmin2(H2 a, H2 b) { return H2{__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
SOFTGPU_BOTH H2 __hmax2(H2 a, H2 b) { return H2{__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
SOFTGPU_BOTH bool __hisnan(H a) { return __builtin_isnan(TO_FLOAT(a)); }
SOFTGPU_BOTH H __hmin_nan(H a, H b) { return __hisnan(a) || __hisnan(b) ? FROM_FLOAT(__builtin_nanf("")) : __hmin(a, b); }
SOFTGPU_BOTH H __hmax_nan(H a, H b) { return __hisnan(a) || __hisnan(b) ? FROM_FLOAT(__builtin_nanf("")) : __hmax(a, b); }
SOFTGPU_BOTH H2 __hmin2_nan(H2 a, H2 b) { return H2{__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)}; }
SOFTGPU_BOTH H2 __hmax2_nan(H2 a, H2 b) { return H2{__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)}; }
SOFTGPU_BOTH H __hrelu(H a) { return __hmax_nan(a, FROM_FLOAT(0)); }
SOFTGPU_BOTH H __hfma_relu(H a, H b, H c) { return __hrelu(__hfma(a, b, c)); }
SOFTGPU_BOTH H2 __hfma2_relu(H2 a, H2 b, H2 c) { return H2{__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }

/* saturated: from 0 to 1, a NaN is 0 */
SOFTGPU_BOTH H softgpu_saturated(H a) { return __hmin(__hmax(a, FROM_FLOAT(0)), FROM_FLOAT(1)); }
#define SATURATED(name)                                                                            \
    SOFTGPU_BOTH H name##_sat(H a, H b) { return softgpu_saturated(name(a, b)); }                  \
    SOFTGPU_BOTH H2 name##2_sat(H2 a, H2 b) { return H2{name##_sat(a.x, b.x), name##_sat(a.y, b.y)}; }
SATURATED(__hadd) SATURATED(__hsub) SATURATED(__hmul)
#undef SATURATED
SOFTGPU_BOTH H __hfma_sat(H a, H b, H c) { return softgpu_saturated(__hfma(a, b, c)); }
SOFTGPU_BOTH H2 __hfma2_sat(H2 a, H2 b, H2 c) { return H2{__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }
SOFTGPU_BOTH H2 __hisnan2(H2 a) { return H2{FROM_FLOAT(__hisnan(a.x)), FROM_FLOAT(__hisnan(a.y))}; }
SOFTGPU_BOTH int __hisinf(H a) { return __builtin_isinf_sign(TO_FLOAT(a)); }

/* of pairs: both, each as 0 or 1, each as no bit or all */
#define PAIRS(name)                                                                                \
    SOFTGPU_BOTH bool __hb##name##2(H2 a, H2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
    SOFTGPU_BOTH H2 __h##name##2(H2 a, H2 b)                                                       \
    { return H2{FROM_FLOAT(__h##name(a.x, b.x)), FROM_FLOAT(__h##name(a.y, b.y))}; }               \
    SOFTGPU_BOTH unsigned __h##name##2_mask(H2 a, H2 b)                                            \
    { return (__h##name(a.x, b.x) ? 0xffff : 0) | (__h##name(a.y, b.y) ? 0xffff0000 : 0); }
/* comparisons; those with a u are true for a NaN */
#define COMPARE(name, op)                                                                          \
    SOFTGPU_BOTH bool __h##name(H a, H b) { return TO_FLOAT(a) op TO_FLOAT(b); }                   \
    SOFTGPU_BOTH bool __h##name##u(H a, H b)                                                       \
    { return __hisnan(a) || __hisnan(b) || TO_FLOAT(a) op TO_FLOAT(b); }                           \
    PAIRS(name) PAIRS(name##u)                                                                     \
    SOFTGPU_BOTH bool operator op(H a, H b) { return TO_FLOAT(a) op TO_FLOAT(b); }                 \
    SOFTGPU_BOTH bool operator op(H2 a, H2 b) { return __hb##name##2(a, b); }
COMPARE(eq, ==) COMPARE(ne, !=) COMPARE(lt, <) COMPARE(le, <=) COMPARE(gt, >) COMPARE(ge, >=)
#undef COMPARE
#undef PAIRS

SOFTGPU_SHUFFLES(H) SOFTGPU_SHUFFLES(H2) SOFTGPU_LOADS_AND_STORES(H) SOFTGPU_LOADS_AND_STORES(H2)

#define OPERATOR(T, op, function)                                                                  \
    SOFTGPU_BOTH T operator op(T a, T b) { return function(a, b); }                                \
    SOFTGPU_BOTH T &operator op##=(T &a, T b) { return a = function(a, b); }
OPERATOR(H, +, __hadd) OPERATOR(H, -, __hsub) OPERATOR(H, *, __hmul) OPERATOR(H, /, __hdiv)
OPERATOR(H2, +, __hadd2) OPERATOR(H2, -, __hsub2) OPERATOR(H2, *, __hmul2) OPERATOR(H2, /, __h2div)
#undef OPERATOR
SOFTGPU_BOTH H operator-(H a) { return __hneg(a); }
SOFTGPU_BOTH H operator+(H a) { return a; }
SOFTGPU_BOTH H2 operator-(H2 a) { return __hneg2(a); }
SOFTGPU_BOTH H &operator++(H &a) { return a = __hadd(a, FROM_FLOAT(1)); }
SOFTGPU_BOTH H &operator--(H &a) { return a = __hsub(a, FROM_FLOAT(1)); }

#define MATHEMATICS(name, value)                                                                   \
    SOFTGPU_DEVICE H h##name(H a) { float x = TO_FLOAT(a); return FROM_FLOAT(value); }             \
    SOFTGPU_DEVICE H2 h2##name(H2 a) { return H2{h##name(a.x), h##name(a.y)}; }
MATHEMATICS(sqrt, sqrtf(x)) MATHEMATICS(rsqrt, rsqrtf(x)) MATHEMATICS(rcp, 1 / x)
MATHEMATICS(exp, expf(x)) MATHEMATICS(exp2, exp2f(x)) MATHEMATICS(exp10, exp10f(x))
MATHEMATICS(log, logf(x)) MATHEMATICS(log2, log2f(x)) MATHEMATICS(log10, log10f(x))
MATHEMATICS(sin, sinf(x)) MATHEMATICS(cos, cosf(x)) MATHEMATICS(tanh, tanhf(x))
MATHEMATICS(floor, floorf(x)) MATHEMATICS(ceil, ceilf(x)) MATHEMATICS(trunc, truncf(x))
MATHEMATICS(rint, rintf(x))
#undef MATHEMATICS

/* of complex numbers, each a pair: a b + c */
SOFTGPU_DEVICE H2 __hcmadd(H2 a, H2 b, H2 c)
{
    return H2{__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}
SOFTGPU_DEVICE H htanh_approx(H a) { return FROM_FLOAT(__tanhf(TO_FLOAT(a))); }
SOFTGPU_DEVICE H2 h2tanh_approx(H2 a) { return H2{htanh_approx(a.x), htanh_approx(a.y)}; }
SOFTGPU_BOTH float __low2float(H2 a) { return TO_FLOAT(a.x); }
SOFTGPU_BOTH float __high2float(H2 a) { return TO_FLOAT(a.y); }
SOFTGPU_BOTH H2 __lowhigh2highlow(H2 a) { return H2{a.y, a.x}; }

/* clang-format on */
#undef H
#undef H2
#undef ADD
#undef SUB
#undef MUL
#undef FMA
#undef NEG
#undef ADD2
#undef SUB2
#undef MUL2
#undef FMA2
#undef NEG2
#undef TO_FLOAT
#undef FROM_FLOAT
