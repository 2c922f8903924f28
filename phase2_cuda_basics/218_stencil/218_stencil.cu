/*
 * 218_stencil.cu: each pixel from its neighbours: a filter in constant memory, a tile with a halo.
 *
 * The idea: all threads multiply by the same weight at the same time. Constant memory is made for
 * this: one read serves a whole warp. Pixels are another matter: each is needed by all the threads
 * around it, (2 r + 1)^2 times. So a block loads its tile of the image once, with a halo of r
 * pixels on every side, and reads it from shared memory that often.
 *
 * What it costs: neighbouring blocks load the halo, too. A kernel finds its filter in an array that
 * all calls share, so calls that are in flight at the same time need rows of their own.
 *
 * What it leaves: each weight and each pixel is a load. With a radius that the compiler knows, it
 * unrolls the loops; then a weight is an operand of the multiplication. Constant memory serves one
 * address at a time: a table in which each lane reads elsewhere is faster in shared memory.
 */
#include "218_stencil/stencil.h"
#include "cuda_check.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"

#define MOST_RADIUS 4
#define DIAMETER    (2 * MOST_RADIUS + 1)
#define TILE        32 /* TILE x TILE pixels per block: a row is a warp */
#define ROWS        8  /* of threads in a block */
#define PITCH       (TILE + 2 * MOST_RADIUS)
#define IN_FLIGHT   64 /* calls at the same time, at most */
#define ENTRIES     256
#define PER_THREAD  32 /* look-ups, about: enough to make a copy of the table pay */
#define MOST_BLOCKS 1024

__constant__ static float weights[IN_FLIGHT][DIAMETER * DIAMETER];
static unsigned calls; /* so far: they take the rows of weights in turn */

/** Copies the filter into the next row of weights, on the stream. */
static cudaError_t take_row(unsigned *row, const float *filter, int radius, cudaStream_t stream)
{
    /* TODO: a row that the last IN_FLIGHT - 1 calls have not taken; the copy, to its bytes of
       weights (about 4 lines). */
    NOT_IMPLEMENTED(row, filter, radius, stream);
    return cudaSuccess;
}

/** Of the numbers 0 .. n-1 the one nearest to i. */
__device__ static int nearest(int i, int n)
{
    /* TODO: i, or the end that it lies beyond (about 1 line). */
    return {};
}

/* ---- straight from the image ----------------------------------------------------------------- */

/** A thread for each pixel, TILE x ROWS per block, `across` blocks side by side. Weights: of that
 *  row. */
__global__ static void direct_kernel(float *out, const float *in, int height, int width, int radius,
                                     unsigned row, int across)
{
    /* TODO: the thread's pixel; the sum over the window, each pixel by the nearest row and
       column (about 12 lines). */
}

cudaError_t convolve(float *out, const float *in, int height, int width, const float *filter,
                     int radius, cudaStream_t stream)
{
    /* TODO: what is refused, what is empty; the weights; the kernel (about 8 lines). */
    NOT_IMPLEMENTED(out, in, height, width, filter, radius, stream);
    return cudaSuccess;
}

/* ---- from a tile with its halo --------------------------------------------------------------- */

/** The sum of the window whose first pixel, above and left of all others, is *window, with the
 *  weights of that row. */
__device__ static float window_sum(const float *window, int radius, unsigned row)
{
    /* TODO: its rows are PITCH apart (about 8 lines). */
    return {};
}

/** TILE x TILE pixels per block of TILE x ROWS threads, `across` blocks side by side. */
__global__ static void tiled_kernel(float *out, const float *in, int height, int width, int radius,
                                    unsigned row, int across)
{
    __shared__ float tile[TILE + 2 * MOST_RADIUS][PITCH]; /* [0][0]: radius above and left of it */

    /* TODO: all pixels of the tile and of its halo; barrier; the block's pixels (about 15
       lines). */
}

cudaError_t convolve_tiled(float *out, const float *in, int height, int width, const float *filter,
                           int radius, cudaStream_t stream)
{
    /* TODO: as above, with a block per tile (about 8 lines). */
    NOT_IMPLEMENTED(out, in, height, width, filter, radius, stream);
    return cudaSuccess;
}

/* ---- a table --------------------------------------------------------------------------------- */

/** Blocks of ENTRIES threads, any number of them. */
__global__ static void look_up_kernel(float *out, const unsigned char *index, size_t n,
                                      const float *table)
{
    /* TODO: the table into shared memory, an entry per thread; barrier; look up, with a grid
       stride (about 6 lines). */
}

cudaError_t look_up(float *out, const unsigned char *index, size_t n, const float *table,
                    cudaStream_t stream)
{
    /* TODO: blocks of ENTRIES threads, with about PER_THREAD look-ups per thread; not more than
       MOST_BLOCKS (about 4 lines). */
    NOT_IMPLEMENTED(out, index, n, table, stream);
    return cudaGetLastError();
}
