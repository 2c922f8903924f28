/*
 * copies.cuh: kernels that move every element once, in all the ways one should and should not.
 */
#pragma once

#include "launch.cuh"

template <typename T> __global__ void copy(const T *from, T *to, int n)
{
    int i = thread();
    if (i < n) to[i] = from[i];
}

LAUNCH("copy")
{
    copy<<<N / 256, 256>>>(in.f, out.f, N);
}

LAUNCH("copy with a tail")
{
    copy<<<40, 256>>>(in.f, out.f, 10007);
}

LAUNCH("copy bytes")
{
    copy<<<N / 256, 256>>>(in.c, out.c, N);
}

LAUNCH("copy half")
{
    copy<<<N / 256, 256>>>(in.h, out.h, N);
}

LAUNCH("copy half2")
{
    copy<<<N / 256, 256>>>(in.h2, out.h2, N);
}

LAUNCH("copy double")
{
    copy<<<N / 256, 256>>>(in.d, out.d, N);
}

LAUNCH("copy float2")
{
    copy<<<N / 256, 256>>>(in.f2, out.f2, N);
}

LAUNCH("copy float4")
{
    copy<<<N / 256, 256>>>(in.f4, out.f4, N);
}

LAUNCH("copy float4 with a tail")
{
    copy<<<4, 256>>>(in.f4, out.f4, 1003);
}

LAUNCH("copy misaligned by 1 byte")
{
    copy<<<N / 256, 256>>>(in.c + 1, out.c + 1, N);
}

LAUNCH("copy misaligned by 4 bytes")
{
    copy<<<N / 256, 256>>>(in.f + 1, out.f + 1, N);
}

LAUNCH("copy misaligned by 16 bytes")
{
    copy<<<N / 256, 256>>>(in.f4 + 1, out.f4 + 1, N / 2);
}

LAUNCH("copy from misaligned by 8 bytes")
{
    copy<<<N / 256, 256>>>(in.d + 1, out.d, N);
}

__global__ void copy_apart(const float *from, float *to, int stride)
{
    to[thread()] = from[thread() * stride];
}

LAUNCH("stride 2")
{
    copy_apart<<<N / 256, 256>>>(in.f, out.f, 2);
}

LAUNCH("stride 4")
{
    copy_apart<<<N / 256, 256>>>(in.f, out.f, 4);
}

LAUNCH("stride 8")
{
    copy_apart<<<N / 256, 256>>>(in.f, out.f, 8);
}

LAUNCH("stride 32")
{
    copy_apart<<<8, 256>>>(in.f, out.f, 32);
}

__global__ void store_apart(const float *from, float *to, int stride)
{
    to[thread() * stride] = from[thread()];
}

LAUNCH("store stride 8")
{
    store_apart<<<N / 256, 256>>>(in.f, out.f, 8);
}

__global__ void broadcast(const float *from, float *to)
{
    to[thread()] = from[blockIdx.x];
}

LAUNCH("broadcast")
{
    broadcast<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void reverse(const float *from, float *to, int n)
{
    to[thread()] = from[n - 1 - thread()];
}

LAUNCH("reverse")
{
    reverse<<<N / 256, 256>>>(in.f, out.f, N);
}

__global__ void gather(const float *from, const int *index, float *to)
{
    to[thread()] = from[index[thread()]];
}

LAUNCH("gather at random")
{
    gather<<<N / 256, 256>>>(in.f, numbers.i, out.f);
}

__global__ void scatter(const float *from, const int *index, float *to)
{
    to[index[thread()]] = from[thread()];
}

LAUNCH("scatter at random")
{
    scatter<<<N / 256, 256>>>(in.f, numbers.i, out.f);
}

__global__ void copy_ldg(const float *from, float *to)
{
    to[thread()] = __ldg(from + thread());
}

LAUNCH("copy by __ldg")
{
    copy_ldg<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void grid_stride(const float *from, float *to, int n)
{
    for (int i = thread(); i < n; i += gridDim.x * blockDim.x) to[i] = 2 * from[i];
}

LAUNCH("grid-stride loop")
{
    grid_stride<<<7, 224>>>(in.f, out.f, N);
}

__global__ void odd_lanes(const float *from, float *to)
{
    if (threadIdx.x % 2) to[thread()] = from[thread()];
}

LAUNCH("odd lanes")
{
    odd_lanes<<<N / 256, 256>>>(in.f, out.f);
}

struct point {
    float x, y, z;
};

__global__ void move_points(const point *from, point *to)
{
    point p = from[thread()];
    to[thread()] = point{p.y, p.z, p.x};
}

LAUNCH("points of 12 bytes")
{
    move_points<<<N / 256, 256>>>((const point *)in.any, (point *)out.any);
}

struct particle {
    float x, y, z, mass;
};

__global__ void move_structures(const particle *from, particle *to)
{
    int i = thread();
    to[i].x = from[i].x + 1;
    to[i].z = from[i].z * 2;
}

LAUNCH("array of structures")
{
    move_structures<<<N / 256, 256>>>((particle *)in.any, (particle *)out.any);
}

__global__ void saxpy(float a, const float *x, float *y)
{
    y[thread()] = a * x[thread()] + y[thread()];
}

LAUNCH("saxpy")
{
    saxpy<<<N / 256, 256>>>(2, in.f, out.f);
}

__global__ void pick(const float *a, const float *b, float *to)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = b[thread()];
    __syncthreads();
    const float *from = a[thread()] > 1.5f ? tile + threadIdx.x : a + thread();
    to[thread()] = *from;
}

LAUNCH("generic pointers")
{
    pick<<<N / 256, 256>>>(in.f, in.f + N, out.f);
}
