/*
 * 311_layernorm.cu: layer normalization of every row, and its gradients.
 *
 * The idea: what 309 does to a channel is done to a row, and no other row takes part: a batch of
 * one is as good as any. Memory is the limit, so each element is read once, 16 bytes at a time, and
 * then lives in registers: a thread keeps KEPT elements, and a row belongs to as many warps as that
 * takes. They agree on a sum by shuffles, and through shared memory where they are several. The
 * mean comes first, the variance from the differences to it: the mean of squares minus the square
 * of the mean is noise for a row around 10,000.
 *
 * Backward, with xhat = (x - mean) rstd and g = grad_y gamma, in each row
 *
 *     grad_x = rstd (g - mean of g - xhat mean of g xhat)
 *
 * and, down the columns, grad_beta = sum grad_y, grad_gamma = sum grad_y xhat. Both need the same
 * elements, so one kernel does both. A block takes rows in turn. A thread has the same columns of
 * each, and keeps their sums in registers as well. At the end each block leaves one row of sums,
 * and a small kernel adds up those rows, as in 302. Every sum is added in a fixed order, which
 * atomicAdd could not promise.
 *
 * What it costs: a row that does not begin at a multiple of 16 bytes is loaded 4 bytes at a time,
 * and one that is longer than its threads can keep is read again for each step. 405 keeps these on
 * the chip, too. Gamma is read for every row, from the caches. The sums of the blocks lie in
 * __device__ arrays, as in 302, so that two backward passes on two streams at once would spoil each
 * other's.
 */
#include "311_layernorm/layernorm.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"

#define KEPT   8   /* elements of a row that a thread keeps */
#define LEAST  256 /* threads of a block: a short row shares it with others */
#define MOST   512 /* threads of a block backward, where each needs 64 registers */
#define BLOCKS 528 /* backward, at most: four of LEAST threads on each of 132 multiprocessors */
#define ROOM   (1 << 21) /* elements of the blocks' sums, for gamma and for beta */

__device__ static float sums_of_blocks[2][ROOM]; /* for gamma, for beta: [blocks x cols] */

/* ---- a thread's elements of a row: given ---- */

/** Of element k: four neighbours belong together, and neighbouring threads have the next four. */
__device__ static int column(int k)
{
    return (k / 4 * blockDim.x + threadIdx.x) * 4 + k % 4;
}

/** Zeros where a row has no column. QUICK: all rows begin at multiples of 16 bytes. */
template <bool QUICK>
__device__ __forceinline__ static void load(float kept[KEPT], const float *x, int cols)
{
#pragma unroll
    for (int k = 0; k < KEPT; k += 4) {
        int c = column(k);
        if (QUICK) {
            float4 v = c < cols ? *(const float4 *)(x + c) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            kept[k] = v.x, kept[k + 1] = v.y, kept[k + 2] = v.z, kept[k + 3] = v.w;
        } else {
            for (int i = 0; i < 4; i++) kept[k + i] = c + i < cols ? x[c + i] : 0.0f;
        }
    }
}

template <bool QUICK>
__device__ __forceinline__ static void store(float *y, const float kept[KEPT], int cols)
{
#pragma unroll
    for (int k = 0; k < KEPT; k += 4) {
        int c = column(k);
        if (QUICK) {
            float4 v = make_float4(kept[k], kept[k + 1], kept[k + 2], kept[k + 3]);
            if (c < cols) *(float4 *)(y + c) = v;
        } else {
            for (int i = 0; i < 4; i++)
                if (c + i < cols) y[c + i] = kept[k + i];
        }
    }
}

/* ---- forward ---- */

/** The sums over a row of one a and one b per thread, for each of its threads: blockDim.x of them,
 *  whole warps. All threads of the block call it. */
__device__ static float2 over_row(float a, float b)
{
    __shared__ float2 of_warp[32];
    int warps = blockDim.x / 32, first = threadIdx.y * warps; /* of this row */
    /* TODO: within a warp by shuffles. If the row has more than one, lane 0 of each leaves its
       sums in of_warp, and every thread adds up those of its row (about 11 lines). */
    return make_float2(a, b);
}

/** blockDim.y rows a block. QUICK: moreover, the threads keep all of a row. */
template <bool QUICK>
__global__ static void __launch_bounds__(1024, 2)
    forward_kernel(float *y, float *mean, float *rstd, const float *x, const float *gamma,
                   const float *beta, int rows, int cols, float eps)
{
    size_t row = (size_t)blockIdx.x * blockDim.y + threadIdx.y;
    int end = row < rows ? cols : 0;     /* a row that is not there has no columns */
    int width = KEPT * blockDim.x;       /* columns that the threads of a row keep */
    bool again = !QUICK && cols > width; /* they do not keep all */
    x += row * cols;
    y += row * cols;
    float kept[KEPT], factor[KEPT], shift[KEPT];
    /* TODO: three times along the row, `width` columns at a time: sum it; sum the squares of
       differences to the mean; write y. The first loads x, the others only if again. Thread 0 of
       the row keeps the statistics (about 25 lines). */
}

/* ---- backward ---- */

/** Adds a thread's sums of columns to those of its block, and begins anew. */
__device__ static void hand_over(float *sums, float mine[KEPT], int cols)
{
    /* TODO: of the columns that exist (about 4 lines). */
}

/** Block b takes rows b * blockDim.y .., then those that are gridDim.x * blockDim.y further on.
 *  @param to_gamma, to_beta [gridDim.x x cols]: row b receives the block's sums */
template <bool QUICK>
__global__ static void __launch_bounds__(MOST, 2)
    backward_kernel(float *grad_x, float *to_gamma, float *to_beta, const float *grad_y,
                    const float *x, const float *gamma, const float *mean, const float *rstd,
                    int rows, int cols)
{
    __shared__ float sums[2][KEPT * MOST]; /* for gamma, for beta */
    int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    int width = KEPT * blockDim.x;
    bool again = !QUICK && cols > width; /* such a block has one row at a time */
    to_gamma += (size_t)blockIdx.x * cols;
    to_beta += (size_t)blockIdx.x * cols;
    float *of_gamma = again ? to_gamma : sums[0], *of_beta = again ? to_beta : sums[1];
    for (int c = thread; c < cols; c += threads) of_gamma[c] = of_beta[c] = 0.0f;
    __syncthreads(); /* others add to these */

    float g[KEPT], xhat[KEPT], factor[KEPT], for_gamma[KEPT] = {}, for_beta[KEPT] = {};
    for (size_t top = (size_t)blockIdx.x * blockDim.y; top < rows; top += gridDim.x * blockDim.y) {
        size_t row = top + threadIdx.y, start = row * cols;
        int end = row < rows ? cols : 0;
        /* TODO: twice along the row, as forward. The first time load grad_y, x and gamma, adds
           to for_gamma and for_beta, which it hands over to of_gamma and of_beta if again, and sums
           g and g xhat. The second writes grad_x, and loads anew only if again. A row that is not
           there gets zeros from `load`, if its mean and rstd are 0 (about 30 lines). */
    }
    if (again) return;
    /* TODO: the rows of threads hand over one after the other, so that the order is fixed; then
       the sums go to to_gamma and to_beta (about 7 lines). */
}

#define ACROSS 8   /* columns of a block of blocks_kernel */
#define DOWN   128 /* threads of each */

/** Column sums of what the blocks left: for gamma, and where blockIdx.y is 1, for beta. */
__global__ static void blocks_kernel(float *grad_gamma, float *grad_beta, int blocks, int cols)
{
    __shared__ float sums[DOWN][ACROSS];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * ACROSS + x;
    const float *in = sums_of_blocks[blockIdx.y];
    float *out = blockIdx.y == 0 ? grad_gamma : grad_beta;
    /* TODO: as in 302: each thread sums every DOWN-th row, several loads at a time; a tree in
       shared memory adds up the threads of a column (about 11 lines). */
}

/* ---- launches ---- */

/** As many threads as keep a row, whole warps and no more than `most`; as many rows as make a block
 *  of LEAST threads. */
static dim3 block_of(int cols, int most)
{
    int threads = (cols - 1) / KEPT / 32 * 32 + 32;
    if (threads > most) threads = most;
    return dim3(threads, threads < LEAST ? LEAST / threads : 1);
}

/** Each row of each array begins at a multiple of 16 bytes, and so many threads keep all of it. */
static bool are_quick(int threads, int cols, const float *a, const float *b, const float *c,
                      const float *d)
{
    size_t addresses = (size_t)a | (size_t)b | (size_t)c | (size_t)d;
    return addresses % 16 == 0 && cols % 4 == 0 && cols <= KEPT * threads;
}

cudaError_t layernorm_forward(float *y, float *mean, float *rstd, const float *x,
                              const float *gamma, const float *beta, int rows, int cols, float eps,
                              cudaStream_t stream)
{
    /* TODO: a block_of up to 1,024 threads; the quick kernel if the arrays allow it (about 5
       lines). */
    NOT_IMPLEMENTED(y, mean, rstd, x, gamma, beta, rows, cols, eps, stream);
    return cudaGetLastError();
}

cudaError_t layernorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *gamma,
                               const float *mean, const float *rstd, int rows, int cols,
                               cudaStream_t stream)
{
    /* TODO: at most BLOCKS blocks, each with a row of ROOM and with rows to do. One alone
       writes the gradients, and needs no rows; of several, cudaGetSymbolAddress says where their
       sums are, and a second launch adds these up (about 17 lines). */
    NOT_IMPLEMENTED(grad_x, grad_gamma, grad_beta, grad_y, x, gamma, mean, rstd, rows, cols,
                    stream);
    return cudaGetLastError();
}
