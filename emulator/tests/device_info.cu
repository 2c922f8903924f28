/* device_info.cu: what a program learns of the device before it sizes its work. */
#include "check.h"

CASE(properties)
{
    cudaDeviceProp p;
    int count = 0, value = 0;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 1);
    OK(cudaGetDeviceProperties(&p, 0));
    CHECK(!strcmp(p.name, "softgpu") && p.major == 8 && p.minor == 0 && p.warpSize == 32);
    CHECK(p.multiProcessorCount >= 8 && p.maxThreadsPerBlock == 1024 &&
          p.sharedMemPerBlock == 48 << 10);
    CHECK(p.maxThreadsPerMultiProcessor == 2048 && p.regsPerBlock == 65536 && p.totalGlobalMem > 0);
    CHECK(p.maxGridSize[0] == 0x7fffffff && p.maxThreadsDim[2] == 64 && p.memoryBusWidth > 0);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CHECK(value == p.multiProcessorCount);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK((size_t)value == p.sharedMemPerBlockOptin);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    CHECK(value > 0);
    FAILS(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
}

// ENV memory: SOFTGPU_MEMORY=64M
CASE(memory)
{
    size_t free_before, free_after, total;
    void *p;
    OK(cudaMemGetInfo(&free_before, &total));
    CHECK(total == 64 << 20 && free_before <= total);
    OK(cudaMalloc(&p, 10 << 20));
    OK(cudaMemGetInfo(&free_after, &total));
    CHECK(free_before - free_after >= 10 << 20);
    FAILS(cudaMalloc(&p, 60 << 20), cudaErrorMemoryAllocation);
    OK(cudaFree(p));
    OK(cudaMemGetInfo(&free_after, &total));
    CHECK(free_after == free_before);
}

CASE(versions_and_limits)
{
    int version;
    size_t limit;
    OK(cudaDriverGetVersion(&version));
    CHECK(version == 13000);
    OK(cudaRuntimeGetVersion(&version));
    CHECK(version == 13000);
    OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit == 1024);
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
    OK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    CHECK(limit == 4 << 20);
}

__global__ void __launch_bounds__(256) kernel(float *p)
{
    __shared__ float s[1024];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = s[255 - threadIdx.x];
}

CASE(function_attributes)
{
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, kernel));
    CHECK(a.sharedSizeBytes == 4096 && a.maxThreadsPerBlock == 256 && a.numRegs > 0);
    CHECK(a.maxDynamicSharedSizeBytes == 48 * 1024 - 4096);
    OK(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferShared));
}

CASE(occupancy)
{
    int blocks = 0, grid = 0, block = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
    CHECK(blocks == 8);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 40 << 10));
    CHECK(blocks == 3);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 512, 0));
    CHECK(blocks == 0);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0));
    CHECK(block == 256 && grid == 64);
    FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 0, 0),
          cudaErrorInvalidValue);
}
