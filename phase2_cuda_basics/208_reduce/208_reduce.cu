/*
 * 208_reduce.cu: many numbers to one, in two stages.
 *
 * The idea: a sum is a tree. Each thread folds its share of the input into a register; the 32 lanes
 * of a warp fold theirs by shuffles, from register to register; the warps of a block meet in shared
 * memory; the blocks, which cannot wait for each other, leave one number each for a second kernel.
 * The shape of the tree depends on n alone, so the same input gives the same bits every time. An
 * atomicAdd per element would be right too, in another order every run, and slow: all of the
 * threads queue for one address.
 *
 * Maximum is the same tree with another operation. Two things change: it starts from -infinity, and
 * a NaN must survive each comparison (fmaxf throws NaN away).
 *
 * What it costs: 4 bytes read for one addition, so memory speed is the ceiling. To get there, each
 * thread has several loads on the way before it adds the first: the memory answers after hundreds
 * of cycles, and what is not yet asked for cannot be on its way. The second launch
 * costs microseconds, which a small input notices. The numbers between the stages lie in a
 * __device__ array, so that two calls on two streams at once would spoil each other's; a library
 * takes a workspace from its caller instead.
 */
#include "208_reduce/reduce.h"
#include "not_implemented.h"

/* TODO: THREADS a block, at most BLOCKS blocks, where they leave their results, and how many
   loads a thread has on the way at once (4 lines). */

/* TODO: identity and combine of the two operations, SUM and MAX; in MAX NaN wins (about 8
   lines). */

/* TODO: warp_reduce: five shuffles; lane 0 ends with the value of the warp (about 5 lines). */

/* TODO: block_reduce: each warp's value to shared memory, a barrier, then a warp reduces
   those; thread 0 ends with the value of the block (about 7 lines). */

/* TODO: the two stages: a grid-stride loop into partial[blockIdx.x], IN_FLIGHT elements a turn,
   loaded before any is added; then one block over partial into out (about 17 lines). */

/* TODO: row_sum_kernel: a warp a row; its lanes stride along the row (about 12 lines). */

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
    /* TODO: enough blocks for a warp a row, none if there are no rows (about 3 lines). */
    NOT_IMPLEMENTED(out, in, rows, cols, stream);
    return cudaGetLastError();
}
