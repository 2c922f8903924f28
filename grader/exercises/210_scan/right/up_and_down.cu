// RIGHT: blocks sweep up and down a tree in shared memory; their sums are scanned by the same function
#include "210_scan/scan.h"

#define HALF 256        /* threads of a block */
#define SPAN (2 * HALF) /* elements of it */

/* out may be in. sums[block] = the sum of its elements, where sums is not NULL. */
__global__ static void sweep(int *out, const int *in, size_t n, int *sums)
{
    __shared__ unsigned tree[SPAN];
    const int t = threadIdx.x;
    const size_t at = (size_t)blockIdx.x * SPAN + t;
    tree[t] = at < n ? in[at] : 0;
    tree[t + HALF] = at + HALF < n ? in[at + HALF] : 0;

    int reach = 1; /* up: each pair leaves its sum in its right half */
    for (int pairs = HALF; pairs > 0; pairs /= 2, reach *= 2) {
        __syncthreads();
        if (t < pairs) tree[2 * reach * (t + 1) - 1] += tree[2 * reach * (t + 1) - 1 - reach];
    }
    if (t == 0) {
        if (sums) sums[blockIdx.x] = tree[SPAN - 1];
        tree[SPAN - 1] = 0;
    }
    for (int pairs = 1; pairs <= HALF; pairs *= 2) { /* down: the left half gets what is before */
        reach /= 2;
        __syncthreads();
        if (t < pairs) {
            const int right = 2 * reach * (t + 1) - 1, left = right - reach;
            const unsigned was = tree[left];
            tree[left] = tree[right];
            tree[right] += was;
        }
    }
    __syncthreads();
    if (at < n) out[at] = tree[t];
    if (at + HALF < n) out[at + HALF] = tree[t + HALF];
}

__global__ static void add_sums(int *out, size_t n, const int *sums)
{
    const size_t i = (size_t)blockIdx.x * SPAN + threadIdx.x;
    if (i < n) out[i] = (unsigned)out[i] + sums[blockIdx.x];
}

cudaError_t exclusive_scan(int *out, const int *in, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    const unsigned blocks = (unsigned)((n + SPAN - 1) / SPAN);
    int *sums = NULL;
    if (blocks > 1) {
        const cudaError_t error = cudaMallocAsync((void **)&sums, blocks * sizeof(int), stream);
        if (error != cudaSuccess) return error;
    }
    sweep<<<blocks, HALF, 0, stream>>>(out, in, n, sums);
    cudaError_t error = cudaGetLastError();
    if (blocks > 1 && error == cudaSuccess) {
        error = exclusive_scan(sums, sums, blocks, stream);
        add_sums<<<blocks, SPAN, 0, stream>>>(out, n, sums);
        if (error == cudaSuccess) error = cudaGetLastError();
    }
    if (sums) cudaFreeAsync(sums, stream);
    return error;
}
