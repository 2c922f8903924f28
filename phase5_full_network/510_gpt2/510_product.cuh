/*
 * 510_product.cuh: the three products of a linear layer on tensor cores, bf16 in, sums in fp32, and
 * what is done to a sum before it leaves its register.
 *
 *     forward   y      = x        w^T    NT    both rows run along k
 *     backward  grad_x = grad_y   w      NN    b's rows run across k
 *               grad_w = grad_y^T x      TN    both run across k
 *
 * 4a has the second of them. The others need no second kernel and no transposed copy: a tile that
 * runs along k is fetched by `ldmatrix`, one that runs across it by `ldmatrix.trans`, which turns 8
 * x 8 elements on the way. Swizzle, ring and fragments of two steps are those of 4a.
 *
 * Tiles are of 256 x 128 elements of c, a block a multiprocessor; where k is short, these would
 * leave most of the device idle, or shared memory does not do, of 128 x 128, two blocks each.
 *
 * A gradient of weights is small and its k is all tokens: 768 x 768 are 18 tiles, for 132
 * multiprocessors. So k is split, each split leaves its sums in memory, and a second kernel adds
 * them, in an order that is always the same; atomics would give other bits each time.
 *
 * The cost removed: sums that go to memory so that a bias or a GELU can read them. The way out is a
 * third of a block's time where k is 768: it goes by shared memory, in whole rows. The cost left:
 * as in 4a, no stream of `mma.sync` keeps Hopper's tensor cores more than 63 % busy.
 */
#ifndef PRODUCT_CUH
#define PRODUCT_CUH

#include "cuda_check.h"
#include "not_implemented.h"
#include "tensor_core.h"
#include <cuda_bf16.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef __nv_bfloat16 bf16;

typedef enum product_kind { NT, NN, TN } product_kind;

/** c[m x n] = a b, and then, for each sum: bias, residual or slope, and where it goes. What is not
 *  wanted is NULL. Arrays begin at multiples of 16 bytes, and pitches are multiples of 8; behind
 * the end of a row there are zeros up to the next multiple of 8. */
typedef struct product {
    product_kind kind;
    int m, n, k;
    const bf16 *a, *b;    /* as the kind says: [m x k] or [k x m]; [n x k] or [k x n] */
    int a_pitch, b_pitch; /* elements from a row to the next */
    const float *bias;    /* [n] is added */
    const bf16 *residual; /* [m x n] is added */
    const bf16 *slope_of; /* [m x n]: times the slope of gelu there */
    bf16 *out;            /* [m x n] */
    bf16 *gelu;           /* [m x n] receives gelu(out) too */
    float *sums;          /* [m x n] instead of out: as fp32 */
    bool adds;            /* to what is in sums */
    int out_pitch;        /* of all [m x n] */
} product;

/** What products need of the device, the same for all of them. */
typedef struct product_room {
    int processors;      /* multiprocessors */
    bool large;          /* is there shared memory for the large tiles? */
    float *parts;        /* sums of splits; in the arena */
    size_t parts_floats; /* with fewer, there are fewer splits */
} product_room;

/* TODO: gelu, its slope, and finish, which takes four neighbouring sums to where they go (about
   60 lines). */

/* TODO: the sizes (about 5 lines). */

/* TODO: operand: one of the two matrices as a thread sees it, the chunks that it copies and the
   fragments that its warp takes. Chunk c of row r stands at place c ^ (r % 8) (about 60 lines). */

/* TODO: leave: a warp's sums to where they go (about 40 lines). A fragment has two neighbouring
   sums a lane, in 8 rows an instruction: stores of 4 bytes, and each sum would wait for its own
   load of the residual. So they go by a patch of shared memory, where the ring is free at last, and
   a lane takes four neighbours, always of the same columns; half a warp has a row. */

/* TODO: product_kernel: the ring, fragments of two steps, a copy between the products, as in
   4a; leave (about 55 lines). */

/* TODO: parts_kernel: a thread adds the parts of four sums and finishes them (about 17 lines).
 */

/* TODO: plan: large tiles or small, and how many splits, by the time that the slowest
   multiprocessor takes, in tiles of k; the numbers are measured (about 40 lines). */

/* TODO: the launch (about 40 lines). */

/** m, n and k are at least 1. */
static inline cudaError_t multiply(const product *p, const product_room *room, cudaStream_t stream)
{
    /* TODO: one of three (about 5 lines). */
    NOT_IMPLEMENTED(p, room, stream);
    return cudaErrorNotSupported;
}

#endif
