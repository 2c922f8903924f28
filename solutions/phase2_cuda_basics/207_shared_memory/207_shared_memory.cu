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

/* SOLUTION: reverse_kernel: load into shared memory, a barrier, store from the other end (about 9
   lines).
 */
__global__ static void reverse_kernel(float *out, const float *in, size_t n)
{
    __shared__ float run[BLOCK];
    size_t begin = (size_t)blockIdx.x * BLOCK;
    int length = n - begin < BLOCK ? (int)(n - begin) : BLOCK, i = threadIdx.x;
    if (i < length) run[i] = in[begin + i];
    __syncthreads(); /* all of the run is there */
    if (i < length) out[begin + i] = run[length - 1 - i];
}
/* END SOLUTION */

/* SOLUTION: stencil_kernel: the block's elements and `radius` more at each end to shared memory,
   zeros outside; a barrier; a sum (about 12 lines). */
__global__ static void stencil_kernel(float *out, const float *in, size_t n, int radius)
{
    __shared__ float near[BLOCK + 2 * RADIUS]; /* near[j] is in[begin - radius + j] */
    size_t begin = (size_t)blockIdx.x * BLOCK;
    for (int j = threadIdx.x; j < BLOCK + 2 * radius; j += BLOCK) {
        size_t i = begin + j; /* in `in`, plus radius: a size_t is never below 0 */
        near[j] = i >= radius && i - radius < n ? in[i - radius] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int j = 0; j <= 2 * radius; j++) sum += near[threadIdx.x + j];
    if (begin + threadIdx.x < n) out[begin + threadIdx.x] = sum;
}
/* END SOLUTION */

/* SOLUTION: warp_sums_kernel: five shuffles, each halves the distance; lane 0 stores (about 9
 * lines).
 */
__global__ static void warp_sums_kernel(float *out, const float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    float x = i < n ? in[i] : 0.0f; /* no lane leaves: all take part in the shuffles */
    for (int distance = 16; distance > 0; distance /= 2) {
        x += __shfl_down_sync(0xffffffff, x, distance);
    }
    if (i < n && i % 32 == 0) out[i / 32] = x;
}
/* END SOLUTION */

cudaError_t reverse_blocks(float *out, const float *in, size_t n, cudaStream_t stream)
{
    /* SOLUTION: a block per run (about 2 lines). */
    if (n == 0) return cudaSuccess; /* an empty grid is a launch error */
    reverse_kernel<<<(unsigned)((n - 1) / BLOCK + 1), BLOCK, 0, stream>>>(out, in, n);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t stencil_1d(float *out, const float *in, size_t n, int radius, cudaStream_t stream)
{
    /* SOLUTION: the same, for a radius that its shared memory holds (about 3 lines). */
    if (radius < 0 || radius > RADIUS) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    stencil_kernel<<<(unsigned)((n - 1) / BLOCK + 1), BLOCK, 0, stream>>>(out, in, n, radius);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t warp_sums(float *out, const float *in, size_t n, cudaStream_t stream)
{
    /* SOLUTION: the same (about 2 lines). */
    if (n == 0) return cudaSuccess;
    warp_sums_kernel<<<(unsigned)((n - 1) / BLOCK + 1), BLOCK, 0, stream>>>(out, in, n);
    /* END SOLUTION */
    return cudaGetLastError();
}
