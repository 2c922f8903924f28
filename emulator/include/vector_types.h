/*
 * vector_types.h: char1 ... double4 and dim3, with CUDA's alignments: two and four components are
 * as aligned as they are large, up to 16 bytes, so that one instruction can load them.
 */
#ifndef SOFTGPU_VECTOR_TYPES_H
#define SOFTGPU_VECTOR_TYPES_H

/* clang copies a struct as bytes, and then 16 of them by two instructions. Assigned component by
 * component, all of them read before the first is written, they become the one wide load and store
 * that CUDA's programmers expect. */
#ifdef __CUDA__
#define ASSIGN(name, ...)                                                                          \
    __attribute__((host, device, always_inline, nodebug)) name &operator=(const name &from)        \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return *this;                                                                              \
    }
#else
#define ASSIGN(name, ...)
#endif

/* clang-format off */
#define VECTOR(type, name, align2, align4)                                                         \
    struct name##1 { type x; };                                                                    \
    struct __attribute__((aligned(align2))) name##2 {                                              \
        type x, y;                                                                                 \
        ASSIGN(name##2, const type a = from.x, b = from.y; x = a, y = b)                           \
    };                                                                                             \
    struct name##3 { type x, y, z; };                                                              \
    struct __attribute__((aligned(align4))) name##4 {                                              \
        type x, y, z, w;                                                                           \
        ASSIGN(name##4, const type a = from.x, b = from.y, c = from.z, d = from.w;                 \
               x = a, y = b, z = c, w = d)                                                         \
    };                                                                                             \
    typedef struct name##1 name##1;                                                                \
    typedef struct name##2 name##2;                                                                \
    typedef struct name##3 name##3;                                                                \
    typedef struct name##4 name##4;
/* clang-format on */

VECTOR(signed char, char, 2, 4)
VECTOR(unsigned char, uchar, 2, 4)
VECTOR(short, short, 4, 8)
VECTOR(unsigned short, ushort, 4, 8)
VECTOR(int, int, 8, 16)
VECTOR(unsigned, uint, 8, 16)
VECTOR(long, long, 16, 16)
VECTOR(unsigned long, ulong, 16, 16)
VECTOR(long long, longlong, 16, 16)
VECTOR(unsigned long long, ulonglong, 16, 16)
VECTOR(float, float, 8, 16)
VECTOR(double, double, 16, 16)
#undef VECTOR
#undef ASSIGN

struct dim3 {
    unsigned x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
#endif
};
typedef struct dim3 dim3;

#endif
