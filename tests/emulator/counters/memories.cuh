/*
 * memories.cuh: local and constant memory, asynchronous copies, counters.
 */
#pragma once

#include "launch.cuh"

__global__ void sort_local(const float *from, float *to)
{
    float mine[16];
    for (int i = 0; i < 16; i++) mine[i] = from[i * 256 + threadIdx.x];
    for (int i = 1; i < 16; i++)
        for (int k = i; k > 0 && mine[k] < mine[k - 1]; k--) {
            float swap = mine[k];
            mine[k] = mine[k - 1];
            mine[k - 1] = swap;
        }
    for (int i = 0; i < 16; i++) to[i * 256 + threadIdx.x] = mine[i];
}

LAUNCH("local array, sorted")
{
    sort_local<<<1, 256>>>(in.f, out.f);
}

__constant__ float table[64] = {1, 2, 3};

__global__ void look_up(const int *index, float *to)
{
    to[thread()] = table[index[thread()] % 64];
}

LAUNCH("constant memory")
{
    look_up<<<N / 256, 256>>>(numbers.i, out.f);
}

__global__ void copy_async(const float4 *from, float4 *to)
{
    __shared__ float4 tile[128];
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from + thread()));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    to[thread()] = tile[threadIdx.x ^ 1];
}

LAUNCH("asynchronous copy")
{
    copy_async<<<16, 128>>>(in.f4, out.f4);
}

__global__ void count_one(const int *from, int *counter)
{
    if (from[thread()] % 3 == 0) atomicAdd(counter, 1);
}

LAUNCH("one counter")
{
    count_one<<<N / 256, 256>>>(numbers.i, out.i);
}

__global__ void take_tickets(const int *from, int *counter, int *to)
{
    if (from[thread()] % 3 == 0) to[thread()] = atomicAdd(counter, 1);
}

LAUNCH("one counter, returned")
{
    must(cudaMemset(out.i, 0, 4), "counter");
    take_tickets<<<8, 256>>>(numbers.i, out.i, out.i + N);
}

__global__ void read_twice(const volatile float *from, float *to)
{
    to[thread()] = from[thread()] + from[thread()];
}

LAUNCH("volatile loads")
{
    read_twice<<<N / 256, 256>>>(in.f, out.f);
}
