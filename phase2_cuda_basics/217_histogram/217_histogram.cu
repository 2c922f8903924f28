/*
 * 217_histogram.cu: how often does each value occur?
 *
 * The idea: a thread cannot know which other threads meet its value, so it counts by atomicAdd. An
 * atomic on global memory goes to the L2 cache, and all threads that need one address queue there.
 * So each block first counts in a table of its own in shared memory, where the queue is shorter and
 * faster. At the end it adds its table to the one that all share: one atomic per block and bin, not
 * per value.
 *
 * What it costs: the tables are cleared and added once per block, which only long inputs repay. So
 * there are few blocks, and each strides over the input. A table that shared memory cannot hold is
 * counted in global memory.
 *
 * What it leaves: when most values are the same, the lanes of a warp still queue for one word. They
 * could add up their counts first (__match_any_sync) and send one lane.
 */
#include "217_histogram/histogram.h"
#include "not_implemented.h"

#define THREADS     256
#define PER_THREAD  32         /* values, about: enough to make a table of its own pay */
#define MOST_BLOCKS 1024       /* fill a large GPU */
#define MOST_BINS   (48 * 256) /* ints, in the 48 KB of shared memory of a block by default */

/* TODO: shared_kernel: clear the block's table, barrier, count with a grid stride, barrier, add
   what is not 0 to counts (about 14 lines). */

/* TODO: global_kernel, for more bins than that: count directly in counts (about 6 lines). */

cudaError_t histogram(int *counts, const int *values, size_t n, int bins, cudaStream_t stream)
{
    /* TODO: zeros in counts, on the stream; then one of the two kernels, with about PER_THREAD
       values per thread (about 10 lines). */
    NOT_IMPLEMENTED(counts, values, n, bins, stream);
    return cudaGetLastError();
}
