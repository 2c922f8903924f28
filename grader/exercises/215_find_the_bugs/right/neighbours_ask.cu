// RIGHT: without shared memory where none is needed, a ballot for the count, a warp per group
#include "215_find_the_bugs/find_the_bugs.h"

__global__ static void rotate_in_place_of(int *out, const int *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool last = threadIdx.x == blockDim.x - 1 || i == n - 1;
    out[i] = in[last ? i - threadIdx.x : i + 1];
}

__global__ static void multiply(int *x, size_t n, int factor)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        x[i] *= factor;
}

__global__ static void tally(int *counts, const int *digits, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(counts + digits[i], 1);
}

/* A warp adds up a group, eight values a lane. */
__global__ static void add_group(int *out, const int *in, size_t n)
{
    unsigned sum = 0;
    size_t first = (size_t)blockIdx.x * 256;
    for (size_t i = first + threadIdx.x; i < first + 256 && i < n; i += 32) sum += in[i];
    for (int far = 1; far < 32; far *= 2) sum += __shfl_xor_sync(~0u, sum, far);
    if (threadIdx.x == 0) out[blockIdx.x] = (int)sum;
}

/* The mask names the lanes that are there; what comes from others is not used. */
__global__ static void largest(int *out, const int *in, size_t n)
{
    size_t warp = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    size_t i = warp * 32 + threadIdx.x % 32;
    unsigned there = __ballot_sync(~0u, i < n);
    if (i >= n) return;
    int most = in[i];
    for (unsigned far = 1; far < 32; far *= 2) {
        unsigned lane = threadIdx.x % 32;
        int other = __shfl_sync(there, most, lane + far < __popc(there) ? lane + far : lane);
        if (other > most) most = other;
    }
    if (threadIdx.x % 32 == 0) out[warp] = most;
}

__global__ static void pick(int *out, const int *in, unsigned n, unsigned step)
{
    unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
    if (i < n) out[i] = in[i * step % n];
}

struct pair {
    int a, b;
};

__global__ static void along(int *y, const int *x, size_t n, pair p)
{
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = p.a * x[i] + p.b;
}

/* One atomic for each warp. */
__global__ static void above(int *count, const int *x, size_t n, int limit)
{
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    int many = __popc(__ballot_sync(~0u, i < n && x[i] > limit));
    if (threadIdx.x % 32 == 0 && many) atomicAdd(count, many);
}

#define BLOCKS(n) (unsigned)(((size_t)(n) + 255) / 256)
#define UNLESS_0(n)                                                                                \
    if ((n) == 0) return cudaSuccess

cudaError_t rotate_groups(int *out, const int *in, size_t n, cudaStream_t s)
{
    UNLESS_0(n);
    rotate_in_place_of<<<BLOCKS(n), 256, 0, s>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t scale_all(int *x, size_t n, int factor, cudaStream_t s)
{
    multiply<<<64, 256, 0, s>>>(x, n, factor);
    return cudaGetLastError();
}

cudaError_t count_digits(int *counts, const int *digits, size_t n, cudaStream_t s)
{
    cudaMemsetAsync(counts, 0, 40, s);
    UNLESS_0(n);
    tally<<<BLOCKS(n), 256, 0, s>>>(counts, digits, n);
    return cudaGetLastError();
}

cudaError_t group_sums(int *out, const int *in, size_t n, cudaStream_t s)
{
    UNLESS_0(n);
    add_group<<<BLOCKS(n), 32, 0, s>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t warp_maxima(int *out, const int *in, size_t n, cudaStream_t s)
{
    UNLESS_0(n);
    largest<<<BLOCKS(n), 256, 0, s>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t gather_steps(int *out, const int *in, int n, int step, cudaStream_t s)
{
    UNLESS_0(n);
    pick<<<BLOCKS(n), 256, 0, s>>>(out, in, (unsigned)n, (unsigned)step);
    return cudaGetLastError();
}

cudaError_t evaluate_line(int *y, const int *x, size_t n, const int *h_ab, cudaStream_t s)
{
    UNLESS_0(n);
    along<<<BLOCKS(n), 256, 0, s>>>(y, x, n, pair{h_ab[0], h_ab[1]});
    return cudaGetLastError();
}

cudaError_t count_above(int *count, const int *x, size_t n, int limit, cudaStream_t s)
{
    cudaMemsetAsync(count, 0, 4, s);
    UNLESS_0(n);
    above<<<BLOCKS(n), 256, 0, s>>>(count, x, n, limit);
    return cudaGetLastError();
}
