/*
 * probes.cuh: one access of a warp at a time, in every width and many patterns: from these the
 * rules of sectors, wavefronts and conflicts were learned, and by these they are checked.
 */
#pragma once

#include "launch.cuh"

/** Which element lane i touches, and whether it does. */
struct shape {
    const char *name;
    int pattern;
};

static const shape shapes[] = {
    {"rising", 0},
    {"same", 1},
    {"pairs", 2},
    {"fours", 3},
    {"eights", 4},
    {"halves", 5},
    {"quarters", 6},
    {"swapped", 7},
    {"reversed", 8},
    {"apart 2", 9},
    {"apart 4", 10},
    {"apart 8", 11},
    {"apart 32", 12},
    {"apart 33", 13},
    {"random", 14},
    {"odd lanes", 15},
    {"one lane", 16},
    {"half warp", 17},
    {"two bases", 18},
    {"skewed", 19},
    {"every other pair", 20},
    {"shifted", 21},
    {"far pairs", 22},
    {"mixed", 23},
    {"half same", 24},
    {"pairs and other pairs", 25},
    {"alternating pairs", 26},
    {"outer lanes", 27},
    {"thinned", 28},
    {"upper pairs", 29},
    {"one quarter same", 30},
    {"crowd 48", 31},
    {"crowd 48 again", 32},
    {"crowd 256", 33},
    {"crowd 256 again", 34},
    {"crowd 256 thinned", 35},
};

/* At random, but always the same. */
__device__ static int crowd(int i, unsigned seed, int among)
{
    unsigned x = (i + 1) * 2654435761u ^ seed * 2246822519u;
    x ^= x >> 15;
    x *= 2246822519u;
    return (x ^ x >> 13) % among;
}

__device__ static int element(int pattern, int i)
{
    switch (pattern) {
    case 1: return 5;
    case 2: return i / 2;
    case 3: return i / 4;
    case 4: return i / 8;
    case 5: return i % 16;
    case 6: return i % 8;
    case 7: return i ^ 1;
    case 8: return 31 - i;
    case 9: return 2 * i;
    case 10: return 4 * i;
    case 11: return 8 * i;
    case 12: return 32 * i;
    case 13: return 33 * i;
    case 14: return (i * 181 + 77) * 57 % 1009;
    case 18: return i % 2 ? i : 512 + i;
    case 19: return i + i / 8;
    case 20: return i & ~2;
    case 21: return i + 3;
    case 22: return i % 2 * 64 + i / 16;
    case 23: return i < 8 ? i : i < 16 ? 4 * i : i < 24 ? 3 : 1000 - i;
    case 24: return i < 16 ? i : 3;
    case 25: return i < 16 ? i / 2 : i & ~2;
    case 26: return i / 4 % 2 ? i & ~2 : i & ~1;
    case 28: return i * 7 % 64;
    case 29: return i / 2;
    case 30: return i / 8 == 1 ? 9 : i;
    case 31: return crowd(i, 1, 48);
    case 32: return crowd(i, 2, 48);
    case 33: return crowd(i, 3, 256);
    case 34: return crowd(i, 4, 256);
    case 35: return crowd(i, 5, 256);
    default: return i;
    }
}

__device__ static bool takes_part(int pattern, int i)
{
    switch (pattern) {
    case 15: return i % 2;
    case 16: return i == 7;
    case 17: return i < 16;
    case 27: return i % 4 == 0 || i % 4 == 3;
    case 28: return 0x9d2c5681u >> i & 1;
    case 29: return i >= 16;
    case 35: return 0x6c078965u >> i & 1;
    default: return true;
    }
}

template <typename T> __global__ void load_global(const T *from, T *to, int pattern)
{
    int i = threadIdx.x % 32;
    if (takes_part(pattern, i)) to[threadIdx.x] = from[element(pattern, i)];
}

template <typename T> __global__ void store_global(const T *from, T *to, int pattern)
{
    int i = threadIdx.x % 32;
    T value = from[threadIdx.x];
    if (takes_part(pattern, i)) to[element(pattern, i)] = value;
}

enum { TILE = 1056 };

template <typename T> __global__ void load_shared(const T *from, T *to, int pattern)
{
    __shared__ T tile[TILE];
    int i = threadIdx.x % 32;
    tile[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    if (takes_part(pattern, i)) to[threadIdx.x] = tile[element(pattern, i)];
}

template <typename T> __global__ void store_shared(const T *from, T *to, int pattern)
{
    __shared__ T tile[TILE];
    int i = threadIdx.x % 32;
    T value = from[threadIdx.x];
    if (takes_part(pattern, i)) tile[element(pattern, i)] = value;
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x];
}

template <typename T> __global__ void add_global(T *to, int pattern)
{
    int i = threadIdx.x % 32;
    if (takes_part(pattern, i)) atomicAdd(&to[element(pattern, i)], (T)(i + 1));
}

template <typename T> __global__ void exchange_global(T *to, T *old, int pattern)
{
    int i = threadIdx.x % 32;
    if (takes_part(pattern, i)) old[threadIdx.x] = atomicExch(&to[element(pattern, i)], (T)i);
}

template <typename T> __global__ void add_shared(T *to, int pattern)
{
    __shared__ T tile[TILE];
    int i = threadIdx.x % 32;
    tile[threadIdx.x] = 0;
    __syncthreads();
    if (takes_part(pattern, i)) atomicAdd(&tile[element(pattern, i)], (T)(i + 1));
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x];
}

template <typename T> __global__ void exchange_shared(T *to, int pattern)
{
    __shared__ T tile[TILE];
    int i = threadIdx.x % 32;
    tile[threadIdx.x] = 0;
    __syncthreads();
    if (takes_part(pattern, i)) to[threadIdx.x] = atomicExch(&tile[element(pattern, i)], (T)i);
}

__global__ void increment_global(int *to, int pattern)
{
    int i = threadIdx.x % 32;
    if (takes_part(pattern, i)) atomicAdd(&to[element(pattern, i)], 1);
}

template <bool returns> __global__ void increment_shared(int *to, int pattern)
{
    __shared__ int tile[TILE];
    int i = threadIdx.x % 32;
    tile[threadIdx.x] = 0;
    __syncthreads();
    int old = 0;
    if (takes_part(pattern, i)) old = atomicAdd(&tile[element(pattern, i)], 1);
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x] + (returns ? old : 0);
}

template <typename T, int bytes> __global__ void copy_async(const T *from, T *to, int pattern)
{
    __shared__ T tile[64];
    int i = threadIdx.x % 32;
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    tile[threadIdx.x] = from[threadIdx.x];
    if (takes_part(pattern, i))
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at),
                     "l"(from + element(pattern, i)), "n"(bytes));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x ^ 1];
}

template <typename T> __global__ void use_local(const int *index, T *to, int pattern)
{
    T mine[64];
    int i = threadIdx.x % 32, at = element(pattern, i) % 64;
    for (int k = 0; k < 64; k++) mine[k ^ index[0] % 64] = (T)k;
    if (takes_part(pattern, i)) to[threadIdx.x] = mine[at];
}

/* A launch of each pattern: two warps, so that nothing depends on a block being one. */
#define PROBES(name, title, arguments)                                                             \
    static void name(int pattern)                                                                  \
    {                                                                                              \
        arguments;                                                                                 \
    }                                                                                              \
    static bool added_##name = add_probes(title, name)

static bool add_probes(const char *title, void (*run)(int))
{
    for (const shape &s : shapes) {
        char label[64];
        snprintf(label, sizeof label, "%s %s", title, s.name);
        add_launch(label, run, s.pattern);
    }
    return true;
}

#define PROBE_TYPE(T, m, bytes)                                                                    \
    PROBES(load_global_##m, "load global " bytes, (load_global<<<1, 64>>>(in.m, out.m, pattern))); \
    PROBES(store_global_##m, "store global " bytes,                                                \
           (store_global<<<1, 64>>>(in.m, out.m, pattern)));                                       \
    PROBES(load_shared_##m, "load shared " bytes, (load_shared<<<1, 64>>>(in.m, out.m, pattern))); \
    PROBES(store_shared_##m, "store shared " bytes, (store_shared<<<1, 64>>>(in.m, out.m, pattern)))

PROBE_TYPE(unsigned char, c, "1");
PROBE_TYPE(__half, h, "2");
PROBE_TYPE(float, f, "4");
PROBE_TYPE(float2, f2, "8");
PROBE_TYPE(float4, f4, "16");

PROBES(add_global_i, "red global 4", (add_global<<<1, 64>>>(out.i, pattern)));
PROBES(add_global_f, "red global float", (add_global<<<1, 64>>>(out.f, pattern)));
PROBES(add_global_ull, "red global 8", (add_global<<<1, 64>>>(out.ull, pattern)));
PROBES(exchange_global_i, "atom global 4", (exchange_global<<<1, 64>>>(out.i, in.i, pattern)));
PROBES(exchange_global_ull, "atom global 8",
       (exchange_global<<<1, 64>>>(out.ull, in.ull, pattern)));
PROBES(add_shared_i, "red shared 4", (add_shared<<<1, 64>>>(out.i, pattern)));
PROBES(exchange_shared_i, "atom shared 4", (exchange_shared<<<1, 64>>>(out.i, pattern)));
PROBES(exchange_shared_ull, "atom shared 8", (exchange_shared<<<1, 64>>>(out.ull, pattern)));
PROBES(increment_global_i, "inc global 4", (increment_global<<<1, 64>>>(out.i, pattern)));
PROBES(increment_shared_i, "inc shared 4", (increment_shared<false><<<1, 64>>>(out.i, pattern)));
PROBES(increment_returned, "inc shared 4 returned",
       (increment_shared<true><<<1, 64>>>(out.i, pattern)));
PROBES(copy_async_f, "async 4", (copy_async<float, 4><<<1, 64>>>(in.f, out.f, pattern)));
PROBES(copy_async_f4, "async 16", (copy_async<float4, 16><<<1, 64>>>(in.f4, out.f4, pattern)));
PROBES(use_local_c, "local 1", (use_local<<<1, 64>>>(numbers.i, out.c, pattern)));
PROBES(use_local_i, "local 4", (use_local<<<1, 64>>>(numbers.i, out.i, pattern)));
PROBES(use_local_ull, "local 8", (use_local<<<1, 64>>>(numbers.i, out.ull, pattern)));
