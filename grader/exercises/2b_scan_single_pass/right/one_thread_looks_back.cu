// RIGHT: a thread has a run of neighbours, sums meet in a tree, one thread looks back by atomics
#include "2b_scan_single_pass/scan_single_pass.h"

#define PER_THREAD 8
#define BLOCK      128
#define SPAN       (PER_THREAD * BLOCK)

enum { EMPTY, LOCAL, WHOLE }; /* in the lower half of a word; the sum is above */

__device__ static unsigned long long fetch(unsigned long long *p)
{
    return atomicAdd(p, 0ull);
}

__device__ static void publish(unsigned long long *p, unsigned sum, unsigned kind)
{
    atomicExch(p, (unsigned long long)sum << 32 | kind);
}

__global__ static void pass(int *out, const int *in, size_t n, unsigned long long *said,
                            unsigned *ticket)
{
    __shared__ unsigned run[BLOCK], mine, carry;
    const int t = threadIdx.x;
    if (t == 0) mine = atomicAdd(ticket, 1u);
    __syncthreads();
    const size_t begin = (size_t)mine * SPAN + (size_t)t * PER_THREAD;
    unsigned value[PER_THREAD], sum = 0;
    for (int i = 0; i < PER_THREAD; i++) {
        value[i] = begin + i < n ? in[begin + i] : 0;
        sum += value[i];
    }
    run[t] = sum;
    for (int d = 1; d < BLOCK; d *= 2) { /* inclusive sums of the runs */
        __syncthreads();
        const unsigned left = t >= d ? run[t - d] : 0;
        __syncthreads();
        run[t] += left;
    }
    if (t == BLOCK - 1) {
        unsigned before = 0;
        publish(&said[mine], run[t], LOCAL);
        for (unsigned i = mine; i > 0; i--) {
            unsigned long long w;
            do w = fetch(&said[i - 1]);
            while ((unsigned)w == EMPTY);
            before += w >> 32;
            if ((unsigned)w == WHOLE) break;
        }
        publish(&said[mine], before + run[t], WHOLE);
        carry = before;
    }
    __syncthreads();
    unsigned x = carry + run[t] - sum;
    for (int i = 0; i < PER_THREAD && begin + i < n; i++) {
        out[begin + i] = x;
        x += value[i];
    }
}

cudaError_t exclusive_scan_single_pass(int *out, const int *in, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    const size_t blocks = (n + SPAN - 1) / SPAN, bytes = (blocks + 1) * sizeof(long long);
    unsigned long long *said;
    cudaError_t error = cudaMallocAsync((void **)&said, bytes, stream);
    if (error != cudaSuccess) return error;
    cudaMemsetAsync(said, 0, bytes, stream);
    pass<<<(unsigned)blocks, BLOCK, 0, stream>>>(out, in, n, said, (unsigned *)&said[blocks]);
    error = cudaGetLastError();
    cudaFreeAsync(said, stream);
    return error;
}
