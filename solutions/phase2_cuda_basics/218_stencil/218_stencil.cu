/*
 * 218_stencil.cu: each pixel from its neighbours: the filter in constant memory, the image in tiles.
 *
 * The idea: all threads multiply by the same weight at the same time. Constant memory is made for
 * this: one read serves a whole warp. Pixels are another matter: each is needed by all the threads
 * around it, (2 r + 1)^2 times. So a block loads its tile of the image once, with a halo of r pixels
 * on every side, and reads it from shared memory that often.
 *
 * What it costs: neighbouring blocks load the halo, too. One array of constant memory serves all
 * calls, so a call waits, on the GPU, until the call before has read its filter.
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
#define ENTRIES     256
#define PER_THREAD  32 /* look-ups, about: enough to make a copy of the table pay */
#define MOST_BLOCKS 1024

__constant__ static float weights[DIAMETER * DIAMETER]; /* of the newest call */
static cudaEvent_t weights_read; /* the newest kernel has read them; NULL: there is no event yet */

/** The filter goes to constant memory as soon as the kernels of earlier calls have ended. */
static cudaError_t take_weights(const float *filter, int radius, cudaStream_t stream)
{
    /* SOLUTION: create the event in the first call; the stream waits for it, and then copies (about
       6 lines). */
    const size_t bytes = sizeof(float) * (2 * radius + 1) * (2 * radius + 1);
    if (weights_read == NULL) {
        CUDA_CHECK(cudaEventCreateWithFlags(&weights_read, cudaEventDisableTiming));
    }
    CUDA_CHECK(cudaStreamWaitEvent(stream, weights_read, 0));
    return cudaMemcpyToSymbolAsync(weights, filter, bytes, 0, cudaMemcpyDeviceToDevice, stream);
    /* END SOLUTION */
}

/** After the launch: when the kernel has ended, the next call may have the constant memory.
 *  @return the error of the launch, or else of this */
static cudaError_t give_weights(cudaStream_t stream)
{
    /* SOLUTION: the error of the launch; the event, after the kernel (about 3 lines). */
    const cudaError_t launched = cudaGetLastError();
    const cudaError_t recorded = cudaEventRecord(weights_read, stream);
    return launched != cudaSuccess ? launched : recorded;
    /* END SOLUTION */
}

/** Of 0 .. n-1 the number next to i. */
__device__ static int nearest(int i, int n)
{
    /* SOLUTION: (about 1 line). */
    return min(max(i, 0), n - 1);
    /* END SOLUTION */
}

/* ---- straight from the image ----------------------------------------------------------------- */

/** A thread for each pixel, TILE x ROWS per block, `across` blocks side by side. */
__global__ static void direct_kernel(float *out, const float *in, int height, int width, int radius,
                                     int across)
{
    /* SOLUTION: the thread's pixel; the sum over the window, each pixel by the nearest row and
       column (about 12 lines). */
    int y = blockIdx.x / across * ROWS + threadIdx.y, x = blockIdx.x % across * TILE + threadIdx.x;
    if (y >= height || x >= width) return;

    int weight = 0;
    float sum = 0.0f;
    for (int dy = -radius; dy <= radius; dy++) {
        const float *row = in + (size_t)nearest(y + dy, height) * width;
        for (int dx = -radius; dx <= radius; dx++) {
            sum += weights[weight++] * row[nearest(x + dx, width)];
        }
    }
    out[(size_t)y * width + x] = sum;
    /* END SOLUTION */
}

cudaError_t convolve(float *out, const float *in, int height, int width, const float *filter,
                     int radius, cudaStream_t stream)
{
    /* SOLUTION: what is refused, what is empty; the weights; the kernel (about 7 lines). */
    if (radius < 0 || radius > MOST_RADIUS) return cudaErrorInvalidValue;
    if (height == 0 || width == 0) return cudaSuccess;
    CUDA_CHECK(take_weights(filter, radius, stream));
    int across = (width - 1) / TILE + 1, down = (height - 1) / ROWS + 1;
    direct_kernel<<<(unsigned)across * down, dim3(TILE, ROWS), 0, stream>>>(out, in, height, width,
                                                                            radius, across);
    return give_weights(stream);
    /* END SOLUTION */
}

/* ---- from a tile with its halo --------------------------------------------------------------- */

/** The weighted sum of the window whose first pixel, above and left of all others, is *window. */
__device__ static float window_sum(const float *window, int radius)
{
    /* SOLUTION: its rows are PITCH apart (about 8 lines). */
    int weight = 0;
    float sum = 0.0f;
    for (int y = 0; y <= 2 * radius; y++) {
        for (int x = 0; x <= 2 * radius; x++) sum += weights[weight++] * window[y * PITCH + x];
    }
    return sum;
    /* END SOLUTION */
}

/** TILE x TILE pixels per block of TILE x ROWS threads, `across` blocks side by side. */
__global__ static void tiled_kernel(float *out, const float *in, int height, int width, int radius,
                                    int across)
{
    __shared__ float tile[TILE + 2 * MOST_RADIUS][PITCH]; /* [0][0]: radius above and left of it */

    /* SOLUTION: all pixels of the tile and of its halo; barrier; the block's pixels (about 15
       lines). */
    int top = blockIdx.x / across * TILE, left = blockIdx.x % across * TILE;
    int side = TILE + 2 * radius, column = left + threadIdx.x;

    for (int y = threadIdx.y; y < side; y += ROWS) {
        const float *row = in + (size_t)nearest(top + y - radius, height) * width;
        for (int x = threadIdx.x; x < side; x += TILE) {
            tile[y][x] = row[nearest(left + x - radius, width)];
        }
    }
    __syncthreads(); /* a window has pixels that other warps have loaded */
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (top + y < height && column < width) {
            out[(size_t)(top + y) * width + column] = window_sum(&tile[y][threadIdx.x], radius);
        }
    }
    /* END SOLUTION */
}

cudaError_t convolve_tiled(float *out, const float *in, int height, int width, const float *filter,
                           int radius, cudaStream_t stream)
{
    /* SOLUTION: as above, with a block per tile (about 7 lines). */
    if (radius < 0 || radius > MOST_RADIUS) return cudaErrorInvalidValue;
    if (height == 0 || width == 0) return cudaSuccess;
    CUDA_CHECK(take_weights(filter, radius, stream));
    int across = (width - 1) / TILE + 1, down = (height - 1) / TILE + 1;
    tiled_kernel<<<(unsigned)across * down, dim3(TILE, ROWS), 0, stream>>>(out, in, height, width,
                                                                           radius, across);
    return give_weights(stream);
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
