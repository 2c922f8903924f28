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

/* 200 floats live at once, and so few registers that a block of 1,024 threads fits. */
__global__ void __launch_bounds__(1024) wide(float *p)
{
    float x[200];
#pragma unroll
    for (int i = 0; i < 200; i++) x[i] = p[i];
#pragma unroll
    for (int i = 0; i < 200; i++) p[i] = x[199 - i];
}

CASE(bounds_bound_registers)
{
    int blocks = 0;
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, wide));
    CHECK(a.numRegs > 32 && a.numRegs <= 64);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wide, 1024, 0));
    CHECK(blocks == 1);
}

/* Both ways of asking give the same answer. */
CASE(attributes_agree_with_properties)
{
    cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 0));
    const struct {
        cudaDeviceAttr attribute;
        size_t value;
    } rows[] = {
        {cudaDevAttrMaxThreadsPerBlock, (size_t)p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, (size_t)p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimZ, (size_t)p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, (size_t)p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, (size_t)p.maxGridSize[1]},
        {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor},
        {cudaDevAttrTotalConstantMemory, p.totalConstMem},
        {cudaDevAttrWarpSize, (size_t)p.warpSize},
        {cudaDevAttrMaxRegistersPerBlock, (size_t)p.regsPerBlock},
        {cudaDevAttrMaxRegistersPerMultiprocessor, (size_t)p.regsPerMultiprocessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, (size_t)p.maxBlocksPerMultiProcessor},
        {cudaDevAttrMaxThreadsPerMultiProcessor, (size_t)p.maxThreadsPerMultiProcessor},
        {cudaDevAttrReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock},
        {cudaDevAttrL2CacheSize, (size_t)p.l2CacheSize},
        {cudaDevAttrGlobalMemoryBusWidth, (size_t)p.memoryBusWidth},
        {cudaDevAttrComputeCapabilityMajor, (size_t)p.major},
        {cudaDevAttrComputeCapabilityMinor, (size_t)p.minor},
        {cudaDevAttrAsyncEngineCount, (size_t)p.asyncEngineCount},
        {cudaDevAttrCanMapHostMemory, (size_t)p.canMapHostMemory},
        {cudaDevAttrConcurrentKernels, (size_t)p.concurrentKernels},
        {cudaDevAttrUnifiedAddressing, (size_t)p.unifiedAddressing},
        {cudaDevAttrManagedMemory, (size_t)p.managedMemory},
        {cudaDevAttrConcurrentManagedAccess, (size_t)p.concurrentManagedAccess},
        {cudaDevAttrPageableMemoryAccess, (size_t)p.pageableMemoryAccess},
        {cudaDevAttrCooperativeLaunch, (size_t)p.cooperativeLaunch},
        {cudaDevAttrClusterLaunch, (size_t)p.clusterLaunch},
        {cudaDevAttrHostRegisterSupported, (size_t)p.hostRegisterSupported},
        {cudaDevAttrCanUseHostPointerForRegisteredMem, (size_t)p.canUseHostPointerForRegisteredMem},
        {cudaDevAttrMemoryPoolsSupported, (size_t)p.memoryPoolsSupported},
        {cudaDevAttrStreamPrioritiesSupported, (size_t)p.streamPrioritiesSupported},
        {cudaDevAttrIsMultiGpuBoard, (size_t)p.isMultiGpuBoard},
        {cudaDevAttrPciBusId, (size_t)p.pciBusID},
        {cudaDevAttrIntegrated, (size_t)p.integrated},
        {cudaDevAttrEccEnabled, (size_t)p.ECCEnabled},
        {cudaDevAttrMaxPitch, p.memPitch},
        {cudaDevAttrTextureAlignment, p.textureAlignment},
    };
    for (const auto &row : rows) {
        int value = -1;
        OK(cudaDeviceGetAttribute(&value, row.attribute, 0));
        if ((size_t)value != row.value) printf("attribute %d: %d\n", row.attribute, value);
        CHECK((size_t)value == row.value);
    }
}
