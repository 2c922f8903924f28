/*
 * 405_row_kernels.cu: softmax, layer normalization and RMS normalization of rows, at the speed of
 * memory.
 *
 * The idea: read each element once. Between the first look at a row and its last, the row lives on
 * the chip: each thread keeps up to 32 elements in registers. A row of up to 1,024 columns belongs
 * to a warp, whose lanes agree by shuffles alone; a longer one belongs to a block; what its
 * registers cannot hold goes to shared memory. Only what fits in neither is read again.
 *
 *     columns         threads of a row    floats in registers of each    shared memory
 *     1 ..  1,024     32                  8, 16 or 32                    -
 *       ..  8,192     96 .. 512           16                             -
 *       .. 16,384     288 .. 512          32                             -
 *       .. 32,768     512                 32                             up to 64 KB
 *       .. 65,536     1,024               32                             up to 128 KB
 *
 * Memory answers after a microsecond, and the next row's loads hide that only if there are enough
 * of them: a thread asks for all that it keeps, 16 bytes at a time, before it uses any of it.
 *
 * The three functions are one: move each element, sum, scale.
 *
 *                  moved by          element becomes      summed    scaled by
 *     softmax      the maximum       exp(x - max)         e         1 / sum
 *     layernorm    the mean          x - mean             d^2       1 / sqrt(sum / cols + eps)
 *     rmsnorm      -                 x                    x^2       1 / sqrt(sum / cols + eps)
 *
 * What it costs: gamma and beta are read for every row, from the caches. A row of 65,536 takes all
 * of a multiprocessor, and nothing is loaded there while its sum is being agreed upon.
 */
#include "405_row_kernels/row_kernels.h"
#include "not_implemented.h"
#include <cuda_pipeline.h>
#include <math.h>

typedef enum kind { SOFTMAX, LAYERNORM, RMSNORM } kind;

/* TODO: load and store of WIDTH floats, 4 or 1, which nobody needs again: __ldcs, __stcs; and
   of 4 or 1 parameters, which every row needs (about 27 lines). */

/* TODO: over_row: the sum or the maximum of one value per thread of a row, for each of them:
   shuffles within the warp, then, if there are more warps, shuffles of what they found (about 20
   lines). */

/* TODO: what differs between the three: how an element is moved, what is summed of it, and
   what is stored (about 28 lines). */

/* TODO: what a thread has of its row: columns first, first + step, ..., WIDTH of each; and the
   four steps: fetch, find what to move by, move and sum, store (about 78 lines). */

/* TODO: row_kernel: blockDim.x threads a row, blockDim.y rows a block (about 20 lines). */

/* TODO: launch: how many threads and registers a row gets, and whether the rest fits in shared
   memory; float4 only where every row of every array begins at a multiple of 16 bytes (about 38
   lines). */

cudaError_t softmax_rows(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    /* TODO: one of the three (about 2 lines). */
    NOT_IMPLEMENTED(y, x, rows, cols, stream);
    return cudaGetLastError();
}

cudaError_t layernorm_rows(float *y, const float *x, const float *gamma, const float *beta,
                           int rows, int cols, float eps, cudaStream_t stream)
{
    /* TODO: one of the three (about 2 lines). */
    NOT_IMPLEMENTED(y, x, gamma, beta, rows, cols, eps, stream);
    return cudaGetLastError();
}

cudaError_t rmsnorm_rows(float *y, const float *x, const float *gamma, int rows, int cols,
                         float eps, cudaStream_t stream)
{
    /* TODO: one of the three (about 2 lines). */
    NOT_IMPLEMENTED(y, x, gamma, rows, cols, eps, stream);
    return cudaGetLastError();
}
