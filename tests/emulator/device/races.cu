/* races.cu: accesses to shared memory that no barrier orders, and those that one does. */
#include "check.h"

__global__ void reverse_without_barrier(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;           // MAYBE read_too_early: race
    out[t] = s[63 - t]; // FINDING read_too_early: race // MAYBE read_too_early: uninitialised
}

CASE(read_too_early)
{
    reverse_without_barrier<<<1, 64>>>(device_array<int>(64));
    OK(cudaGetLastError());
}

__global__ void reverse_with_barrier(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
}

CASE(barrier_before_read)
{
    int *out = device_array<int>(64);
    reverse_with_barrier<<<3, 64>>>(out);
    SYNC();
    CHECK(to_host(out, 64)[0] == 63);
}

/* The second barrier of a tile loop: without it a fast warp overwrites what a slow one still reads.
 */
__global__ void sum_tiles_without_second(int *out, const int *in, int tiles)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < tiles; i++) {
        tile[t] = in[i * 64 + t]; // MAYBE overwrite_too_early: race
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += tile[k]; // FINDING overwrite_too_early: race
    }
    out[t] = sum;
}

CASE(overwrite_too_early)
{
    int *in = to_device(std::vector<int>(256, 1));
    sum_tiles_without_second<<<1, 64>>>(device_array<int>(64), in, 4);
    OK(cudaGetLastError());
}

__global__ void sum_tiles(int *out, const int *in, int tiles)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < tiles; i++) {
        tile[t] = in[i * 64 + t];
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += tile[k];
        __syncthreads();
    }
    out[t] = sum;
}

CASE(both_barriers)
{
    int *in = to_device(std::vector<int>(256, 1)), *out = device_array<int>(64);
    sum_tiles<<<1, 64>>>(out, in, 4);
    SYNC();
    CHECK(to_host(out, 64)[63] == 256);
}

__global__ void reduce_without_barrier(int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1)
        if (t < d) s[t] += s[t + d]; // FINDING reduction_without_barrier: race
    if (t == 0) *out = s[0];
}

CASE(reduction_without_barrier)
{
    reduce_without_barrier<<<1, 128>>>(device_array<int>(1));
    OK(cudaGetLastError());
}

__global__ void reduce(int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) *out = s[0];
}

CASE(reduction_with_barriers)
{
    int *out = device_array<int>(1);
    reduce<<<2, 128>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 127 * 64);
}

__global__ void reduce_warp(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        __syncwarp();
        for (int d = 16; d > 0; d >>= 1) {
            int other = s[t + d];
            __syncwarp();
            s[t] += other;
            __syncwarp();
        }
    }
    if (t == 0) *out = s[0];
}

CASE(warp_reduction_with_syncwarp)
{
    int *out = device_array<int>(1);
    reduce_warp<<<1, 64>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 63 * 32);
}

__global__ void all_write_one(int *out)
{
    __shared__ int s;
    s = threadIdx.x; // FINDING two_writers: race
    __syncthreads();
    out[threadIdx.x] = s;
}

CASE(two_writers)
{
    all_write_one<<<1, 64>>>(device_array<int>(64));
    OK(cudaGetLastError());
}

__global__ void count(int *out)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, 1);
    __syncthreads();
    if (threadIdx.x == 0) *out = total;
}

CASE(atomics_do_not_race)
{
    int *out = device_array<int>(1);
    count<<<1, 256>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 256);
}

__global__ void bytes(unsigned char *out)
{
    __shared__ unsigned char s[64];
    s[threadIdx.x] = (unsigned char)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}

CASE(neighbouring_bytes_do_not_race)
{
    unsigned char *out = device_array<unsigned char>(64);
    bytes<<<1, 64>>>(out);
    SYNC();
    CHECK(to_host(out, 64)[10] == 11);
}

__global__ void own_slot(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    s[t] += 1;
    out[t] = s[t];
}

CASE(own_slot_needs_no_barrier)
{
    int *out = device_array<int>(64);
    own_slot<<<1, 64>>>(out);
    SYNC();
    CHECK(to_host(out, 64)[5] == 6);
}
