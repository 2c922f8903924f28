/*
 * 207_shared_memory.cu: three small kernels in which threads pass numbers to each other.
 *
 * The idea: until now every thread worked for itself. The threads of a block can share: an array in
 * __shared__ memory is seen by all of them, and at a barrier, __syncthreads(), each waits for all
 * others. So: write, wait, read what others wrote.
 *
 * reverse_blocks is just that. stencil_1d reads each element from global memory once, although 2
 * radius + 1 threads need it; its block loads a halo at both ends, elements that belong to its
 * neighbours. warp_sums needs neither memory nor a barrier: the 32 lanes of a warp read each
 * other's registers by a shuffle.
 *
 * What it costs: a barrier makes fast warps wait for slow ones. What it leaves: blocks cannot wait
 * for each other; a sum over all of them is 208.
 */
#include "207_shared_memory/shared_memory.h"
#include "not_implemented.h"

#define BLOCK  256
#define RADIUS 64 /* at most */

/* TODO: reverse_kernel: load into shared memory, a barrier, store from the other end (about 9
   lines).
 */

/* TODO: stencil_kernel: the block's elements and `radius` more at each end to shared memory,
   zeros outside; a barrier; a sum (about 12 lines). */

/* TODO: warp_sums_kernel: five shuffles, each halves the distance; lane 0 stores (about 9
 * lines).
 */

cudaError_t reverse_blocks(float *out, const float *in, size_t n, cudaStream_t stream)
{
    /* TODO: a block per run (about 2 lines). */
    NOT_IMPLEMENTED(out, in, n, stream);
    return cudaGetLastError();
}

cudaError_t stencil_1d(float *out, const float *in, size_t n, int radius, cudaStream_t stream)
{
    /* TODO: the same, for a radius that its shared memory holds (about 3 lines). */
    NOT_IMPLEMENTED(out, in, n, radius, stream);
    return cudaGetLastError();
}

cudaError_t warp_sums(float *out, const float *in, size_t n, cudaStream_t stream)
{
    /* TODO: the same (about 2 lines). */
    NOT_IMPLEMENTED(out, in, n, stream);
    return cudaGetLastError();
}
