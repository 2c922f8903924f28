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
    SOFTGPU_LOAD(__ldg, T) SOFTGPU_LOAD(__ldcg, T) SOFTGPU_LOAD(__ldca, T) SOFTGPU_LOAD(__ldcs, T) \
    SOFTGPU_LOAD(__ldlu, T) SOFTGPU_STORE(__stwb, T) SOFTGPU_STORE(__stcg, T)                      \
    SOFTGPU_STORE(__stcs, T) SOFTGPU_STORE(__stwt, T)

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

/* clang-format on */

#endif
