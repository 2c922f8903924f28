/*
 * properties.c: what the device claims to be: a small GPU of compute capability 8.0. The claims
 * are those that programs size their work by; none of them is a measurement.
 */
#include "claims.h"

#include "device/residency.h"

#include <stdio.h>
#include <string.h>

enum {
    CLOCK_KHZ = 1000000,
    MEMORY_CLOCK_KHZ = 1000000,
    BUS_BITS = 256,
    L2_BYTES = 4 << 20,
    CONSTANT_BYTES = 64 << 10,
    MAX_PITCH = 0x7fffffff,
    ASYNC_ENGINES = 2,
};

static const struct cudaDeviceProp claims = {
    .name = "softgpu",
    .uuid = {{'s', 'o', 'f', 't', 'g', 'p', 'u'}},
    .sharedMemPerBlock = SHARED_DEFAULT,
    .regsPerBlock = SM_REGISTERS,
    .warpSize = WARP_SIZE,
    .memPitch = MAX_PITCH,
    .maxThreadsPerBlock = MAX_BLOCK_THREADS,
    .maxThreadsDim = {MAX_BLOCK_THREADS, MAX_BLOCK_THREADS, MAX_BLOCK_Z},
    .maxGridSize = {MAX_GRID_X, MAX_GRID_YZ, MAX_GRID_YZ},
    .totalConstMem = CONSTANT_BYTES,
    .major = 8,
    .minor = 0,
    .textureAlignment = TEXTURE_ALIGNMENT,
    .texturePitchAlignment = TEXTURE_PITCH_ALIGNMENT,
    .surfaceAlignment = PITCH_ALIGNMENT,
    .multiProcessorCount = MULTIPROCESSORS,
    .canMapHostMemory = 1,
    .concurrentKernels = 1,
    .asyncEngineCount = ASYNC_ENGINES,
    .unifiedAddressing = 1,
    .memoryBusWidth = BUS_BITS,
    .l2CacheSize = L2_BYTES,
    .maxThreadsPerMultiProcessor = MAX_SM_THREADS,
    .streamPrioritiesSupported = 1,
    .globalL1CacheSupported = 1,
    .localL1CacheSupported = 1,
    .sharedMemPerMultiprocessor = SHARED_PER_SM,
    .regsPerMultiprocessor = SM_REGISTERS,
    .managedMemory = 1,
    .cooperativeLaunch = 1,
    .clusterLaunch = 1,
    .sharedMemPerBlockOptin = SHARED_OPT_IN,
    .maxBlocksPerMultiProcessor = MAX_SM_BLOCKS,
    .reservedSharedMemPerBlock = SHARED_RESERVED,
    .concurrentManagedAccess = 1,
    .canUseHostPointerForRegisteredMem = 1,
    .hostRegisterSupported = 1,
    .hostRegisterReadOnlySupported = 1,
    .memoryPoolsSupported = 1,
    .hostNumaId = -1,
};

bool claims_90;

int shared_opt_in(void)
{
    return claims_90 ? SHARED_OPT_IN_90 : SHARED_OPT_IN;
}

static int shared_per_sm(void)
{
    return claims_90 ? SHARED_PER_SM_90 : SHARED_PER_SM;
}

static int major(void)
{
    return claims_90 ? 9 : claims.major;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int ordinal)
{
    if (!properties) return error_keep(cudaErrorInvalidValue);
    if (!device_exists(ordinal)) return error_keep(cudaErrorInvalidDevice);
    *properties = claims;
    properties->major = major();
    properties->sharedMemPerBlockOptin = (size_t)shared_opt_in();
    properties->sharedMemPerMultiprocessor = (size_t)shared_per_sm();
    properties->totalGlobalMem = option_memory_bytes();
    properties->pciBusID = ordinal;
    properties->uuid.bytes[15] = (char)ordinal;
    return cudaSuccess;
}

/** All are alike, so the first is the best match. */
cudaError_t cudaChooseDevice(int *ordinal, const struct cudaDeviceProp *wanted)
{
    if (!ordinal || !wanted) return error_keep(cudaErrorInvalidValue);
    *ordinal = 0;
    return cudaSuccess;
}

/** @return the value of an attribute; 0, "no", for all that is about textures or other hardware. */
static int attribute_value(enum cudaDeviceAttr attribute)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return MAX_BLOCK_THREADS;
    case cudaDevAttrMaxBlockDimZ: return MAX_BLOCK_Z;
    case cudaDevAttrMaxGridDimX: return MAX_GRID_X;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return MAX_GRID_YZ;
    case cudaDevAttrMaxSharedMemoryPerBlock: return SHARED_DEFAULT;
    case cudaDevAttrTotalConstantMemory: return CONSTANT_BYTES;
    case cudaDevAttrWarpSize: return WARP_SIZE;
    case cudaDevAttrMaxPitch: return MAX_PITCH;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: return SM_REGISTERS;
    case cudaDevAttrClockRate: return CLOCK_KHZ;
    case cudaDevAttrMemoryClockRate: return MEMORY_CLOCK_KHZ;
    case cudaDevAttrTextureAlignment: return claims.textureAlignment;
    case cudaDevAttrSurfaceAlignment: return PITCH_ALIGNMENT;
    case cudaDevAttrTexturePitchAlignment: return claims.texturePitchAlignment;
    case cudaDevAttrMultiProcessorCount: return MULTIPROCESSORS;
    case cudaDevAttrGlobalMemoryBusWidth: return BUS_BITS;
    case cudaDevAttrL2CacheSize: return L2_BYTES;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return MAX_SM_THREADS;
    case cudaDevAttrAsyncEngineCount: return ASYNC_ENGINES;
    case cudaDevAttrComputeCapabilityMajor: return major();
    case cudaDevAttrComputeCapabilityMinor: return claims.minor;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return shared_per_sm();
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return shared_opt_in();
    case cudaDevAttrReservedSharedMemoryPerBlock: return SHARED_RESERVED;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return MAX_SM_BLOCKS;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return 2;
    case cudaDevAttrHostNumaId: return -1;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrClusterLaunch:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrHostRegisterReadOnlySupported:
    case cudaDevAttrMemoryPoolsSupported: return 1;
    default: return 0;
    }
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int ordinal)
{
    if (!device_exists(ordinal)) return error_keep(cudaErrorInvalidDevice);
    if (!value || attribute < 1 || attribute >= cudaDevAttrMax)
        return error_keep(cudaErrorInvalidValue);
    *value = attribute == cudaDevAttrPciBusId ? ordinal : attribute_value(attribute);
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    if (!version) return error_keep(cudaErrorInvalidValue);
    *version = CUDA_VERSION_NUMBER;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    return cudaDriverGetVersion(version);
}

enum { BUS_ID_BYTES = sizeof "0000:00:00.0" };

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int ordinal)
{
    if (!device_exists(ordinal)) return error_keep(cudaErrorInvalidDevice);
    if (!text || size < BUS_ID_BYTES) return error_keep(cudaErrorInvalidValue);
    snprintf(text, (size_t)size, "0000:%02x:00.0", (unsigned)ordinal);
    return cudaSuccess;
}

/** "bus:device" and "bus:device.function" are legal short forms. */
cudaError_t cudaDeviceGetByPCIBusId(int *ordinal, const char *text)
{
    unsigned domain = 0, bus, rest;

    if (!ordinal || !text) return error_keep(cudaErrorInvalidValue);
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &rest) != 3) {
        domain = 0;
        if (sscanf(text, "%x:%x", &bus, &rest) != 2) return error_keep(cudaErrorInvalidValue);
    }
    if (domain || rest || !device_exists((int)bus)) return error_keep(cudaErrorInvalidDevice);
    *ordinal = (int)bus;
    return cudaSuccess;
}
