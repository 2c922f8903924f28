/*
 * 210_scan.cu: at each place, the sum of all elements before it.
 *
 * The idea: each result needs the one before, and yet all can be computed in parallel. Cut the
 * input into one segment per block. A segment needs only a single number from those before it:
 * their sum. So first every block sums its segment; then one block scans these few sums; then every
 * block scans its own segment, starting from its number. (reduce, scan, scan)
 *
 * Inside a segment a block goes tile by tile. In a tile the lanes of a warp scan 32 neighbours by
 * shuffles, in five steps: after step d each lane has the sum of the 2d up to itself. The warps
 * then meet in shared memory.
 *
 * What it costs: the input is read twice and the output written once, 12 bytes per element where a
 * copy moves 8. A single pass is possible (2b): each block looks back at the sums that the blocks
 * before it have so far, and must not wait for one that has not begun.
 */
#include "210_scan/scan.h"
#include "not_implemented.h"

/* SOLUTION: threads per block, the most blocks, the elements of a tile, and the array for the sums
   of the segments (about 6 lines). */
#define THREADS 256
#define WARPS   (THREADS / 32)
#define BLOCKS  1024             /* segments, at most: fills a large GPU */
#define ROWS    4                /* of 32 neighbours: the loads that a lane has in flight */
#define TILE    (THREADS * ROWS) /* elements; ROWS * 32 neighbours of them are a warp's */
__device__ static unsigned offset[BLOCKS]; /* sums of the segments, then of all before each */
/* END SOLUTION */

/* SOLUTION: warp_scan: five shuffles up; lane i ends with the sum of lanes 0 .. i (about 7 lines).
 */
__device__ static unsigned warp_scan(unsigned x)
{
    int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned before = __shfl_up_sync(0xffffffff, x, distance);
        if (lane >= distance) x += before; /* lower lanes have no lane so far below */
    }
    return x;
}
/* END SOLUTION */

/* SOLUTION: block_scan: the sum of x over all threads before this warp, and in *total over all of
   the block; every thread brings the sum of its warp (about 11 lines). */
__device__ static unsigned block_scan(unsigned of_warp, unsigned *total)
{
    __shared__ unsigned sums[WARPS];
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = of_warp;
    __syncthreads(); /* all of sums is written before any thread reads it */
    unsigned before = 0, all = 0;
    for (int warp = 0; warp < WARPS; warp++) {
        if (warp == threadIdx.x / 32) before = all;
        all += sums[warp];
    }
    __syncthreads(); /* ... and read, before the next tile overwrites it */
    *total = all;
    return before;
}
/* END SOLUTION */

/* SOLUTION: sum_kernel: offset[block] = the sum of the block's segment of `segment` elements (about
   12 lines). */
__global__ static void sum_kernel(const int *in, size_t n, size_t segment)
{
    size_t begin = blockIdx.x * segment, end = min(begin + segment, n);
    unsigned sum = 0, total;
    for (size_t i = begin + threadIdx.x; i < end; i += THREADS) sum += in[i];
    sum = __shfl_sync(0xffffffff, warp_scan(sum), 31);
    block_scan(sum, &total);
    if (threadIdx.x == 0) offset[blockIdx.x] = total;
}
/* END SOLUTION */

/* SOLUTION: offset_kernel, one block: each sum becomes the sum of those before it (about 11 lines).
 */
__global__ static void offset_kernel(int blocks)
{
    unsigned carry = 0, total;
    for (int i = threadIdx.x; i - (int)threadIdx.x < blocks; i += THREADS) {
        unsigned x = i < blocks ? offset[i] : 0, sum = warp_scan(x);
        unsigned before = block_scan(__shfl_sync(0xffffffff, sum, 31), &total);
        if (i < blocks) offset[i] = carry + before + sum - x;
        carry += total;
    }
}
/* END SOLUTION */

/* SOLUTION: scan_kernel: the block's segment by tiles; each warp scans ROWS rows of 32, one after
   the other, then adds what comes before it (about 26 lines). */
__global__ static void scan_kernel(int *out, const int *in, size_t n, size_t segment)
{
    size_t begin = blockIdx.x * segment, end = min(begin + segment, n);
    int lane = threadIdx.x % 32, first = threadIdx.x / 32 * (ROWS * 32) + lane;
    unsigned carry = offset[blockIdx.x], x[ROWS], total;
    for (size_t tile = begin; tile < end; tile += TILE) {
#pragma unroll
        for (int row = 0; row < ROWS; row++) { /* all loads are on the way before one is used */
            size_t i = tile + first + row * 32;
            x[row] = i < end ? in[i] : 0;
        }
        unsigned of_warp = 0;
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            unsigned sum = warp_scan(x[row]);
            x[row] = of_warp + sum - x[row]; /* what comes before it in this warp */
            of_warp += __shfl_sync(0xffffffff, sum, 31);
        }
        unsigned before = carry + block_scan(of_warp, &total);
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            size_t i = tile + first + row * 32;
            if (i < end) out[i] = before + x[row];
        }
        carry += total;
    }
}
/* END SOLUTION */

cudaError_t exclusive_scan(int *out, const int *in, size_t n, cudaStream_t stream)
{
    /* SOLUTION: segments of whole tiles, at most BLOCKS of them; then the three kernels (about 8
       lines). */
    if (n == 0) return cudaSuccess; /* an empty grid is a launch error */
    size_t tiles = (n - 1) / TILE + 1, per_block = (tiles - 1) / BLOCKS + 1;
    unsigned blocks = (unsigned)((tiles - 1) / per_block + 1);
    sum_kernel<<<blocks, THREADS, 0, stream>>>(in, n, per_block * TILE);
    offset_kernel<<<1, THREADS, 0, stream>>>(blocks);
    scan_kernel<<<blocks, THREADS, 0, stream>>>(out, in, n, per_block * TILE);
    /* END SOLUTION */
    return cudaGetLastError();
}
