/*
 * typed_functions.h: shuffles, and loads and stores with a cache hint: functions for each type, as
 * CUDA has them, so that a program may add templates of its own by their names.
 */
#ifndef SOFTGPU_TYPED_FUNCTIONS_H
#define SOFTGPU_TYPED_FUNCTIONS_H

#include "../host_defines.h"
#include "../vector_types.h"

/* clang-format off */

/* Word by word. `edge`: 0x1f, the last lane of a segment; an upward shuffle stops at the first, 0. */
#define SHUFFLE(name, op, edge)                                                                    \
    template <class T> SOFTGPU_DEVICE T softgpu_shfl##name(unsigned mask, T value, int lane, int width = warpSize) \
    {                                                                                              \
        unsigned word[(sizeof(T) + 3) / 4] = {0}, limits = (unsigned)(warpSize - width) << 8 | edge; \
        __builtin_memcpy(word, &value, sizeof value);                                              \
        for (unsigned i = 0; i < sizeof word / 4; i++)                                             \
            asm volatile("shfl.sync." op ".b32 %0, %1, %2, %3, %4;"                                \
                         : "=r"(word[i]) : "r"(word[i]), "r"(lane), "r"(limits), "r"(mask)         \
                         : "memory");                                                              \
        __builtin_memcpy(&value, word, sizeof value);                                              \
        return value;                                                                              \
    }
SHUFFLE(, "idx", 0x1f) SHUFFLE(_up, "up", 0) SHUFFLE(_down, "down", 0x1f) SHUFFLE(_xor, "bfly", 0x1f)
#undef SHUFFLE

#define SOFTGPU_SHUFFLE(T, name, L)                                                                \
    SOFTGPU_DEVICE T __shfl##name##_sync(unsigned mask, T value, L lane, int width = warpSize)     \
    { return softgpu_shfl##name(mask, value, (int)lane, width); }
#define SOFTGPU_SHUFFLES(T)                                                                        \
    SOFTGPU_SHUFFLE(T, , int) SOFTGPU_SHUFFLE(T, _up, unsigned)                                    \
    SOFTGPU_SHUFFLE(T, _down, unsigned) SOFTGPU_SHUFFLE(T, _xor, int)

/* The hint means nothing here. */
#define SOFTGPU_LOAD(name, T)  SOFTGPU_DEVICE T name(const T *p) { return *p; }
#define SOFTGPU_STORE(name, T) SOFTGPU_DEVICE void name(T *p, T value) { *p = value; }
#define SOFTGPU_LOADS_AND_STORES(T)                                                                \
    SOFTGPU_LOAD(__ldcg, T) SOFTGPU_LOAD(__ldca, T) SOFTGPU_LOAD(__ldcs, T) SOFTGPU_LOAD(__ldlu, T) \
    SOFTGPU_STORE(__stwb, T) SOFTGPU_STORE(__stcg, T) SOFTGPU_STORE(__stcs, T) SOFTGPU_STORE(__stwt, T)

/* Except where a load looks anew each time. */
#define NUMBER(T)                                                                                   \
    SOFTGPU_LOADS_AND_STORES(T)                                                                    \
    SOFTGPU_DEVICE T __ldcv(const T *p) { return *(const volatile T *)p; }
#define WORD(T) SOFTGPU_SHUFFLES(T) NUMBER(T)
#define VECTOR(T) SOFTGPU_LOADS_AND_STORES(T) SOFTGPU_LOAD(__ldcv, T)
WORD(int) WORD(long) WORD(long long) WORD(unsigned) WORD(unsigned long) WORD(unsigned long long)
WORD(float) WORD(double)
NUMBER(char) NUMBER(signed char) NUMBER(short) NUMBER(unsigned char) NUMBER(unsigned short)
VECTOR(char2) VECTOR(char4) VECTOR(short2) VECTOR(short4) VECTOR(int2) VECTOR(int4) VECTOR(uchar2)
VECTOR(uchar4) VECTOR(ushort2) VECTOR(ushort4) VECTOR(uint2) VECTOR(uint4) VECTOR(longlong2)
VECTOR(ulonglong2) VECTOR(float2) VECTOR(float4) VECTOR(double2)
#undef WORD
#undef NUMBER
#undef VECTOR

/* By the cache of memory that no thread writes. */
#define NUMBER(T, name) SOFTGPU_DEVICE T __ldg(const T *p) { return __nvvm_ldg_##name(p); }
#define VECTOR(T, name, E, n)                                                                      \
    SOFTGPU_DEVICE T __ldg(const T *p)                                                             \
    {                                                                                              \
        typedef E elements __attribute__((ext_vector_type(n)));                                    \
        elements from = __nvvm_ldg_##name##n((const elements *)p);                                 \
        T to;                                                                                      \
        __builtin_memcpy(&to, &from, sizeof to);                                                   \
        return to;                                                                                 \
    }
NUMBER(char, c) NUMBER(short, s) NUMBER(int, i) NUMBER(long, l) NUMBER(long long, ll) NUMBER(float, f)
NUMBER(unsigned char, uc) NUMBER(unsigned short, us) NUMBER(unsigned, ui) NUMBER(unsigned long, ul)
NUMBER(unsigned long long, ull) NUMBER(double, d)
VECTOR(char2, c, char, 2) VECTOR(short2, s, short, 2) VECTOR(int2, i, int, 2) VECTOR(longlong2, ll, long long, 2)
VECTOR(uchar2, uc, unsigned char, 2) VECTOR(ushort2, us, unsigned short, 2) VECTOR(uint2, ui, unsigned, 2)
VECTOR(ulonglong2, ull, unsigned long long, 2) VECTOR(float2, f, float, 2) VECTOR(double2, d, double, 2)
VECTOR(char4, c, char, 4) VECTOR(short4, s, short, 4) VECTOR(int4, i, int, 4) VECTOR(float4, f, float, 4)
VECTOR(uchar4, uc, unsigned char, 4) VECTOR(ushort4, us, unsigned short, 4) VECTOR(uint4, ui, unsigned, 4)
SOFTGPU_DEVICE signed char __ldg(const signed char *p) { return (signed char)__ldg((const char *)p); }
#undef NUMBER
#undef VECTOR

/* clang-format on */

#endif
