// RIGHT: kernels of one template, what they do a functor; the line's numbers in device memory
#include "215_find_the_bugs/find_the_bugs.h"

template <typename work> __global__ static void each(size_t n, work w)
{
    const size_t i = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (i < n) w(i);
}

template <typename work> static cudaError_t all(size_t n, cudaStream_t stream, work w)
{
    if (n > 0) each<<<unsigned((n + 127) / 128), 128, 0, stream>>>(n, w);
    return cudaGetLastError();
}

struct next_in_group {
    int *out;
    const int *in;
    size_t n;
    __device__ void operator()(size_t i) const
    {
        const size_t next = i + 1;
        out[i] = in[next % 256 == 0 || next == n ? i - i % 256 : next];
    }
};

struct times {
    int *x, factor;
    __device__ void operator()(size_t i) const
    {
        x[i] *= factor;
    }
};

struct modulo {
    int *out;
    const int *in;
    long long n, step;
    __device__ void operator()(size_t i) const
    {
        out[i] = in[(long long)i * step % n];
    }
};

struct on_a_line {
    int *y;
    const int *x, *ab;
    __device__ void operator()(size_t i) const
    {
        y[i] = ab[0] * x[i] + ab[1];
    }
};

struct above {
    int *count;
    const int *x;
    int limit;
    __device__ void operator()(size_t i) const
    {
        if (x[i] > limit) atomicAdd(count, 1);
    }
};

/* One warp takes a row of 32 or 256: its lanes' sum and maximum, of what is there. */
__global__ static void reduce_rows(int *sums, int *most, const int *in, size_t n, int length)
{
    const size_t first = size_t(blockIdx.x) * length;
    __shared__ int sum[32], largest[32];
    const int lane = threadIdx.x;
    sum[lane] = 0;
    largest[lane] = -2147483647 - 1;
    for (size_t i = first + lane; i < n && i < first + length; i += 32) {
        sum[lane] += in[i];
        largest[lane] = max(largest[lane], in[i]);
    }
    __syncwarp();
    if (lane > 0) return;
    for (int other = 1; other < 32; other++) {
        sum[0] += sum[other];
        largest[0] = max(largest[0], largest[other]);
    }
    if (sums) sums[blockIdx.x] = sum[0];
    if (most) most[blockIdx.x] = largest[0];
}

/* Of the warp that a digit has, in one block for 256 values. */
__global__ static void digits_by_ballot(int *counts, const int *digits, size_t n)
{
    const size_t i = size_t(blockIdx.x) * 32 + threadIdx.x;
    const int mine = i < n ? digits[i] : -1;
    int many = 0;
    for (int digit = 0; digit < 10; digit++) {
        const unsigned lanes = __ballot_sync(0xffffffff, mine == digit);
        if (int(threadIdx.x) == digit) many = __popc(lanes);
    }
    if (many > 0) atomicAdd(&counts[threadIdx.x], many);
}

cudaError_t rotate_groups(int *out, const int *in, size_t n, cudaStream_t stream)
{
    return all(n, stream, next_in_group{out, in, n});
}

cudaError_t scale_all(int *x, size_t n, int factor, cudaStream_t stream)
{
    return all(n, stream, times{x, factor});
}

cudaError_t count_digits(int *counts, const int *digits, size_t n, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(counts, 0, 10 * sizeof *counts, stream);
    if (error || !n) return error;
    digits_by_ballot<<<unsigned((n + 31) / 32), 32, 0, stream>>>(counts, digits, n);
    return cudaGetLastError();
}

cudaError_t group_sums(int *out, const int *in, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    reduce_rows<<<unsigned((n + 255) / 256), 32, 0, stream>>>(out, NULL, in, n, 256);
    return cudaGetLastError();
}

cudaError_t warp_maxima(int *out, const int *in, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    reduce_rows<<<unsigned((n + 31) / 32), 32, 0, stream>>>(NULL, out, in, n, 32);
    return cudaGetLastError();
}

cudaError_t gather_steps(int *out, const int *in, int n, int step, cudaStream_t stream)
{
    return all(n, stream, modulo{out, in, n, step});
}

cudaError_t evaluate_line(int *y, const int *x, size_t n, const int *h_ab, cudaStream_t stream)
{
    int *d_ab;
    cudaError_t error = cudaMallocAsync((void **)&d_ab, 2 * sizeof(int), stream);
    if (error) return error;
    error = cudaMemcpyAsync(d_ab, h_ab, 2 * sizeof(int), cudaMemcpyHostToDevice, stream);
    if (!error) error = all(n, stream, on_a_line{y, x, d_ab});
    const cudaError_t freed = cudaFreeAsync(d_ab, stream);
    return error ? error : freed;
}

cudaError_t count_above(int *count, const int *x, size_t n, int limit, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count, stream);
    return error ? error : all(n, stream, above{count, x, limit});
}
