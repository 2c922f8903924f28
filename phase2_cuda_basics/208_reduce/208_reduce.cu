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

/* TODO: THREADS per block, at most BLOCKS blocks, the array for their results, and how many
   loads a thread has in flight (4 lines). */

/* TODO: identity and combine of the two operations, SUM and MAX; in MAX NaN wins (about 8
   lines). */

/* TODO: warp_reduce: five shuffles; lane 0 ends with the value of the warp (about 5 lines). */

/* TODO: block_reduce: each warp's value to shared memory, a barrier, then a warp reduces
   those; thread 0 ends with the value of the block (about 7 lines). */

/* TODO: the two stages: a grid-stride loop into partial[blockIdx.x], IN_FLIGHT elements per
   turn, loaded before any is added; then one block over partial into out (about 17 lines). */

/* TODO: row_sum_kernel: a warp per row; its lanes stride along the row (about 12 lines). */

/* TODO: reduce: both stages on the stream. n = 0 takes no blocks in the first and still writes
   the identity in the second (about 5 lines). */

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    /* TODO: reduce with SUM (1 line). */
    NOT_IMPLEMENTED(out, in, n, stream);
    return cudaGetLastError();
}

cudaError_t reduce_max(float *out, const float *in, size_t n, cudaStream_t stream)
{
    /* TODO: reduce with MAX (1 line). */
    NOT_IMPLEMENTED(out, in, n, stream);
    return cudaGetLastError();
}

cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    /* TODO: enough blocks for a warp per row, none if there are no rows (about 3 lines). */
    NOT_IMPLEMENTED(out, in, rows, cols, stream);
    return cudaGetLastError();
}
