/*
 * 208_reduce.cu: many numbers become one, in two stages.
 *
 * The idea: a sum is a tree. Each thread folds its share of the input into a register; the 32 lanes
 * of a warp fold theirs by shuffles, from register to register; the warps of a block meet in shared
 * memory; the blocks, which cannot wait for each other, leave one number each for a second kernel.
 * The shape of the tree depends on n alone, so the same input gives the same bits every time. An
 * atomicAdd per element would be right too, but in another order each run, and slow: all threads
 * queue for one address.
 *
 * Maximum is the same tree with another operation. Two things change: it starts from -infinity, and
 * a NaN must survive each comparison (fmaxf throws NaN away).
 *
 * What it costs: 4 bytes read for one addition, so memory speed is the ceiling. To reach it, each
 * thread issues several loads before it adds the first: memory answers after hundreds of cycles,
 * and only loads that were issued are on their way. The second launch
 * costs microseconds, which matter for a small input. The numbers between the stages are kept in a
 * __device__ array, so two calls in two streams at once would overwrite each other's; a library
 * takes a workspace from its caller instead.
 */
#include "208_reduce/reduce.h"
#include "not_implemented.h"

/* SOLUTION: THREADS per block, at most BLOCKS blocks, the array for their results, and how many
   loads a thread has in flight (4 lines). */
#define THREADS   256  /* a multiple of 32 */
#define BLOCKS    1024 /* fills a large GPU; the second stage reads as many numbers */
#define IN_FLIGHT 8    /* independent loads: with one alone, memory is idle most of the time */
__device__ static float partial[BLOCKS];
/* END SOLUTION */

/* SOLUTION: identity and combine of the two operations, SUM and MAX; in MAX NaN wins (about 8
   lines). */
typedef enum operation { SUM, MAX } operation;

template <operation OP> __device__ static float identity(void)
{
    return OP == SUM ? 0.0f : -INFINITY;
}

template <operation OP> __device__ static float combine(float a, float b)
{
    if (OP == SUM) return a + b;
    return a >= b || isnan(a) ? a : b; /* if b is NaN, a >= b is false and b is taken */
}
/* END SOLUTION */

/* SOLUTION: warp_reduce: five shuffles; lane 0 ends with the value of the warp (about 5 lines). */
template <operation OP> __device__ static float warp_reduce(float x)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        x = combine<OP>(x, __shfl_down_sync(0xffffffff, x, distance));
    }
    return x;
}
/* END SOLUTION */

/* SOLUTION: block_reduce: each warp's value to shared memory, a barrier, then a warp reduces
   those; thread 0 ends with the value of the block (about 7 lines). */
template <operation OP> __device__ static float block_reduce(float x)
{
    __shared__ float of_warp[THREADS / 32];
    x = warp_reduce<OP>(x);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads(); /* all of of_warp is written before any thread reads it */
    /* Every lane takes part in the shuffles below; those without a value bring the identity. */
    x = threadIdx.x < THREADS / 32 ? of_warp[threadIdx.x] : identity<OP>();
    return warp_reduce<OP>(x);
}
/* END SOLUTION */

/* SOLUTION: the two stages: a grid-stride loop into partial[blockIdx.x], IN_FLIGHT elements per
   turn, loaded before any is added; then one block over partial into out (about 17 lines). */
template <operation OP> __global__ static void blocks_kernel(const float *in, size_t n)
{
    float x = identity<OP>(), next[IN_FLIGHT];
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += IN_FLIGHT * stride) {
        for (int e = 0; e < IN_FLIGHT; e++) {
            next[e] = i + e * stride < n ? in[i + e * stride] : identity<OP>();
        }
        for (int e = 0; e < IN_FLIGHT; e++) x = combine<OP>(x, next[e]);
    }
    x = block_reduce<OP>(x);
    if (threadIdx.x == 0) partial[blockIdx.x] = x;
}

template <operation OP> __global__ static void final_kernel(float *out, int blocks)
{
    float x = identity<OP>();
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) x = combine<OP>(x, partial[i]);
    x = block_reduce<OP>(x);
    if (threadIdx.x == 0) *out = x;
}
/* END SOLUTION */

/* SOLUTION: row_sum_kernel: a warp per row; its lanes stride along the row (about 12 lines). */
__global__ static void row_sum_kernel(float *out, const float *in, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    size_t row = (size_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    if (row >= rows) return; /* a whole warp leaves: the shuffles below stay complete */

    float x = 0.0f, next[IN_FLIGHT];
    for (int col = lane; col < cols; col += 32 * IN_FLIGHT) {
        for (int e = 0; e < IN_FLIGHT; e++) {
            next[e] = col + 32 * e < cols ? in[row * cols + col + 32 * e] : 0.0f;
        }
        for (int e = 0; e < IN_FLIGHT; e++) x += next[e];
    }
    x = warp_reduce<SUM>(x);
    if (lane == 0) out[row] = x;
}
/* END SOLUTION */

/* SOLUTION: reduce: both stages on the stream. n = 0 takes no blocks in the first and still writes
   the identity in the second (about 5 lines). */
template <operation OP>
static void reduce(float *out, const float *in, size_t n, cudaStream_t stream)
{
    size_t wanted = (n + THREADS - 1) / THREADS;
    int blocks = wanted < BLOCKS ? (int)wanted : BLOCKS;
    if (blocks > 0) blocks_kernel<OP><<<blocks, THREADS, 0, stream>>>(in, n);
    final_kernel<OP><<<1, THREADS, 0, stream>>>(out, blocks);
}
/* END SOLUTION */

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    /* SOLUTION: reduce with SUM (1 line). */
    reduce<SUM>(out, in, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t reduce_max(float *out, const float *in, size_t n, cudaStream_t stream)
{
    /* SOLUTION: reduce with MAX (1 line). */
    reduce<MAX>(out, in, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    /* SOLUTION: enough blocks for a warp per row, none if there are no rows (about 3 lines). */
    if (rows == 0) return cudaSuccess; /* an empty grid is a launch error */
    int blocks = (rows - 1) / (THREADS / 32) + 1;
    row_sum_kernel<<<blocks, THREADS, 0, stream>>>(out, in, rows, cols);
    /* END SOLUTION */
    return cudaGetLastError();
}
