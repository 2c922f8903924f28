// RIGHT: four bits a pass, one key per thread, tiles split bit by bit; lengths by atomics
#include "210_scan/scan.h"
#include "2c_radix_sort/radix_sort.h"
#include <limits.h>

enum { TILE = 1024, DIGITS = 16 };

/* Of all threads of the block, how many before this one have the flag, and how many at all. */
__device__ static unsigned flags_before(bool flag, unsigned *all)
{
    __shared__ unsigned warps[32];
    const unsigned lane = threadIdx.x % 32, mine = __ballot_sync(~0u, flag);
    unsigned lower = 0;
    __syncthreads();
    if (lane == 0) warps[threadIdx.x / 32] = __popc(mine);
    __syncthreads();
    *all = 0;
    for (unsigned w = 0; w < 32; w++) {
        if (w < threadIdx.x / 32) lower += warps[w];
        *all += warps[w];
    }
    return lower + __popc(mine & ((1u << lane) - 1));
}

__device__ static bool wanted(const unsigned *in, size_t n, const uint2 *range)
{
    const size_t i = (size_t)blockIdx.x * TILE + threadIdx.x;
    if (i >= n) return false;
    if (!range) return i == n - 1 || in[i] != in[i + 1]; /* the last of its run */
    return in[i] - range->x <= range->y;
}

__global__ static void count_wanted(unsigned *table, const unsigned *in, size_t n, uint2 r,
                                    bool runs)
{
    const unsigned count = __syncthreads_count(wanted(in, n, runs ? NULL : &r));
    if (threadIdx.x == 0) table[blockIdx.x] = count;
}

__global__ static void store_wanted(unsigned *out, unsigned *lengths, unsigned *count,
                                    const unsigned *table, const unsigned *in, size_t n, uint2 r)
{
    const unsigned i = blockIdx.x * TILE + threadIdx.x;
    const bool mine = wanted(in, n, lengths ? NULL : &r);
    unsigned all, to = table[blockIdx.x] + flags_before(mine, &all);
    if (mine) out[to] = in[i];
    if (mine && lengths) {
        atomicAdd(&lengths[to], i + 1);
        if (i + 1 < n) atomicAdd(&lengths[to + 1], 0u - (i + 1));
    }
    if (i == 0) *count = table[gridDim.x];
}

static cudaError_t keep(unsigned *out, unsigned *lengths, unsigned *count, const unsigned *in,
                        size_t n, uint2 r, cudaStream_t stream)
{
    const unsigned tiles = (unsigned)((n + TILE - 1) / TILE);
    unsigned *table;
    if (n > INT_MAX) return cudaErrorInvalidValue;
    if (n == 0) return cudaMemsetAsync(count, 0, sizeof *count, stream);
    cudaError_t error = cudaMallocAsync((void **)&table, (tiles + 1) * sizeof *table, stream);
    if (error != cudaSuccess) return error;
    if (lengths) error = cudaMemsetAsync(lengths, 0, n * sizeof *lengths, stream);
    count_wanted<<<tiles + 1, TILE, 0, stream>>>(table, in, n, r, lengths != NULL);
    if (error == cudaSuccess) error = exclusive_scan((int *)table, (int *)table, tiles + 1, stream);
    if (error == cudaSuccess) {
        store_wanted<<<tiles, TILE, 0, stream>>>(out, lengths, count, table, in, n, r);
        error = cudaGetLastError();
    }
    cudaFreeAsync(table, stream);
    return error;
}

extern "C" cudaError_t compact(unsigned *out, unsigned *count, const unsigned *in, size_t n,
                               unsigned low, unsigned high, cudaStream_t stream)
{
    if (low <= high) return keep(out, NULL, count, in, n, make_uint2(low, high - low), stream);
    return keep(out, NULL, count, in, n > INT_MAX ? n : 0, make_uint2(0, 0), stream);
}

extern "C" cudaError_t run_lengths(unsigned *values, unsigned *lengths, unsigned *runs,
                                   const unsigned *in, size_t n, cudaStream_t stream)
{
    return keep(values, lengths, runs, in, n, make_uint2(0, 0), stream);
}

__global__ static void tally(unsigned *table, const unsigned *keys, size_t n, int shift)
{
    __shared__ unsigned counts[DIGITS];
    const size_t i = (size_t)blockIdx.x * TILE + threadIdx.x;
    if (threadIdx.x < DIGITS) counts[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&counts[keys[i] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS) table[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

__global__ static void spread(unsigned *to_keys, unsigned *to_values, const unsigned *keys,
                              const unsigned *values, const unsigned *table, size_t n, int shift)
{
    __shared__ unsigned key[TILE], value[TILE], begin[DIGITS];
    const size_t first = (size_t)blockIdx.x * TILE, i = first + threadIdx.x;
    const unsigned count = n - first < TILE ? (unsigned)(n - first) : TILE, t = threadIdx.x;
    unsigned k = i < n ? keys[i] : ~0u, v = i < n ? values[i] : 0, ones;
    for (int bit = shift; bit < shift + 4; bit++) {
        const bool one = k >> bit & 1;
        const unsigned before = flags_before(one, &ones),
                       to = one ? TILE - ones + before : t - before;
        key[to] = k, value[to] = v;
        __syncthreads();
        k = key[t], v = value[t];
    }
    const unsigned digit = k >> shift & 15;
    if (t == 0 || (key[t - 1] >> shift & 15) != digit)
        begin[digit] = table[digit * gridDim.x + blockIdx.x] - t;
    __syncthreads();
    if (t >= count) return;
    to_keys[begin[digit] + t] = k;
    to_values[begin[digit] + t] = v;
}

extern "C" cudaError_t sort_pairs(unsigned *out_keys, unsigned *out_values, const unsigned *keys,
                                  const unsigned *values, size_t n, cudaStream_t stream)
{
    if (n > INT_MAX) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    const unsigned tiles = (unsigned)((n + TILE - 1) / TILE), counters = tiles * DIGITS;
    unsigned *table;
    cudaError_t error =
        cudaMallocAsync((void **)&table, (counters + 2 * n) * sizeof *table, stream);
    if (error != cudaSuccess) return error;
    for (int shift = 0; shift < 32 && error == cudaSuccess; shift += 4) {
        unsigned *to = shift % 8 ? out_keys : table + counters;
        unsigned *to_v = shift % 8 ? out_values : to + n;
        tally<<<tiles, TILE, 0, stream>>>(table, keys, n, shift);
        error = exclusive_scan((int *)table, (int *)table, counters, stream);
        if (error != cudaSuccess) break;
        spread<<<tiles, TILE, 0, stream>>>(to, to_v, keys, values, table, n, shift);
        error = cudaGetLastError();
        keys = to, values = to_v;
    }
    cudaFreeAsync(table, stream);
    return error;
}
