/*
 * simd_functions.h: two numbers of 16 bits or four of 8 in one word: __vadd4 and its kin.
 */
#ifndef SOFTGPU_SIMD_FUNCTIONS_H
#define SOFTGPU_SIMD_FUNCTIONS_H

#include "../host_defines.h"

/* clang-format off */

/* Each part of a and of b, as a number x and y of type T, gives `result`. */
#define PARTS(name, parts, T, result)                                                              \
    SOFTGPU_DEVICE unsigned name(unsigned a, unsigned b)                                           \
    {                                                                                              \
        const int bits = 32 / parts;                                                               \
        const unsigned ones = (1u << bits) - 1;                                                    \
        unsigned all = 0;                                                                          \
        for (int i = 0; i < parts; i++) {                                                          \
            const int x = (T)(a >> bits * i & ones), y = (T)(b >> bits * i & ones);                \
            all |= ((unsigned)(result) & ones) << bits * i;                                        \
        }                                                                                          \
        return all;                                                                                \
    }
#define BOTH(prefix, operation, n, S, U)                                                           \
    PARTS(prefix##s##n, n, S, operation) PARTS(prefix##u##n, n, U, operation)
#define WIDTH(n, S, U, least, most, umost)                                                         \
    PARTS(__vadd##n, n, U, x + y) PARTS(__vsub##n, n, U, x - y)                                    \
    PARTS(__vaddus##n, n, U, x + y > umost ? umost : x + y)                                        \
    PARTS(__vsubus##n, n, U, x < y ? 0 : x - y)                                                    \
    PARTS(__vaddss##n, n, S, x + y > most ? most : x + y < least ? least : x + y)                  \
    PARTS(__vsubss##n, n, S, x - y > most ? most : x - y < least ? least : x - y)                  \
    PARTS(__vavgu##n, n, U, (x + y + 1) >> 1) PARTS(__vhaddu##n, n, U, (x + y) >> 1)               \
    PARTS(__vavgs##n, n, S, x + y < 0 ? -((1 - x - y) >> 1) : (x + y + 1) >> 1)                   \
    BOTH(__vabsdiff, x < y ? y - x : x - y, n, S, U)                                               \
    BOTH(__vmax, x < y ? y : x, n, S, U) BOTH(__vmin, x < y ? x : y, n, S, U)                      \
    PARTS(__vcmpeq##n, n, U, x == y ? -1 : 0) PARTS(__vcmpne##n, n, U, x != y ? -1 : 0)            \
    BOTH(__vcmpgt, x > y ? -1 : 0, n, S, U) BOTH(__vcmpge, x >= y ? -1 : 0, n, S, U)               \
    BOTH(__vcmplt, x < y ? -1 : 0, n, S, U) BOTH(__vcmple, x <= y ? -1 : 0, n, S, U)               \
    PARTS(__vseteq##n, n, U, x == y) PARTS(__vsetne##n, n, U, x != y)                              \
    BOTH(__vsetgt, x > y, n, S, U) BOTH(__vsetge, x >= y, n, S, U)                                 \
    BOTH(__vsetlt, x < y, n, S, U) BOTH(__vsetle, x <= y, n, S, U)                                 \
    SOFTGPU_DEVICE unsigned __vneg##n(unsigned a) { return __vsub##n(0, a); }                      \
    SOFTGPU_DEVICE unsigned __vabs##n(unsigned a) { return __vmaxs##n(a, __vneg##n(a)); } \
    SOFTGPU_DEVICE unsigned __vnegss##n(unsigned a) { return __vsubss##n(0, a); }                  \
    SOFTGPU_DEVICE unsigned __vabsss##n(unsigned a) { return __vmaxs##n(a, __vnegss##n(a)); }

WIDTH(2, short, unsigned short, -32768, 32767, 65535)
WIDTH(4, signed char, unsigned char, -128, 127, 255)

/* Sums of the differences of all parts. */
SOFTGPU_DEVICE unsigned softgpu_sum_of_parts(unsigned a, int bits)
{
    unsigned sum = 0;
    for (int at = 0; at < 32; at += bits) sum += a >> at & ((1u << bits) - 1);
    return sum;
}
SOFTGPU_DEVICE unsigned __vsadu2(unsigned a, unsigned b) { return softgpu_sum_of_parts(__vabsdiffu2(a, b), 16); }
SOFTGPU_DEVICE unsigned __vsads2(unsigned a, unsigned b) { return softgpu_sum_of_parts(__vabsdiffs2(a, b), 16); }
SOFTGPU_DEVICE unsigned __vsads4(unsigned a, unsigned b) { return softgpu_sum_of_parts(__vabsdiffs4(a, b), 8); }
SOFTGPU_DEVICE unsigned __vsadu4(unsigned a, unsigned b) { return softgpu_sum_of_parts(__vabsdiffu4(a, b), 8); }

#undef PARTS
#undef BOTH
#undef WIDTH
/* clang-format on */

#endif
