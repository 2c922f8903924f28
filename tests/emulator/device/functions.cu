/* functions.cu: calls, recursion, pointers to functions, local memory, templates. */
#include "check.h"

__device__ __noinline__ int square(int x)
{
    return x * x;
}

__device__ __noinline__ float4 scaled(float4 v, float by)
{
    return make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
}

__global__ void call(int *out, float4 *vectors)
{
    int t = threadIdx.x;
    out[t] = square(t) + (t % 2 ? square(t + 1) : 0);
    vectors[t] = scaled(make_float4(t, 1, 2, 3), 2);
}

CASE(noinline_calls)
{
    int *out = device_array<int>(64);
    float4 *vectors = device_array<float4>(64);
    call<<<1, 64>>>(out, vectors);
    SYNC();
    std::vector<int> got = to_host(out, 64);
    for (int t = 0; t < 64; t++) CHECK(got[t] == t * t + (t % 2 ? (t + 1) * (t + 1) : 0));
    CHECK(to_host(vectors, 64)[5].x == 10);
}

__device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void recursive(int *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

CASE(recursion)
{
    int *out = device_array<int>(32);
    recursive<<<1, 32>>>(out);
    SYNC();
    CHECK(to_host(out, 32)[11] == 89);
    CHECK(to_host(out, 32)[12] == 0);
}

__device__ float twice(float x)
{
    return 2 * x;
}
__device__ float plus_ten(float x)
{
    return x + 10;
}

typedef float (*operation)(float);
__device__ operation table[2] = {twice, plus_ten};

__global__ void indirect(float *out)
{
    int t = threadIdx.x;
    out[t] = table[t % 2]((float)t);
}

CASE(function_pointers)
{
    float *out = device_array<float>(32);
    indirect<<<1, 32>>>(out);
    SYNC();
    std::vector<float> got = to_host(out, 32);
    for (int t = 0; t < 32; t++) CHECK(got[t] == (t % 2 ? t + 10 : 2 * t));
}

__global__ void local_array(int *out, const int *order)
{
    int t = threadIdx.x, a[8];
    for (int i = 0; i < 8; i++) a[i] = t * 8 + i;
    for (int i = 0; i < 8; i++) {
        int j = order[(i + t) % 8], swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += a[i] * (i + 1);
    out[t] = sum;
}

CASE(dynamic_local_array)
{
    std::vector<int> order = {3, 1, 4, 0, 5, 7, 2, 6};
    int *out = device_array<int>(64);
    local_array<<<1, 64>>>(out, to_device(order));
    SYNC();
    std::vector<int> got = to_host(out, 64);
    for (int t = 0; t < 64; t++) {
        int a[8], sum = 0;
        for (int i = 0; i < 8; i++) a[i] = t * 8 + i;
        for (int i = 0; i < 8; i++) std::swap(a[i], a[order[(i + t) % 8]]);
        for (int i = 0; i < 8; i++) sum += a[i] * (i + 1);
        CHECK(got[t] == sum);
    }
}

template <typename T, int N> __global__ void fill(T *out, T value)
{
    __shared__ T s[N];
    s[threadIdx.x] = value;
    __syncthreads();
    out[threadIdx.x] = s[N - 1 - threadIdx.x];
}

CASE(templates)
{
    float *f = device_array<float>(64);
    double *d = device_array<double>(32);
    fill<float, 64><<<1, 64>>>(f, 1.5f);
    fill<double, 32><<<1, 32>>>(d, 2.5);
    SYNC();
    CHECK(to_host(f, 64)[63] == 1.5f && to_host(d, 32)[0] == 2.5);
}
