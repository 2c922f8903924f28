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
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
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
    /* SOLUTION: a row that the last IN_FLIGHT - 1 calls have not taken; the copy, to its bytes of
       weights (about 4 lines). */
    const size_t bytes = sizeof(float) * (2 * radius + 1) * (2 * radius + 1);
    *row = calls++ % IN_FLIGHT;
    const size_t at = *row * sizeof weights[0];
    return cudaMemcpyToSymbolAsync(weights, filter, bytes, at, cudaMemcpyDeviceToDevice, stream);
    /* END SOLUTION */
}

/** Of the numbers 0 .. n-1 the one nearest to i. */
__device__ static int nearest(int i, int n)
{
    /* SOLUTION: i, or the end that it lies beyond (about 1 line). */
    return min(max(i, 0), n - 1);
    /* END SOLUTION */
}

/* ---- straight from the image ----------------------------------------------------------------- */

/** A thread for each pixel, TILE x ROWS per block, `across` blocks side by side. Weights: of that
 *  row. */
__global__ static void direct_kernel(float *out, const float *in, int height, int width, int radius,
                                     unsigned row, int across)
{
    /* SOLUTION: the thread's pixel; the sum over the window, each pixel by the nearest row and
       column (about 12 lines). */
    int y = blockIdx.x / across * ROWS + threadIdx.y, x = blockIdx.x % across * TILE + threadIdx.x;
    if (y >= height || x >= width) return;

    int weight = 0;
    float sum = 0.0f;
    for (int dy = -radius; dy <= radius; dy++) {
        const float *line = in + (size_t)nearest(y + dy, height) * width;
        for (int dx = -radius; dx <= radius; dx++) {
            sum += weights[row][weight++] * line[nearest(x + dx, width)];
        }
    }
    out[(size_t)y * width + x] = sum;
    /* END SOLUTION */
}

cudaError_t convolve(float *out, const float *in, int height, int width, const float *filter,
                     int radius, cudaStream_t stream)
{
    /* SOLUTION: what is refused, what is empty; the weights; the kernel (about 8 lines). */
    if (radius < 0 || radius > MOST_RADIUS) return cudaErrorInvalidValue;
    if (height == 0 || width == 0) return cudaSuccess;
    unsigned row;
    CUDA_CHECK(take_row(&row, filter, radius, stream));
    int across = (width - 1) / TILE + 1, down = (height - 1) / ROWS + 1;
    direct_kernel<<<(unsigned)across * down, dim3(TILE, ROWS), 0, stream>>>(out, in, height, width,
                                                                            radius, row, across);
    return cudaGetLastError();
    /* END SOLUTION */
}

/* ---- from a tile with its halo --------------------------------------------------------------- */

/** The sum of the window whose first pixel, above and left of all others, is *window, with the
 *  weights of that row. */
__device__ static float window_sum(const float *window, int radius, unsigned row)
{
    /* SOLUTION: its rows are PITCH apart (about 8 lines). */
    int weight = 0;
    float sum = 0.0f;
    for (int y = 0; y <= 2 * radius; y++) {
        for (int x = 0; x <= 2 * radius; x++) {
            sum += weights[row][weight++] * window[y * PITCH + x];
        }
    }
    return sum;
    /* END SOLUTION */
}

/** TILE x TILE pixels per block of TILE x ROWS threads, `across` blocks side by side. */
__global__ static void tiled_kernel(float *out, const float *in, int height, int width, int radius,
                                    unsigned row, int across)
{
    __shared__ float tile[TILE + 2 * MOST_RADIUS][PITCH]; /* [0][0]: radius above and left of it */

    /* SOLUTION: all pixels of the tile and of its halo; barrier; the block's pixels (about 15
       lines). */
    int top = blockIdx.x / across * TILE, left = blockIdx.x % across * TILE;
    int side = TILE + 2 * radius, column = left + threadIdx.x;

    for (int y = threadIdx.y; y < side; y += ROWS) {
        const float *line = in + (size_t)nearest(top + y - radius, height) * width;
        for (int x = threadIdx.x; x < side; x += TILE) {
            tile[y][x] = line[nearest(left + x - radius, width)];
        }
    }
    __syncthreads(); /* a window has pixels that other warps have loaded */
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (top + y < height && column < width) {
            out[(size_t)(top + y) * width + column] =
                window_sum(&tile[y][threadIdx.x], radius, row);
        }
    }
    /* END SOLUTION */
}

cudaError_t convolve_tiled(float *out, const float *in, int height, int width, const float *filter,
                           int radius, cudaStream_t stream)
{
    /* SOLUTION: as above, with a block per tile (about 8 lines). */
    if (radius < 0 || radius > MOST_RADIUS) return cudaErrorInvalidValue;
    if (height == 0 || width == 0) return cudaSuccess;
    unsigned row;
    CUDA_CHECK(take_row(&row, filter, radius, stream));
    int across = (width - 1) / TILE + 1, down = (height - 1) / TILE + 1;
    tiled_kernel<<<(unsigned)across * down, dim3(TILE, ROWS), 0, stream>>>(out, in, height, width,
                                                                           radius, row, across);
    return cudaGetLastError();
    /* END SOLUTION */
}

/* ---- a table --------------------------------------------------------------------------------- */

/** Blocks of ENTRIES threads, any number of them. */
__global__ static void look_up_kernel(float *out, const unsigned char *index, size_t n,
                                      const float *table)
{
    /* SOLUTION: the table into shared memory, an entry per thread; barrier; look up, with a grid
       stride (about 6 lines). */
    __shared__ float entries[ENTRIES];
    entries[threadIdx.x] = table[threadIdx.x];
    __syncthreads(); /* lanes need entries that other warps have loaded */
    size_t stride = (size_t)gridDim.x * ENTRIES;
    for (size_t i = (size_t)blockIdx.x * ENTRIES + threadIdx.x; i < n; i += stride) {
        out[i] = entries[index[i]];
    }
    /* END SOLUTION */
}

cudaError_t look_up(float *out, const unsigned char *index, size_t n, const float *table,
                    cudaStream_t stream)
{
    /* SOLUTION: blocks of ENTRIES threads, with about PER_THREAD look-ups per thread; not more than
       MOST_BLOCKS (about 4 lines). */
    if (n == 0) return cudaSuccess;
    size_t blocks = (n - 1) / (ENTRIES * PER_THREAD) + 1;
    unsigned grid = blocks < MOST_BLOCKS ? (unsigned)blocks : MOST_BLOCKS;
    look_up_kernel<<<grid, ENTRIES, 0, stream>>>(out, index, n, table);
    /* END SOLUTION */
    return cudaGetLastError();
}
