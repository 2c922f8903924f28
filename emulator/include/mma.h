/*
 * mma.h: nvcuda::wmma, products of small matrices by a whole warp.
 *
 * A fragment is what one thread holds of a matrix; which elements those are is the device's
 * business. The tables at the end give each shape and type its loads, stores and products, an
 * instruction each.
 */
#ifndef SOFTGPU_MMA_H
#define SOFTGPU_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#ifdef __CUDA__
namespace nvcuda
{
namespace wmma
{

struct matrix_a {
};
struct matrix_b {
};
struct accumulator {
};
struct row_major {
};
struct col_major {
};
enum layout_t { mem_row_major, mem_col_major };
namespace precision
{
struct tf32 {
};
} // namespace precision
namespace experimental
{
namespace precision
{
struct u4 {
};
struct s4 {
};
struct b1 {
};
} // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
} // namespace experimental

/* ---- fragments ------------------------------------------------------------------------------- */

namespace details
{
template <class T> struct storage {
    typedef T type;
};
template <> struct storage<precision::tf32> {
    typedef float type;
};
template <> struct storage<experimental::precision::u4> {
    typedef unsigned type;
};
template <> struct storage<experimental::precision::s4> {
    typedef int type;
};
template <> struct storage<experimental::precision::b1> {
    typedef unsigned type;
};

/** Elements a thread holds, or words of elements smaller than a byte. Those of half operands lie
 *  there twice. */
template <class T> constexpr int elements(matrix_a, int m, int, int k)
{
    return k > 16 ? 1 : m * k / 32;
}
template <class T> constexpr int elements(matrix_b, int, int n, int k)
{
    return k > 16 ? 1 : n * k / 32;
}
template <class T> constexpr int elements(accumulator, int m, int n, int)
{
    return m * n / 32;
}
template <> constexpr int elements<__half>(matrix_a, int, int, int)
{
    return 16;
}
template <> constexpr int elements<__half>(matrix_b, int, int, int)
{
    return 16;
}
} // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void> class fragment
{
  public:
    typedef typename details::storage<T>::type element_type;
    enum {
        num_elements = details::elements<T>(Use(), M, N, K),
        num_storage_elements = num_elements
    };
    element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout, class Value>
SOFTGPU_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout> &f, Value value)
{
    for (auto &x : f.x) x = value;
}

SOFTGPU_DEVICE float __float_to_tf32(float f)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(f));
    return __uint_as_float(bits);
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Lists of 1 to 8 registers: their names in the PTX, and the words they stand for. */
#define NAMES1(a)      "%[" #a "0]"
#define NAMES2(a)      NAMES1(a) ",%[" #a "1]"
#define NAMES4(a)      NAMES2(a) ",%[" #a "2],%[" #a "3]"
#define NAMES8(a)      NAMES4(a) ",%[" #a "4],%[" #a "5],%[" #a "6],%[" #a "7]"
#define WORDS1(a, t)   [a##0] t(a[0])
#define WORDS2(a, t)   WORDS1(a, t), [a##1] t(a[1])
#define WORDS4(a, t)   WORDS2(a, t), [a##2] t(a[2]), [a##3] t(a[3])
#define WORDS8(a, t)   WORDS4(a, t), [a##4] t(a[4]), [a##5] t(a[5]), [a##6] t(a[6]), [a##7] t(a[7])
#define PASTE(a, b)    a##b
#define NAMES(n, a)    "{" PASTE(NAMES, n)(a) "}"
#define WORDS(n, a, t) PASTE(WORDS, n)(a, t)

/* W: the word, r: its letter in an asm */
#define LOAD(W, r, n, op)                                                                          \
    W w[n];                                                                                        \
    static_assert(sizeof w == sizeof f.x, "all of the fragment");                                  \
    asm volatile(op " " NAMES(n, w) ", [%[p]], %[stride];"                                         \
                 : WORDS(n, w, "=" r)                                                              \
                 : [p] "l"(p), [stride] "r"(stride)                                                \
                 : "memory");                                                                      \
    __builtin_memcpy(f.x, w, sizeof w);
#define STORE(W, r, n, op)                                                                         \
    asm volatile(op " [%[p]], " NAMES(n, w) ", %[stride];" ::WORDS(n, w, r), [p] "l"(p),           \
                 [stride] "r"(stride)                                                              \
                 : "memory");

#define LOAD_OPERAND(use, letter, layout, m, n, k, T, S, type, W, r, words)                        \
    SOFTGPU_DEVICE void load_matrix_sync(fragment<use, m, n, k, T, layout##_major> &f, const S *p, \
                                         unsigned stride)                                          \
    {                                                                                              \
        LOAD(W, r, words, "wmma.load." letter ".sync.aligned." #layout ".m" #m "n" #n "k" #k type) \
    }
#define LOAD_OPERANDS(m, n, k, T, S, type, W, r, words_a, words_b)                                 \
    LOAD_OPERAND(matrix_a, "a", row, m, n, k, T, S, type, W, r, words_a)                           \
    LOAD_OPERAND(matrix_a, "a", col, m, n, k, T, S, type, W, r, words_a)                           \
    LOAD_OPERAND(matrix_b, "b", row, m, n, k, T, S, type, W, r, words_b)                           \
    LOAD_OPERAND(matrix_b, "b", col, m, n, k, T, S, type, W, r, words_b)

#define ACCUMULATOR(m, n, k, T, type, W, r, words)                                                 \
    SOFTGPU_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p,         \
                                         unsigned stride, layout_t layout)                         \
    {                                                                                              \
        if (layout == mem_row_major) {                                                             \
            LOAD(W, r, words, "wmma.load.c.sync.aligned.row.m" #m "n" #n "k" #k type)              \
        } else {                                                                                   \
            LOAD(W, r, words, "wmma.load.c.sync.aligned.col.m" #m "n" #n "k" #k type)              \
        }                                                                                          \
    }                                                                                              \
    SOFTGPU_DEVICE void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f,        \
                                          unsigned stride, layout_t layout)                        \
    {                                                                                              \
        W w[words];                                                                                \
        __builtin_memcpy(w, f.x, sizeof w);                                                        \
        if (layout == mem_row_major) {                                                             \
            STORE(W, r, words, "wmma.store.d.sync.aligned.row.m" #m "n" #n "k" #k type)            \
        } else {                                                                                   \
            STORE(W, r, words, "wmma.store.d.sync.aligned.col.m" #m "n" #n "k" #k type)            \
        }                                                                                          \
    }

#define PRODUCT(name, op, la, lb, m, n, k, T, D, C, types, W, r, na, nb, nd, nc)                   \
    SOFTGPU_DEVICE void name(fragment<accumulator, m, n, k, D> &fd,                                \
                             const fragment<matrix_a, m, n, k, T, la##_major> &fa,                 \
                             const fragment<matrix_b, m, n, k, T, lb##_major> &fb,                 \
                             const fragment<accumulator, m, n, k, C> &fc)                          \
    {                                                                                              \
        W d[nd], a[na], b[nb], c[nc];                                                              \
        __builtin_memcpy(a, fa.x, sizeof a);                                                       \
        __builtin_memcpy(b, fb.x, sizeof b);                                                       \
        __builtin_memcpy(c, fc.x, sizeof c);                                                       \
        asm volatile(op ".sync.aligned." #la "." #lb ".m" #m "n" #n "k" #k types                   \
                        " " NAMES(nd, d) ", " NAMES(na, a) ", " NAMES(nb, b) ", " NAMES(nc, c) ";" \
                     : WORDS(nd, d, "=" r)                                                         \
                     : WORDS(na, a, r), WORDS(nb, b, r), WORDS(nc, c, r));                         \
        __builtin_memcpy(fd.x, d, sizeof d);                                                       \
    }
#define PRODUCTS(...)                                                                              \
    PRODUCT(mma_sync, "wmma.mma", row, row, __VA_ARGS__)                                           \
    PRODUCT(mma_sync, "wmma.mma", row, col, __VA_ARGS__)                                           \
    PRODUCT(mma_sync, "wmma.mma", col, row, __VA_ARGS__)                                           \
    PRODUCT(mma_sync, "wmma.mma", col, col, __VA_ARGS__)

/* ---- the tables ------------------------------------------------------------------------------ */

/* shape; words of a and b for bfloat16, then for bytes */
#define SHAPE(m, n, k, a16, b16, a8, b8)                                                           \
    ACCUMULATOR(m, n, k, float, ".f32", unsigned, "r", 8)                                          \
    ACCUMULATOR(m, n, k, __half, ".f16", unsigned, "r", 4)                                         \
    ACCUMULATOR(m, n, k, int, ".s32", unsigned, "r", 8)                                            \
    LOAD_OPERANDS(m, n, k, __half, __half, ".f16", unsigned, "r", 8, 8)                            \
    LOAD_OPERANDS(m, n, k, __nv_bfloat16, __nv_bfloat16, ".bf16", unsigned, "r", a16, b16)         \
    LOAD_OPERANDS(m, n, k, signed char, signed char, ".s8", unsigned, "r", a8, b8)                 \
    LOAD_OPERANDS(m, n, k, unsigned char, unsigned char, ".u8", unsigned, "r", a8, b8)             \
    PRODUCTS(m, n, k, __half, float, float, ".f32.f32", unsigned, "r", 8, 8, 8, 8)                 \
    PRODUCTS(m, n, k, __half, float, __half, ".f32.f16", unsigned, "r", 8, 8, 8, 4)                \
    PRODUCTS(m, n, k, __half, __half, float, ".f16.f32", unsigned, "r", 8, 8, 4, 8)                \
    PRODUCTS(m, n, k, __half, __half, __half, ".f16.f16", unsigned, "r", 8, 8, 4, 4)               \
    PRODUCTS(m, n, k, __nv_bfloat16, float, float, ".f32.bf16.bf16.f32", unsigned, "r", a16, b16,  \
             8, 8)                                                                                 \
    PRODUCTS(m, n, k, signed char, int, int, ".s32.s8.s8.s32", unsigned, "r", a8, b8, 8, 8)        \
    PRODUCTS(m, n, k, unsigned char, int, int, ".s32.u8.u8.s32", unsigned, "r", a8, b8, 8, 8)

SHAPE(16, 16, 16, 4, 4, 2, 2)
SHAPE(32, 8, 16, 8, 2, 4, 1)
SHAPE(8, 32, 16, 2, 8, 1, 4)

ACCUMULATOR(16, 16, 8, float, ".f32", unsigned, "r", 8)
LOAD_OPERANDS(16, 16, 8, precision::tf32, float, ".tf32", unsigned, "r", 4, 4)
PRODUCTS(16, 16, 8, precision::tf32, float, float, ".f32.tf32.tf32.f32", unsigned, "r", 4, 4, 8, 8)

ACCUMULATOR(8, 8, 4, double, ".f64", double, "d", 2)
LOAD_OPERANDS(8, 8, 4, double, double, ".f64", double, "d", 1, 1)
PRODUCTS(8, 8, 4, double, double, double, ".f64.f64.f64.f64", double, "d", 1, 1, 2, 2)

/* less than a byte: rows by columns only */
#define SMALL(k, T, type)                                                                          \
    LOAD_OPERAND(matrix_a, "a", row, 8, 8, k, experimental::precision::T, void, type, unsigned,    \
                 "r", 1)                                                                           \
    LOAD_OPERAND(matrix_b, "b", col, 8, 8, k, experimental::precision::T, void, type, unsigned,    \
                 "r", 1)
#define SMALL_PRODUCT(name, op, k, T, types)                                                       \
    PRODUCT(name, op, row, col, 8, 8, k, experimental::precision::T, int, int, types, unsigned,    \
            "r", 1, 1, 2, 2)
ACCUMULATOR(8, 8, 32, int, ".s32", unsigned, "r", 2)
ACCUMULATOR(8, 8, 128, int, ".s32", unsigned, "r", 2)
SMALL(32, u4, ".u4")
SMALL(32, s4, ".s4") SMALL(128, b1, ".b1")
    SMALL_PRODUCT(mma_sync, "wmma.mma", 32, u4, ".s32.u4.u4.s32")
        SMALL_PRODUCT(mma_sync, "wmma.mma", 32, s4, ".s32.s4.s4.s32")
            SMALL_PRODUCT(softgpu_bmma_xor, "wmma.mma.xor.popc", 128, b1, ".s32.b1.b1.s32")
                SMALL_PRODUCT(softgpu_bmma_and, "wmma.mma.and.popc", 128, b1, ".s32.b1.b1.s32")
#undef SMALL
#undef SMALL_PRODUCT

                    template <class D, class A, class B>
                    SOFTGPU_DEVICE
    void bmma_sync(D &d, const A &a, const B &b, const D &c,
                   experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
                   experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC)
{
    if (op == experimental::bmmaBitOpXOR)
        softgpu_bmma_xor(d, a, b, c);
    else
        softgpu_bmma_and(d, a, b, c);
}

#undef NAMES1
#undef NAMES2
#undef NAMES4
#undef NAMES8
#undef WORDS1
#undef WORDS2
#undef WORDS4
#undef WORDS8
#undef PASTE
#undef NAMES
#undef WORDS
#undef LOAD
#undef STORE
#undef LOAD_OPERAND
#undef LOAD_OPERANDS
#undef ACCUMULATOR
#undef PRODUCT
#undef PRODUCTS
#undef SHAPE

} // namespace wmma
} // namespace nvcuda

#endif
#endif
