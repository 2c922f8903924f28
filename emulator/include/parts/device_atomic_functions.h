/*
 * device_atomic_functions.h: atomicAdd and its kin, each for the device, the block (_block) and the
 * system (_system).
 */
#ifndef SOFTGPU_DEVICE_ATOMIC_FUNCTIONS_H
#define SOFTGPU_DEVICE_ATOMIC_FUNCTIONS_H

#include "../host_defines.h"

/* clang-format off */

#define EACH_SCOPE(each, ...)                                                                      \
    each(, "", __VA_ARGS__) each(_block, ".cta", __VA_ARGS__) each(_system, ".sys", __VA_ARGS__)

/* value-taking operations: old = *p; *p = op(old, v) */
#define ATOMIC(suffix, scope, name, T, t, op)                                                      \
    SOFTGPU_DEVICE T name##suffix(T *p, T v)                                                       \
    {                                                                                              \
        T old;                                                                                     \
        asm volatile("atom" scope "." op " %0, [%1], %2;" : "=" t(old) : "l"(p), t(v) : "memory"); \
        return old;                                                                                \
    }
#define EXCHANGE(suffix, scope, T, t, type)                                                        \
    SOFTGPU_DEVICE T atomicCAS##suffix(T *p, T expected, T v)                                      \
    {                                                                                              \
        T old;                                                                                     \
        asm volatile("atom" scope ".cas." type " %0, [%1], %2, %3;"                                \
                     : "=" t(old) : "l"(p), t(expected), t(v) : "memory");                         \
        return old;                                                                                \
    }
#define SUBTRACT(suffix, scope, T)                                                                 \
    SOFTGPU_DEVICE T atomicSub##suffix(T *p, T v) { return atomicAdd##suffix(p, (T)-v); }

#define BITWISE(T, t, type)                                                                        \
    EACH_SCOPE(ATOMIC, atomicAnd, T, t, "and." type) EACH_SCOPE(ATOMIC, atomicOr, T, t, "or." type)\
    EACH_SCOPE(ATOMIC, atomicXor, T, t, "xor." type)                                               \
    EACH_SCOPE(ATOMIC, atomicExch, T, t, "exch." type) EACH_SCOPE(EXCHANGE, T, t, type)
#define ORDERED(T, t, type)                                                                        \
    EACH_SCOPE(ATOMIC, atomicMin, T, t, "min." type) EACH_SCOPE(ATOMIC, atomicMax, T, t, "max." type)

BITWISE(int, "r", "b32") BITWISE(unsigned, "r", "b32") BITWISE(unsigned long long, "l", "b64")
BITWISE(long long, "l", "b64")
ORDERED(int, "r", "s32") ORDERED(unsigned, "r", "u32") ORDERED(unsigned long long, "l", "u64")
ORDERED(long long, "l", "s64")
EACH_SCOPE(ATOMIC, atomicAdd, int, "r", "add.s32")
EACH_SCOPE(ATOMIC, atomicAdd, unsigned, "r", "add.u32")
EACH_SCOPE(ATOMIC, atomicAdd, unsigned long long, "l", "add.u64")
EACH_SCOPE(ATOMIC, atomicAdd, float, "f", "add.f32")
EACH_SCOPE(ATOMIC, atomicAdd, double, "d", "add.f64")
EACH_SCOPE(ATOMIC, atomicExch, float, "f", "exch.b32")
EACH_SCOPE(ATOMIC, atomicInc, unsigned, "r", "inc.u32")
EACH_SCOPE(ATOMIC, atomicDec, unsigned, "r", "dec.u32")
EACH_SCOPE(EXCHANGE, unsigned short, "h", "b16")
EACH_SCOPE(SUBTRACT, int) EACH_SCOPE(SUBTRACT, unsigned)

#undef EACH_SCOPE
#undef ATOMIC
#undef EXCHANGE
#undef SUBTRACT
#undef BITWISE
#undef ORDERED
/* clang-format on */

#endif
