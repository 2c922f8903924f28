/*
 * reductions.cuh: sums, and histograms.
 */
#pragma once

#include "launch.cuh"

__global__ void reduce_divergent(const float *from, float *to)
{
    __shared__ float part[256];
    int i = threadIdx.x;
    part[i] = from[thread()];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        if (i % (2 * s) == 0) part[i] += part[i + s];
        __syncthreads();
    }
    if (i == 0) to[blockIdx.x] = part[0];
}

LAUNCH("reduce, divergent tree")
{
    reduce_divergent<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void reduce_conflicting(const float *from, float *to)
{
    __shared__ float part[256];
    int i = threadIdx.x;
    part[i] = from[thread()];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        int at = 2 * s * i;
        if (at < 256) part[at] += part[at + s];
        __syncthreads();
    }
    if (i == 0) to[blockIdx.x] = part[0];
}

LAUNCH("reduce, tree with bank conflicts")
{
    reduce_conflicting<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void reduce_sequential(const float *from, float *to)
{
    __shared__ float part[256];
    int i = threadIdx.x;
    part[i] = from[thread()];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (i < s) part[i] += part[i + s];
        __syncthreads();
    }
    if (i == 0) to[blockIdx.x] = part[0];
}

LAUNCH("reduce, sequential tree")
{
    reduce_sequential<<<N / 256, 256>>>(in.f, out.f);
}

__device__ static float warp_sum(float value)
{
    for (int s = 16; s > 0; s /= 2) value += __shfl_xor_sync(~0u, value, s);
    return value;
}

__global__ void reduce_shuffle(const float *from, float *to)
{
    float sum = warp_sum(from[thread()]);
    if (threadIdx.x % 32 == 0) atomicAdd(to, sum);
}

LAUNCH("reduce, warp shuffle and atomics")
{
    reduce_shuffle<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void reduce_atomic(const float *from, float *to)
{
    atomicAdd(to, from[thread()]);
}

LAUNCH("reduce, atomics only")
{
    reduce_atomic<<<16, 256>>>(in.f, out.f);
}

__global__ void histogram_global(const unsigned *from, unsigned *bins)
{
    atomicAdd(&bins[from[thread()] % 256], 1);
}

LAUNCH("histogram, global atomics")
{
    histogram_global<<<N / 256, 256>>>(numbers.u, out.u);
}

__global__ void histogram_shared(const unsigned *from, unsigned *bins)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = thread(); i < N; i += gridDim.x * blockDim.x) atomicAdd(&mine[from[i] % 256], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

LAUNCH("histogram, shared atomics")
{
    histogram_shared<<<8, 256>>>(numbers.u, out.u);
}
