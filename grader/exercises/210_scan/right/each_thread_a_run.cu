// RIGHT: two kernels; a thread sums a run of eight in shared memory, a block adds up those before it
#include "210_scan/scan.h"

enum { PARTS = 96, WIDTH = 128, RUN = 8, PIECE = WIDTH * RUN };

__device__ unsigned part_sum[PARTS];

__device__ static size_t part_begin(size_t n, unsigned part)
{
    const size_t pieces = (n + PIECE - 1) / PIECE;
    const size_t begin = pieces * part / PARTS * PIECE;
    return begin < n ? begin : n;
}

__global__ static void sum_parts(const int *in, size_t n)
{
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    unsigned mine = 0;
    const size_t end = part_begin(n, blockIdx.x + 1);
    for (size_t i = part_begin(n, blockIdx.x) + threadIdx.x; i < end; i += WIDTH) mine += in[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) part_sum[blockIdx.x] = sum;
}

__global__ static void scan_parts(int *out, const int *in, size_t n)
{
    __shared__ unsigned piece[PIECE + PIECE / 32], ends[WIDTH]; // one word of padding after 32
    const int t = threadIdx.x;
    unsigned base = 0;
    for (unsigned p = 0; p < blockIdx.x; p++) base += part_sum[p];

    const size_t end = part_begin(n, blockIdx.x + 1);
    for (size_t begin = part_begin(n, blockIdx.x); begin < end; begin += PIECE) {
        for (int i = t; i < PIECE; i += WIDTH) {
            piece[i + i / 32] = begin + i < end ? in[begin + i] : 0;
        }
        __syncthreads();
        unsigned run = 0;
        for (int i = t * RUN; i < (t + 1) * RUN; i++) {
            const unsigned x = piece[i + i / 32];
            piece[i + i / 32] = run;
            run += x;
        }
        ends[t] = run;
        for (int step = 1; step < WIDTH; step *= 2) {
            __syncthreads();
            const unsigned before = t >= step ? ends[t - step] : 0;
            __syncthreads();
            ends[t] += before;
        }
        __syncthreads();
        for (int i = t; i < PIECE; i += WIDTH) {
            const unsigned runs = i / RUN > 0 ? ends[i / RUN - 1] : 0;
            if (begin + i < end) out[begin + i] = base + runs + piece[i + i / 32];
        }
        base += ends[WIDTH - 1];
        __syncthreads();
    }
}

cudaError_t exclusive_scan(int *out, const int *in, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    sum_parts<<<PARTS, WIDTH, 0, stream>>>(in, n);
    scan_parts<<<PARTS, WIDTH, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}
