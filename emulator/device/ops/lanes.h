/*
 * lanes.h: how a row of an opcode table becomes a handler: one expression, 32 lanes.
 *
 * A table (integer.def, float.def, convert.def) is read twice: with these macros to define the
 * handlers, then, behind `#include "rules.h"`, to list them. The loops are plain C that the
 * compiler turns into vector code. Destination and source may be the same row, never rows that
 * overlap otherwise: hence ivdep.
 */
#ifndef SOFTGPU_DEVICE_LANES_H
#define SOFTGPU_DEVICE_LANES_H

#include "ops.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef __int128 s128;
typedef unsigned __int128 u128;

/* What a register holds for a type: 8-bit values live in 16-bit registers. */
#define CELL_u8         u16
#define CELL_s8         s16
#define CELL_u16        u16
#define CELL_s16        s16
#define CELL_u32        u32
#define CELL_s32        s32
#define CELL_u64        u64
#define CELL_s64        s64
#define CELL_f32        f32
#define CELL_f64        f64

#define EACH_LANE       _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)
#define ROW(T, name, r) T *name = __builtin_assume_aligned(row(w, r), 32)

/* Full warps, by far the most, store without looking; others keep what their lane had. */
#define STORE_LANES(D, value)                                                                      \
    uint32_t mask = active(w, o);                                                                  \
    if (is_all(mask)) {                                                                            \
        EACH_LANE d[i] = (D)(value);                                                               \
    } else {                                                                                       \
        EACH_LANE d[i] = mask >> i & 1 ? (D)(value) : d[i];                                        \
    }                                                                                              \
    return go_on(w, o + 1);

#define DEFINE_1(name, D, A, value)                                                                \
    static inline D name##_of(A x)                                                                 \
    {                                                                                              \
        return (D)(value);                                                                         \
    }                                                                                              \
    static const op *name(warp *w, const op *o)                                                    \
    {                                                                                              \
        ROW(D, d, o->d);                                                                           \
        ROW(const A, a, o->a);                                                                     \
        STORE_LANES(D, name##_of(a[i]))                                                            \
    }

#define DEFINE_2(name, D, A, B, value)                                                             \
    static inline D name##_of(A x, B y)                                                            \
    {                                                                                              \
        return (D)(value);                                                                         \
    }                                                                                              \
    static const op *name(warp *w, const op *o)                                                    \
    {                                                                                              \
        ROW(D, d, o->d);                                                                           \
        ROW(const A, a, o->a);                                                                     \
        ROW(const B, b, o->b);                                                                     \
        STORE_LANES(D, name##_of(a[i], b[i]))                                                      \
    }

#define DEFINE_3(name, D, A, B, C, value)                                                          \
    static inline D name##_of(A x, B y, C z)                                                       \
    {                                                                                              \
        return (D)(value);                                                                         \
    }                                                                                              \
    static const op *name(warp *w, const op *o)                                                    \
    {                                                                                              \
        ROW(D, d, o->d);                                                                           \
        ROW(const A, a, o->a);                                                                     \
        ROW(const B, b, o->b);                                                                     \
        ROW(const C, c, o->c);                                                                     \
        STORE_LANES(D, name##_of(a[i], b[i], c[i]))                                                \
    }

#define DEFINE_4(name, D, A, B, C, E, value)                                                       \
    static inline D name##_of(A x, B y, C z, E u)                                                  \
    {                                                                                              \
        return (D)(value);                                                                         \
    }                                                                                              \
    static const op *name(warp *w, const op *o)                                                    \
    {                                                                                              \
        ROW(D, d, o->d);                                                                           \
        ROW(const A, a, o->a);                                                                     \
        ROW(const B, b, o->b);                                                                     \
        ROW(const C, c, o->c);                                                                     \
        ROW(const E, e, o->e);                                                                     \
        STORE_LANES(D, name##_of(a[i], b[i], c[i], e[i]))                                          \
    }

static inline void write_mask(warp *w, operand d, uint32_t mask, uint32_t value)
{
    uint32_t *p = row(w, d);
    *p = (*p & ~mask) | (value & mask);
}

/* setp.lt.and.s32 p|q, a, b, c: p = (a < b) and c, q = !(a < b) and c. */
enum { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };

static inline const op *finish_compare(warp *w, const op *o, uint32_t yes)
{
    uint32_t no = ~yes;
    uint32_t mask = active(w, o);
    if (o->variant != COMBINE_NONE) {
        uint32_t c = *(const uint32_t *)row(w, o->c);
        yes = o->variant == COMBINE_AND ? yes & c : o->variant == COMBINE_OR ? yes | c : yes ^ c;
        no = o->variant == COMBINE_AND ? no & c : o->variant == COMBINE_OR ? no | c : no ^ c;
    }
    if (o->d) write_mask(w, o->d, mask, yes);
    if (o->v[0]) write_mask(w, o->v[0], mask, no);
    return go_on(w, o + 1);
}

#define DEFINE_COMPARE(name, A, value)                                                             \
    static inline bool name##_of(A x, A y)                                                         \
    {                                                                                              \
        return (value);                                                                            \
    }                                                                                              \
    static const op *name(warp *w, const op *o)                                                    \
    {                                                                                              \
        ROW(const A, a, o->a);                                                                     \
        ROW(const A, b, o->b);                                                                     \
        uint32_t yes = 0; /* shifts by lane numbers and an OR: all of it vector code */            \
        EACH_LANE yes |= (uint32_t)name##_of(a[i], b[i]) << i;                                     \
        return finish_compare(w, o, yes);                                                          \
    }

#define DEFINE_SELECT(name, D)                                                                     \
    static const op *name(warp *w, const op *o)                                                    \
    {                                                                                              \
        ROW(D, d, o->d);                                                                           \
        ROW(const D, a, o->a);                                                                     \
        ROW(const D, b, o->b);                                                                     \
        uint32_t p = *(const uint32_t *)row(w, o->c);                                              \
        STORE_LANES(D, p >> i & 1 ? a[i] : b[i])                                                   \
    }

#define DEFINE_LOGIC(name, value)                                                                  \
    static const op *name(warp *w, const op *o)                                                    \
    {                                                                                              \
        uint32_t x = *(const uint32_t *)row(w, o->a), y = *(const uint32_t *)row(w, o->b);         \
        write_mask(w, o->d, active(w, o), value);                                                  \
        return go_on(w, o + 1);                                                                    \
    }

/* o->e is the carry in, o->v[0] the carry out (0: none). */
#define DEFINE_CARRY(name, T, sum, carry)                                                          \
    static const op *name(warp *w, const op *o)                                                    \
    {                                                                                              \
        ROW(T, d, o->d);                                                                           \
        ROW(const T, a, o->a);                                                                     \
        ROW(const T, b, o->b);                                                                     \
        ROW(const T, c, o->c);                                                                     \
        uint32_t in = *(const uint32_t *)row(w, o->e), out = 0, mask = active(w, o);               \
        for (int i = 0; i < LANES; i++) {                                                          \
            T x = a[i], y = b[i], z = c[i], k = in >> i & 1;                                       \
            (void)z;                                                                               \
            out |= (uint32_t)((carry) != 0) << i;                                                  \
            if (mask >> i & 1) d[i] = sum;                                                         \
        }                                                                                          \
        if (o->v[0]) write_mask(w, o->v[0], mask, out);                                            \
        return go_on(w, o + 1);                                                                    \
    }

#define UNARY(name, text, D, A, value)               DEFINE_1(name, D, A, value)
#define BINARY(name, text, D, A, B, value)           DEFINE_2(name, D, A, B, value)
#define TERNARY(name, text, D, A, B, C, value)       DEFINE_3(name, D, A, B, C, value)
#define QUATERNARY(name, text, D, A, B, C, E, value) DEFINE_4(name, D, A, B, C, E, value)
#define COMPARE(name, text, A, value)                DEFINE_COMPARE(name, A, value)
#define SELECT(name, text, D)                        DEFINE_SELECT(name, D)
#define LOGIC(name, text, value)                     DEFINE_LOGIC(name, value)
#define CARRY(name, text, T, sum, carry)             DEFINE_CARRY(name, T, sum, carry)

#endif
