/* global_races.cu: accesses to global memory within one launch that nothing orders. One host thread
 * runs the blocks in order, so the later one of two accesses is always the same. */
#include "check.h"

__global__ void read_neighbour_block(int *out, int *p)
{
    if (threadIdx.x == 0) p[blockIdx.x] = blockIdx.x + 1;
    __syncthreads();
    if (blockIdx.x > 0)
        out[blockIdx.x] = p[blockIdx.x - 1]; // FINDING barrier_orders_one_block: race
}

// STDERR barrier_orders_one_block: thread (0,0,0) of block (1,0,0) reads what thread (0,0,0) of
// block (0,0,0) wrote at global_races.cu:7, and nothing orders them
CASE(barrier_orders_one_block)
{
    read_neighbour_block<<<8, 32>>>(device_array<int>(8), device_array<int>(8));
    SYNC();
}

__global__ void scan_in_place(int *p)
{
    int i = threadIdx.x;
    for (int d = 1; d < 32; d *= 2)
        if (i >= d) p[i] += p[i - d]; // FINDING warp_scan_without_sync: missing-syncwarp
}

CASE(warp_scan_without_sync)
{
    scan_in_place<<<1, 32>>>(to_device(std::vector<int>(32, 1)));
    SYNC();
}

__global__ void read_too_early(int *out, int *sum)
{
    if (threadIdx.x == 0 && blockIdx.x == 1) *out = *sum; // FINDING plain_read_of_a_counter: race
    atomicAdd(sum, 1);                                    // MAYBE plain_read_of_a_counter: race
}

CASE(plain_read_of_a_counter)
{
    read_too_early<<<4, 64>>>(device_array<int>(1), to_device(std::vector<int>(1)));
    SYNC();
}

/* The block's own update does not make its reset come before the updates of others. */
__global__ void reset_then_count(int *count)
{
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) *count = 0;
    atomicAdd(count, 1); // FINDING update_behind_the_own_reset: race
}

// ENV update_behind_the_own_reset: SOFTGPU_THREADS=1
CASE(update_behind_the_own_reset)
{
    reset_then_count<<<3, 32>>>(to_device(std::vector<int>(1, 5)));
    SYNC();
}

__global__ void many_readers(int *out, int *p)
{
    if (blockIdx.x == 2 && threadIdx.x == 0) *p = 9; // FINDING writer_after_many_readers: race
    out[blockIdx.x * blockDim.x + threadIdx.x] = *p; // MAYBE writer_after_many_readers: race
}

// ENV writer_after_many_readers: SOFTGPU_THREADS=1
CASE(writer_after_many_readers)
{
    many_readers<<<4, 32>>>(device_array<int>(128), to_device(std::vector<int>(1, 3)));
    SYNC();
}

struct pair {
    double a, b;
};

__global__ void swap_pairs(pair *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = p[n - 1 - i]; // FINDING wide_elements: race
}

// ENV wide_elements: SOFTGPU_THREADS=1
CASE(wide_elements)
{
    std::vector<pair> pairs(128);
    for (int i = 0; i < 128; i++) pairs[i] = {1.0 * i, 2.0 * i};
    swap_pairs<<<2, 64>>>(to_device(pairs), 128);
    SYNC();
}

__device__ int total;

__global__ void add_to_variable(const int *in)
{
    total += in[threadIdx.x]; // FINDING race_in_a_variable: race
}

CASE(race_in_a_variable)
{
    add_to_variable<<<2, 32>>>(to_device(std::vector<int>(32, 1)));
    SYNC();
}

/* Pointers that come from memory have no known origin. */
struct list {
    int *to, *from;
};

__global__ void through_pointers(list *l)
{
    l->to[blockIdx.x] = l->from[1 - (int)blockIdx.x] + 1; // FINDING pointers_in_memory: race
}

CASE(pointers_in_memory)
{
    int *numbers = to_device(std::vector<int>(2));
    through_pointers<<<2, 1>>>(to_device(std::vector<list>(1, list{numbers, numbers})));
    SYNC();
}

__global__ void bytes_of_others(unsigned char *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i * 4] = (unsigned char)(p[(i + 64) % n * 4] + 1); // FINDING bytes: race
}

CASE(bytes)
{
    bytes_of_others<<<2, 64>>>(to_device(std::vector<unsigned char>(512)), 128);
    SYNC();
}

/* The size goes into the address as well, and points nowhere. */
__global__ void shift_up(int *p, const int *in, size_t n)
{
    size_t t = n - 1 - threadIdx.x;
    if (t > 0) p[t] = p[t - 1] + in[t]; // FINDING in_place_shift_by_size: race
}

CASE(in_place_shift_by_size)
{
    std::vector<int> numbers(256, 1);
    shift_up<<<1, 256>>>(to_device(numbers), to_device(numbers), 256);
    SYNC();
}

/* A pointer that looks like a size. */
__global__ void shift_hidden(size_t pages, int n)
{
    int *p = (int *)(pages << 8), i = threadIdx.x;
    if (i + 1 < n) p[i] = p[i + 1] + 1; // FINDING pointer_in_disguise: race
}

CASE(pointer_in_disguise)
{
    shift_hidden<<<1, 256>>>((size_t)to_device(std::vector<int>(256, 1)) >> 8, 256);
    SYNC();
}
