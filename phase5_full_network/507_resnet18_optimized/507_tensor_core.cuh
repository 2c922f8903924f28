/*
 * 507_tensor_core.cuh: what a warp says to its tensor cores, in three precisions.
 *
 * Tiles lie in shared memory as rows of 128 bytes, 64 halfs or 32 floats, in 8 chunks of 16 bytes.
 * Chunk c of row r stands at place c ^ (r % 8): so the 8 lanes that fetch the same chunk of 8 rows
 * meet in no bank. The instructions count in bytes as well: `ldmatrix` hands lane i of a warp the
 * 4 bytes i % 4 of chunk row i / 4, and that is what `mma` wants of 16 halfs (m16n8k16) and of 8
 * floats (m16n8k8). So everything here is the same for all precisions, but the product.
 *
 *   RESNET18_FP16   one product of halfs
 *   RESNET18_TF32   one product of floats rounded to 11 bits
 *   RESNET18_FP32   a = hi + lo, both of 11 bits: a b = hi hi + hi lo + lo hi, the rest is 2^-22
 *
 * Tensor cores cut sums off where they should round, always towards zero. Over the 4608 terms of a
 * dot product the loss adds up to 10 or 20 times what fp32 loses. So RESNET18_FP32 lets them add
 * three products only, the small ones first, and adds the sum to its own by an fp32 addition.
 */
#ifndef TENSOR_CORE_CUH
#define TENSOR_CORE_CUH

#include "507_resnet18_optimized/resnet18_optimized.h"
#include "not_implemented.h"
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

/* TODO: to_tf32: round to the nearest; split: hi = x rounded, lo = x - hi, which is exact
   (about 20 lines). */

/**
 * The sums of a warp's part of the tile, from 32 bytes of each row: sum[MI * 16 x NJ * 8] += a b^T.
 * @param a, b fragments, as ldmatrix left them; they may be changed
 */
template <resnet18_precision P, int MI, int NJ> struct product;

/* TODO: the three of them (about 50 lines). */

/* TODO: 16 bytes of activations, from and to floats (about 30 lines). */

#endif
