/*
 * 507_tensor_core.cuh: the tensor core products of a warp, in three precisions.
 *
 * Tiles lie in shared memory as rows of 128 bytes, 64 halfs or 32 floats, in 8 chunks of 16 bytes.
 * Chunk c of row r stands at place c ^ (r % 8): so the 8 lanes that fetch the same chunk of 8 rows
 * read different banks. The instructions count in bytes as well: `ldmatrix` hands lane i of a warp
 * the 4 bytes i % 4 of chunk row i / 4, and that is what `mma` takes for 16 halfs (m16n8k16) and
 * for 8 floats (m16n8k8). So only the product differs between the precisions.
 *
 *   RESNET18_FP16   one product of halfs
 *   RESNET18_TF32   one product of floats rounded to 11 bits
 *   RESNET18_FP32   a = hi + lo, both of 11 bits: a b = hi hi + hi lo + lo hi, the rest is 2^-22
 *
 * Tensor cores cut sums off where they should round, always towards zero. Over the 4608 terms of a
 * dot product the loss adds up to 10 or 20 times what fp32 loses. So RESNET18_FP32 lets them add
 * three products only, the small ones first, and adds the sum to its own by an fp32 addition.
 *
 * All but `split` and the product of RESNET18_FP32 is given.
 */
#ifndef TENSOR_CORE_CUH
#define TENSOR_CORE_CUH

#include "507_resnet18_optimized/resnet18_optimized.h"
#include "not_implemented.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "tensor_core.h"
#include <cuda_fp16.h>
#include <stdint.h>

#define ROW_BYTES 128 /* of a tile */
#define CHUNKS    8   /* of 16 bytes, a row */

template <resnet18_precision P> struct element_of {
    typedef float type;
};
template <> struct element_of<RESNET18_FP16> {
    typedef __half type;
};

/** Elements of 16 bytes. */
#define WIDTH_OF(element) ((int)(16 / sizeof(element)))

/** @return a float of 11 bits, rounded to the nearest */
__device__ __forceinline__ static uint32_t to_tf32(uint32_t bits)
{
    uint32_t rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
    return rounded;
}

/** x[COUNT], bits of floats, become hi, rounded to 11 bits: all but the lowest 13 of them;
 * lo[COUNT] is what is left, x - hi, which is exact. lo need not be rounded: tensor cores drop what
 * they have no bits for. Rounding by hand takes two instructions instead of four: cvt needs the
 * others for NaN, which comes back by lo here.
 */
template <int COUNT> __device__ __forceinline__ static void split(uint32_t *x, uint32_t *lo)
{
    /* TODO: add a half of the last bit that stays to the bits of x, clear the lowest 13; lo by
       a subtraction in fp32 (about 6 lines). */
}

/**
 * The sums of a warp's part of the tile, from 32 bytes of each row: sum[MI * 16 x NJ * 8] += a b^T.
 * @param a, b fragments, as ldmatrix left them; they may be changed
 */
template <resnet18_precision P, int MI, int NJ> struct product;

template <int MI, int NJ> struct product<RESNET18_FP16, MI, NJ> {
    __device__ __forceinline__ static void add(float sum[MI][NJ][4], uint32_t a[MI][4],
                                               uint32_t b[NJ][2])
    {
#pragma unroll
        for (int i = 0; i < MI; i++) {
#pragma unroll
            for (int j = 0; j < NJ; j++) mma_f16(sum[i][j], a[i], b[j]);
        }
    }
};

/* The weights were rounded when they were prepared; a would be cut off, not rounded. */
template <int MI, int NJ> struct product<RESNET18_TF32, MI, NJ> {
    __device__ __forceinline__ static void add(float sum[MI][NJ][4], uint32_t a[MI][4],
                                               uint32_t b[NJ][2])
    {
#pragma unroll
        for (int i = 0; i < MI; i++) {
#pragma unroll
            for (int e = 0; e < 4; e++) a[i][e] = to_tf32(a[i][e]);
#pragma unroll
            for (int j = 0; j < NJ; j++) mma_tf32(sum[i][j], a[i], b[j]);
        }
    }
};

template <int MI, int NJ> struct product<RESNET18_FP32, MI, NJ> {
    __device__ __forceinline__ static void add(float sum[MI][NJ][4], uint32_t a[MI][4],
                                               uint32_t b[NJ][2])
    {
        /* TODO: split b once, and a for each i. For each i the sums of three products,
           lo hi, hi lo, hi hi, begin at 0 in a part[NJ][4], by mma_tf32; then an fp32 addition
           takes each to sum[i]. A product waits for the one before on the same sum: so one of each
           j, in turn (about 18 lines). */
    }
};

/* 16 bytes of activations, from and to floats. */
__device__ __forceinline__ static void unpack(float v[4], uint4 from, const float *)
{
    v[0] = __uint_as_float(from.x), v[1] = __uint_as_float(from.y);
    v[2] = __uint_as_float(from.z), v[3] = __uint_as_float(from.w);
}

__device__ __forceinline__ static void unpack(float v[8], uint4 from, const __half *)
{
    const uint32_t words[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[2 * i] = __half2float(__ushort_as_half((unsigned short)(words[i] & 0xffff)));
        v[2 * i + 1] = __half2float(__ushort_as_half((unsigned short)(words[i] >> 16)));
    }
}

__device__ __forceinline__ static uint4 pack(const float v[4], const float *)
{
    return make_uint4(__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]),
                      __float_as_uint(v[3]));
}

__device__ __forceinline__ static uint32_t pack_two(float low, float high)
{
    return __half_as_ushort(__float2half_rn(low)) |
           (uint32_t)__half_as_ushort(__float2half_rn(high)) << 16;
}

__device__ __forceinline__ static uint4 pack(const float v[8], const __half *)
{
    return make_uint4(pack_two(v[0], v[1]), pack_two(v[2], v[3]), pack_two(v[4], v[5]),
                      pack_two(v[6], v[7]));
}

#endif
