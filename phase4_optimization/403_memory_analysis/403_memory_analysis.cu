/*
 * 403_memory_analysis.cu: what a matrix product asks of memory, predicted before it runs.
 *
 * The idea: which addresses a kernel loads does not depend on its data, so each load can be counted
 * from the source. A warp's load is one request: requests are warps times loads of each. It fetches
 * the sectors that its lanes touch: one if all want the same float, 4 if they want 32 neighbours,
 * 32 if they want a column. Both are sums over blocks and steps, and with tails rounded up they are
 * exact.
 *
 * Registers are the compiler's choice, and occupancy follows from them, from the block and from its
 * shared memory: that is no arithmetic of ours, the runtime knows it.
 *
 * What it is good for: 2 m n k operations over 32 bytes a sector is the intensity of a kernel, its
 * place under the roofline. What it leaves out: caches, which serve many of those sectors again.
 */
#include "403_memory_analysis/matmul_launches.h"
#include "not_implemented.h"

/* TODO: own_kernel: your 211, or better, with the arguments of the others (about 20 lines). */

/* TODO: what loads cost; parts of a length, rounded up (about 8 lines). */

/* TODO: of the two kernels without tiles: in each step along k, a warp loads one element of a
   and one of b a lane (about 16 lines). */

/* TODO: of the kernels with tiles: rows x cols of c a block, `depth` of k a step. Each row of a
   is loaded once for each block beside it, each row of b once for each block above it; shared
   memory is read by every warp, also for tails (about 16 lines). */

/* TODO: count, for each kernel (about 18 lines). */

/* TODO: ask the device for registers, and for the blocks that a multiprocessor holds (about 14
   lines). */

cudaError_t matmul_own_launch(matmul_launch *launch, int m, int n, int k, int tile)
{
    /* TODO: your kernel, and its grid, block and shared memory (about 5 lines). */
    NOT_IMPLEMENTED(launch, m, n, k, tile);
    return cudaSuccess;
}

cudaError_t analyze_memory(matmul_metrics *metrics, int kernel, int m, int n, int k, int tile)
{
    matmul_launch launch;
    CUDA_CHECK(matmul_describe(&launch, kernel, m, n, k, tile));
    /* TODO: its loads, its efficiency, and what the device says of it (about 6 lines). */
    NOT_IMPLEMENTED(metrics, kernel, m, n, k, tile);
    return cudaSuccess;
}
