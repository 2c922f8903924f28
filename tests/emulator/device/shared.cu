/* shared.cu: shared memory, static, dynamic, and more than 48 KB of it. */
#include "check.h"

__global__ void both(int *out)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[32];
    int t = threadIdx.x;
    fixed[t] = t;
    dynamic[t] = 100 + t;
    dynamic[t + 32] = 200 + t;
    __syncthreads();
    out[t] = fixed[31 - t] + dynamic[31 - t] + dynamic[63 - t];
}

CASE(static_and_dynamic)
{
    int *out = device_array<int>(32);
    both<<<2, 32, 64 * sizeof(int)>>>(out);
    SYNC();
    CHECK(to_host(out, 32)[0] == 31 * 3 + 300);
}

__global__ void parts(float *out, int n)
{
    extern __shared__ char raw[];
    float *floats = (float *)raw;
    double *doubles = (double *)(raw + n * sizeof(float));
    int t = threadIdx.x;
    floats[t] = t;
    doubles[t] = t * 0.5;
    __syncthreads();
    out[t] = floats[n - 1 - t] + (float)doubles[n - 1 - t];
}

CASE(divided_dynamic)
{
    float *out = device_array<float>(64);
    parts<<<1, 64, 64 * (sizeof(float) + sizeof(double))>>>(out, 64);
    SYNC();
    CHECK(to_host(out, 64)[0] == 63 * 1.5f);
}

__global__ void large(int *out, int n)
{
    extern __shared__ int big[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) big[i] = i;
    __syncthreads();
    out[threadIdx.x] = big[n - 1 - threadIdx.x];
}

CASE(more_than_48_kb)
{
    const int bytes = 100 << 10, n = bytes / sizeof(int);
    int *out = device_array<int>(64);
    large<<<1, 64, bytes>>>(out, n);
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    large<<<1, 64, bytes>>>(out, n);
    SYNC();
    CHECK(to_host(out, 64)[0] == n - 1);
    FAILS(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
          cudaErrorInvalidValue);
}

__global__ void fresh(int *out)
{
    __shared__ int s[32];
    s[threadIdx.x] = blockIdx.x;
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
}

CASE(every_block_has_its_own)
{
    int *out = device_array<int>(32 * 40);
    fresh<<<40, 32>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, 32 * 40);
    for (int i = 0; i < 32 * 40; i++) CHECK(got[i] == i / 32);
}
