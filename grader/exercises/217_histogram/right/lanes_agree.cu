// RIGHT: lanes that have the same value send one of them; one kernel for tables of both kinds
#include "217_histogram/histogram.h"

enum { IN_SHARED = 4096 };

/* Adds 1 to table[v] for each lane that has a v >= 0. All lanes of the warp come. */
__device__ static void add_warp(int *table, int v)
{
    const int lane = threadIdx.x % 32;
    for (unsigned left = __ballot_sync(0xffffffff, v >= 0); left != 0;) {
        const int leader = __ffs(left) - 1;
        const unsigned same = __ballot_sync(0xffffffff, v == __shfl_sync(0xffffffff, v, leader));
        if (lane == leader) atomicAdd(&table[v], __popc(same));
        left &= ~same;
    }
}

__global__ static void tally(int *counts, const int *values, size_t n, int bins)
{
    __shared__ int own[IN_SHARED];
    const bool small = bins <= IN_SHARED;
    for (int v = threadIdx.x; small && v < bins; v += blockDim.x) own[v] = 0;
    __syncthreads();

    const size_t whole = (n + 31) / 32 * 32; // no lane leaves its warp
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < whole; i += step) {
        const int v = i < n ? values[i] : -1;
        add_warp(small ? own : counts, v < bins ? v : -1);
    }
    __syncthreads();
    for (int v = threadIdx.x; small && v < bins; v += blockDim.x) atomicAdd(&counts[v], own[v]);
}

cudaError_t histogram(int *counts, const int *values, size_t n, int bins, cudaStream_t stream)
{
    if (bins == 0) return cudaSuccess;
    const cudaError_t error = cudaMemsetAsync(counts, 0, (size_t)bins * sizeof(int), stream);
    if (error == cudaSuccess && n > 0) tally<<<64, 128, 0, stream>>>(counts, values, n, bins);
    return error == cudaSuccess ? cudaGetLastError() : error;
}
