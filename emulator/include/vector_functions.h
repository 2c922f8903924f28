/*
 * vector_functions.h: make_char1 ... make_double4.
 */
#ifndef SOFTGPU_VECTOR_FUNCTIONS_H
#define SOFTGPU_VECTOR_FUNCTIONS_H

#include "host_defines.h"
#include "vector_types.h"

/* clang-format off */
#define MAKE(type, name)                                                                           \
    SOFTGPU_BOTH name##1 make_##name##1(type x) { name##1 v = {x}; return v; }                     \
    SOFTGPU_BOTH name##2 make_##name##2(type x, type y) { name##2 v = {x, y}; return v; }          \
    SOFTGPU_BOTH name##3 make_##name##3(type x, type y, type z)                                    \
    { name##3 v = {x, y, z}; return v; }                                                           \
    SOFTGPU_BOTH name##4 make_##name##4(type x, type y, type z, type w)                            \
    { name##4 v = {x, y, z, w}; return v; }
/* clang-format on */

MAKE(signed char, char)
MAKE(unsigned char, uchar)
MAKE(short, short)
MAKE(unsigned short, ushort)
MAKE(int, int)
MAKE(unsigned, uint)
MAKE(long, long)
MAKE(unsigned long, ulong)
MAKE(long long, longlong)
MAKE(unsigned long long, ulonglong)
MAKE(float, float)
MAKE(double, double)
#undef MAKE

#endif
