/*
 * wgmma.h: products by the tensor cores of a Hopper GPU, whose operands are in shared memory.
 *
 *   descriptor                             where an operand is
 *   fence_sums, commit_products            before the first product of a group, after its last
 *   wait_for_products                      until sums are there and operands may be overwritten
 *   wgmma_bf16_n64, _n80, _n128, _n256     sum (+)= a b of bf16, sums in fp32
 *   wgmma_tf32_n128                        of TF32, a in registers
 *   wgmma_e4m3_n128                        of fp8
 *   wgmma_s8_n128, ..._n256                of int8, sums in int32
 *
 * You compute with descriptors first in 4b. hopper.h says when these may be called.
 *
 * A *group* is 128 threads, four warps, the first of which is a multiple of 4. All call a function
 * together. A product sum[64 x n] += a[64 x k] b[k x n] has k of 32 bytes: 8 floats, 16 bf16
 * or 32 numbers of 8 bits. It only begins: the threads go on.
 *
 * sum[j][i] is of columns 8 j to 8 j + 7, in each group of 8 as in tensor_core.h. Warp w has rows
 * 16 w to 16 w + 15:
 *
 *     sum[j][0], sum[j][1]   row 16 w + l / 4,     columns 8 j + 2 (l % 4) and the next
 *     sum[j][2], sum[j][3]   row 16 w + l / 4 + 8, the same columns
 *
 * Operands of a group of products:
 *
 *     barrier_wait(...);               the tiles are there
 *     fence_sums();
 *     wgmma_bf16_n256<0>(sum, a, b, true);  ...
 *     commit_products();
 *     wait_for_products<0>();          now read sum
 */
#ifndef COURSE_WGMMA_H
#define COURSE_WGMMA_H

#include "hopper.h"

#if TENSOR_MAPS

/**
 * An operand in shared memory that the TMA wrote with a swizzle of 128 bytes: rows of 128 bytes,
 * blocks of 8 rows at multiples of 1024 bytes. Distances in bytes:
 *
 *   rows along k    `next` leads to the next 8 rows; `over` counts for nothing: 16
 *   turned (bf16)   rows along n (or m): `next` leads to the next 8 of k, `over` to the next 64
 *                   columns
 *
 * The next k: add 32 >> 4 to a descriptor whose rows run along k, 16 * 128 >> 4 to a turned one.
 */
__device__ __forceinline__ static uint64_t descriptor(uint32_t address, int over, int next)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(over >> 4) << 16 |
           (uint64_t)(next >> 4) << 32 | (uint64_t)1 << 62;
}

/** Registers (the sums, or a) that threads wrote are in place for the products that follow. */
__device__ __forceinline__ static void fence_sums(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/** Make a group of the products since the last commit. */
__device__ __forceinline__ static void commit_products(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/** Products of up to OPEN last groups may go on; older ones have read their operands and written
 *  their sums. */
template <int OPEN> __device__ __forceinline__ static void wait_for_products(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(OPEN) : "memory");
}

/* ---- the products ---------------------------------------------------------------------------- */

/* Sums as the instruction's text names them, and as operands: kind(sum[0][0]), ... */
#define TEN(d)                                                                                     \
    "%" #d "0, %" #d "1, %" #d "2, %" #d "3, %" #d "4, %" #d "5, %" #d "6, %" #d "7, %" #d         \
    "8, %" #d "9, "
#define SIX_TENS TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5)
#define TEXT_64  TEN() TEN(1) TEN(2) "%30, %31"
#define TEXT_80  TEXT_64 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define TEXT_128 SIX_TENS "%60, %61, %62, %63"
#define TEXT_256                                                                                   \
    SIX_TENS TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)                                                   \
        TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127"

#define FOUR(kind, j)     kind(sum[j][0]), kind(sum[j][1]), kind(sum[j][2]), kind(sum[j][3])
#define SIXTEEN(kind, j)  FOUR(kind, j), FOUR(kind, j + 1), FOUR(kind, j + 2), FOUR(kind, j + 3)
#define SUMS_64(kind, j)  SIXTEEN(kind, j), SIXTEEN(kind, j + 4)
#define SUMS_80(kind, j)  SUMS_64(kind, j), FOUR(kind, j + 8), FOUR(kind, j + 9)
#define SUMS_128(kind, j) SUMS_64(kind, j), SUMS_64(kind, j + 8)
#define SUMS_256(kind, j) SUMS_128(kind, j), SUMS_128(kind, j + 16)

/* Without `add` the product replaces the sums. `operands` begins behind the sums' numbers. */
#define PRODUCT(n, kind, types, if_add, operands, ...)                                             \
    asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " if_add ", 0;\n"                         \
                 "wgmma.mma_async.sync.aligned.m64n" #n types " {" TEXT_##n "}, " operands ";\n}"  \
                 : SUMS_##n(kind, 0)                                                               \
                 : __VA_ARGS__, "r"((int)add))

/** bf16: sum[64 x n] = a b, or += if `add`. a by its descriptor, rows along k; b's rows run along
 *  n if TURNED, else along k (then it is b^T that is in memory). */
template <int TURNED>
__device__ __forceinline__ static void wgmma_bf16_n64(float sum[8][4], uint64_t a, uint64_t b,
                                                      bool add)
{
    PRODUCT(64, "+f", "k16.f32.bf16.bf16", "%35", "%32, %33, adds, 1, 1, 0, %34", "l"(a), "l"(b),
            "n"(TURNED));
}

template <int TURNED>
__device__ __forceinline__ static void wgmma_bf16_n80(float sum[10][4], uint64_t a, uint64_t b,
                                                      bool add)
{
    PRODUCT(80, "+f", "k16.f32.bf16.bf16", "%43", "%40, %41, adds, 1, 1, 0, %42", "l"(a), "l"(b),
            "n"(TURNED));
}

template <int TURNED, int A_TURNED = 0>
__device__ __forceinline__ static void wgmma_bf16_n128(float sum[16][4], uint64_t a, uint64_t b,
                                                       bool add)
{
    PRODUCT(128, "+f", "k16.f32.bf16.bf16", "%68", "%64, %65, adds, 1, 1, %66, %67", "l"(a), "l"(b),
            "n"(A_TURNED), "n"(TURNED));
}

template <int TURNED>
__device__ __forceinline__ static void wgmma_bf16_n256(float sum[32][4], uint64_t a, uint64_t b,
                                                       bool add)
{
    PRODUCT(256, "+f", "k16.f32.bf16.bf16", "%131", "%128, %129, adds, 1, 1, 0, %130", "l"(a),
            "l"(b), "n"(TURNED));
}

/** The same with a in registers, which must stay until wait_for_products: a fragment of
 * tensor_core.h per warp, its rows 16 w to 16 w + 15. */
template <int TURNED>
__device__ __forceinline__ static void wgmma_bf16_n64(float sum[8][4], const uint32_t a[4],
                                                      uint64_t b, bool add)
{
    PRODUCT(64, "+f", "k16.f32.bf16.bf16", "%38", "{%32, %33, %34, %35}, %36, adds, 1, 1, %37",
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(TURNED));
}

template <int TURNED>
__device__ __forceinline__ static void wgmma_bf16_n128(float sum[16][4], const uint32_t a[4],
                                                       uint64_t b, bool add)
{
    PRODUCT(128, "+f", "k16.f32.bf16.bf16", "%70", "{%64, %65, %66, %67}, %68, adds, 1, 1, %69",
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(TURNED));
}

/** TF32, a in registers: floats, of which the last 13 bits are ignored. k is 8; b's rows run along
 * k.
 */
__device__ __forceinline__ static void wgmma_tf32_n128(float sum[16][4], const uint32_t a[4],
                                                       uint64_t b, bool add)
{
    PRODUCT(128, "+f", "k8.f32.tf32.tf32", "%69", "{%64, %65, %66, %67}, %68, adds, 1, 1",
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/** fp8 of 4 bits of exponent: k is 32; the rows of both run along k, as in all below. Sums keep
 * fewer bits than fp32. */
__device__ __forceinline__ static void wgmma_e4m3_n128(float sum[16][4], uint64_t a, uint64_t b,
                                                       bool add)
{
    PRODUCT(128, "+f", "k32.f32.e4m3.e4m3", "%66", "%64, %65, adds, 1, 1", "l"(a), "l"(b));
}

/** int8: k is 32, sums are exact. */
__device__ __forceinline__ static void wgmma_s8_n128(int sum[16][4], uint64_t a, uint64_t b,
                                                     bool add)
{
    PRODUCT(128, "+r", "k32.s32.s8.s8", "%66", "%64, %65, adds", "l"(a), "l"(b));
}

__device__ __forceinline__ static void wgmma_s8_n256(int sum[32][4], uint64_t a, uint64_t b,
                                                     bool add)
{
    PRODUCT(256, "+r", "k32.s32.s8.s8", "%130", "%128, %129, adds", "l"(a), "l"(b));
}

#undef TEN
#undef FOUR
#undef SIXTEEN
#undef PRODUCT

#endif

#endif
