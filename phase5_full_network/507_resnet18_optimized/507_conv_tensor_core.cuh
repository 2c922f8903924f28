/*
 * 507_conv_tensor_core.cuh: one kernel for all convolutions, and the linear layer: implicit GEMM
 * (307) on tensor cores, with whatever follows a convolution in its epilogue.
 *
 *     y[pixels x channels] = relu(window(x)[pixels x k] * w[channels x k]^T + bias + residual)
 *
 * Activations are NHWC. There a pixel's channels are neighbours, so that a tile row, 128 bytes of
 * k, is one stretch of memory: the same tap of the window all along, copied by 16 bytes a thread
 * with `cp.async`. Nothing is divided in the loop: a thread finds the windows of its rows once, and
 * which of their taps lie in the padding, one bit each; `cp.async` writes zeros for those.
 *
 * The copies run STAGES - 1 tiles ahead of the products, in a ring of tiles in shared memory.
 *
 * A layer of few pixels has too few tiles to fill the GPU: then `splits` blocks share one, each
 * with a part of k. They leave their sums in global memory, and the last one to arrive, which
 * a counter tells, adds them all, always in the same order.
 *
 * The cost removed: 307's transposed stores, its fp32 multiply-adds, and the traffic of the layers
 * behind (batch normalization, sum, ReLU). The cost left: each pixel is copied once for each tap.
 */
#ifndef CONV_TENSOR_CORE_CUH
#define CONV_TENSOR_CORE_CUH

#include "507_tensor_core.cuh"
#include "cuda_check.h"

/** One convolution, as the kernel sees it. All distances in x are counted in chunks of 16 bytes. */
typedef struct conv_args {
    void *y;              /* [pixels x channels] */
    const uint4 *x;       /* NHWC */
    const uint4 *w;       /* [channels, up to a multiple of 128][steps * 128 bytes] */
    const float *bias;    /* likewise padded */
    const void *residual; /* as y, added before ReLU; may be y; or NULL */
    float *partial;       /* room for the sums of splits; see conv_partial_floats */
    int *arrived;         /* [tiles] zeros, and zeros again afterwards */
    int pixels, channels; /* of y, of all images */
    int side;             /* pixels of y a side */
    int in_side, stride, pad, taps_h, taps_w; /* which taps lie in x */
    int image, out_row,
        out_col;          /* from an output's window to that of the next image, row, column */
    int tap_row, tap_col; /* between taps */
    int upper;            /* chunks 4..7 of a tile row lie this far beyond the end of 0..3 */
    int tap_steps, steps; /* tile rows a tap, and of all k */
    int splits;
    bool relu;
    bool y_is_float; /* the caller's logits: floats in each precision, at any address */
} conv_args;

/** A block's tile of y, and the warps that share it. */
template <int PIXELS, int CHANNELS, int WARPS_M, int WARPS_N, int STAGES_> struct tile {
    enum {
        M = PIXELS,
        N = CHANNELS,
        ACROSS = WARPS_N,
        THREADS = 32 * WARPS_M * WARPS_N,
        MI = PIXELS / WARPS_M / 16, /* products of 16 x 8 that a warp has, down and across */
        NJ = CHANNELS / WARPS_N / 8,
        STAGES = STAGES_,
        STAGE_BYTES = (PIXELS + CHANNELS) * ROW_BYTES,
        PITCH = CHANNELS + 8, /* of sums on their way out: 4 rows of 8 floats meet in no bank */
        RING_BYTES = STAGES * STAGE_BYTES,
        SUMS_BYTES = PIXELS * PITCH * 4,
        SHARED_BYTES = RING_BYTES > SUMS_BYTES ? RING_BYTES : SUMS_BYTES,
        ROW_STEP = THREADS / CHUNKS, /* rows that a block copies at once */
        A_ROWS = PIXELS / ROW_STEP,
        B_ROWS = CHANNELS / ROW_STEP,
    };
};

/* TODO: source: what a thread copies of each stage: its chunk of some rows of x and w. Where
   their windows begin, and a bit for each tap that lies in x (about 50 lines). */

/* TODO: place: which tap, and which part of its channels, the next step is (about 22 lines). */

/* TODO: multiply_stage: a warp's products of one stage, 32 bytes of k at a time (about 28
   lines). */

/* TODO: multiply_tiles: the ring: wait for a stage, barrier, start the copy into the one that
   everybody has left, multiply (about 35 lines). */

/* TODO: add_splits: leave the sums; the last to arrive has those of all. @return is this it?
   (about 35 lines). */

/* TODO: stage_sums: from the lanes that have them to rows in shared memory (about 18 lines). */

/* TODO: finish: bias, residual, ReLU; rows leave in 16-byte pieces (about 45 lines). */

/* TODO: conv_kernel: blockIdx.x is the tile, channels fastest, so that neighbours read the same
   pixels; blockIdx.y is the split (about 22 lines). */

/* ---- the host's side ------------------------------------------------------------------------- */

/** The kernel for one kind of tile: its pixels x channels, and how it is launched. */
typedef struct conv_variant {
    const void *kernel;
    int m, n, threads, shared_bytes;
} conv_variant;

#define CONV_VARIANTS 4

/* TODO: the variants of a precision. Large tiles copy less for a product, small ones leave
   fewer multiprocessors idle. More stages would take room from other blocks and from the L1 cache
   (about 20 lines). */

/** @return tiles of y */
static inline int conv_tiles(const conv_args *a, conv_variant v)
{
    return (a->pixels + v.m - 1) / v.m * ((a->channels + v.n - 1) / v.n);
}

/** @return floats that the splits leave: none where there is only one */
static inline size_t conv_partial_floats(const conv_args *a, conv_variant v)
{
    return a->splits > 1 ? (size_t)a->splits * conv_tiles(a, v) * v.m * v.n : 0;
}

/** To be called before a variant is launched: more than 48 KB of shared memory must be asked for.
 *  @param resident blocks that a multiprocessor then holds at once */
static inline cudaError_t conv_prepare(int *resident, conv_variant v)
{
    const cudaError_t e =
        cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, v.shared_bytes);
    if (e != cudaSuccess) return e;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(resident, v.kernel, v.threads,
                                                         v.shared_bytes);
}

static inline cudaError_t conv_launch(conv_args *a, conv_variant v, cudaStream_t stream)
{
    void *parameters[] = {a};
    return cudaLaunchKernel(v.kernel, dim3(conv_tiles(a, v), a->splits), dim3(v.threads),
                            parameters, v.shared_bytes, stream);
}

#endif
