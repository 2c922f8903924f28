/*
 * 511_autoencoder.cu: a tiny network (autoencoder.h), layer by layer and in one kernel.
 *
 * The idea: 113,000 weights are half a megabyte, and a batch of 512 frames needs 0.1 GFLOP. Layer
 * by layer that is eighteen launches, each over before the next could be prepared: what is timed is
 * the launches. In one kernel a block takes some frames through all layers. What lies between the
 * layers stays in shared memory, and only x, y and the latent touch memory.
 *
 * The weights do not fit beside that, and each block needs all of them. They come from the L2 cache
 * as 22 tiles of 5,120 floats, the same for every layer, in a ring of three buffers: while one is
 * multiplied, two are on their way. Each weight serves all frames of the block.
 *
 *     tile    0 .. 9          10            11            12 .. 16         17 .. 21
 *     of      w1 [160 x 320]  w2 [32 x 160] w3 [160 x 32] w4, upper half   w4, lower half
 *     a tile  160 x 32        32 x 160      160 x 32      160 x 32         160 x 32
 *
 * Eight warps multiply a tile. In each, eight lanes share a row of weights, and four such groups
 * stand beside each other. A thread has sums for up to 8 frames and 5 rows, so that 13 loads of 16
 * bytes feed 160 multiplications. With 64 frames the eight lanes take other frames; with fewer they
 * take other columns of the row, and add their sums by shuffles at the end of the layer.
 *
 * What it costs: a block reads all weights, however few frames it has. Each sum is fp32 on the
 * ordinary cores; tensor cores (4g) would be faster for a batch of thousands.
 */
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "311_layernorm/layernorm.h"
#include "511_autoencoder/autoencoder.h"
#include "cuda_check.h"
#include "not_implemented.h"

#include <cuda_pipeline.h>
#include <stddef.h>
#include <stdint.h>

/* ---- layer by layer ---- */

/* TODO: slices_kernel: [batch x 5 x 64] to [5 x batch x 64], so that the slices of one gamma
   lie together, and back (about 12 lines). */

/* TODO: normalize_slices: cut, 311 for each slice, joined again (about 15 lines). */

cudaError_t sae_forward(float *y, float *latent, const float *x, const float *params,
                        float *scratch, int batch, cudaStream_t stream)
{
    /* TODO: slices, then 303, 301 and 311 in turn, through two arrays of scratch (about 18
       lines). */
    NOT_IMPLEMENTED(y, latent, x, params, scratch, batch, stream);
    return cudaGetLastError();
}

/* ---- in one kernel ---- */

/* TODO: the sizes: threads, tiles, buffers, and what a thread has of a block's frames (about 30
   lines). */

/* TODO: load4 and store4 of four neighbours, 16 bytes at once or 4 and 4; fetch (about 20
 * lines). */

/* TODO: fetch_tile: where tile t of the weights lies, and its copy (about 25 lines). */

/* TODO: next_tile: wait for the next tile, and send for the one after the next (about 20
   lines). */

/* TODO: eight_sum: the sum over eight lanes, by shuffles or through shared memory (about 15
   lines). */

/* TODO: normalize: layer norm of a row of 32 or 64 in shared memory by eight lanes (about 25
   lines). */

/* TODO: gelu, with tanhf or tanh.approx.f32 (about 8 lines). */

/* TODO: dense: the sums of a thread's frames and rows, tile after tile; store_sums: with their
   bias, through GELU or not (about 60 lines). */

/* TODO: what goes in and out: x to shared memory, zeros for frames that are not there; rows
   from shared memory to y (about 25 lines). */

/* TODO: normalize_slices_of and normalize_latent, of all frames of a block (about 22 lines). */

/* TODO: fused_kernel: a block takes FRAMES frames through all layers (about 50 lines). */

/* TODO: launch: which kernel, with how many frames a block and how much shared memory (about 50
   lines). */

cudaError_t sae_forward_fused(float *y, float *latent, const float *x, const float *params,
                              int batch, int options, cudaStream_t stream)
{
    /* TODO: one launch; 16 bytes at a time only where the arrays allow it (about 10 lines). */
    NOT_IMPLEMENTED(y, latent, x, params, batch, options, stream);
    return cudaGetLastError();
}
