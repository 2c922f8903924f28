/*
 * function.c: what is known of a kernel, and the one attribute that matters here: how much dynamic
 * shared memory a launch may ask for. Above 48 KB a program must say so beforehand.
 */
#include "launch.h"

#include "runtime/claims/claims.h"

size_t dynamic_shared_limit(const struct kernel *kernel)
{
    size_t fixed = kernel->facts.static_shared_bytes;

    if (kernel->dynamic_limit >= 0) return (size_t)kernel->dynamic_limit;
    return fixed < SHARED_DEFAULT ? SHARED_DEFAULT - fixed : 0;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
    struct kernel *kernel;

    if (!attributes) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = kernel_find(function, &kernel);
    if (!error)
        *attributes = (struct cudaFuncAttributes){
            .sharedSizeBytes = kernel->facts.static_shared_bytes,
            .localSizeBytes = kernel->facts.local_bytes,
            .maxThreadsPerBlock = (int)kernel->facts.max_threads,
            .numRegs = (int)kernel->facts.registers,
            .ptxVersion = 80,
            .binaryVersion = 80,
            .maxDynamicSharedSizeBytes = (int)dynamic_shared_limit(kernel),
            .preferredShmemCarveout = -1,
            .requiredClusterWidth = (int)cluster_of(kernel).x,
            .requiredClusterHeight = (int)cluster_of(kernel).y,
            .requiredClusterDepth = (int)cluster_of(kernel).z,
            .nonPortableClusterSizeAllowed = kernel->large_clusters,
        };
    return runtime_leave(error);
}

static cudaError_t set_attribute(struct kernel *kernel, enum cudaFuncAttribute attribute, int value)
{
    int most = shared_opt_in() - (int)kernel->facts.static_shared_bytes;

    if (attribute >= cudaFuncAttributeMax) return cudaErrorInvalidValue;
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) kernel->large_clusters = value;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess; /* a hint */
    if (value < 0 || value > most) return cudaErrorInvalidValue;
    kernel->dynamic_limit = value;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    struct kernel *kernel;
    cudaError_t error = runtime_enter();

    if (!error) error = kernel_find(function, &kernel);
    if (!error) error = set_attribute(kernel, attribute, value);
    return runtime_leave(error);
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute,
                                            int value, int ordinal)
{
    if (!device_exists(ordinal)) return error_keep(cudaErrorInvalidDevice);
    return cudaFuncSetAttribute(kernel, attribute, value);
}

static cudaError_t check_exists(const void *function)
{
    struct kernel *kernel;
    cudaError_t error = runtime_enter();

    if (!error) error = kernel_find(function, &kernel);
    return runtime_leave(error);
}

cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
    (void)config;
    return check_exists(function);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config)
{
    (void)config;
    return check_exists(function);
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes)
{
    struct kernel *kernel;
    cudaError_t error = runtime_enter();

    if (!error) error = kernel_find(function, &kernel);
    if (!error && (!offset || index >= kernel->facts.param_count)) error = cudaErrorInvalidValue;
    if (!error) *offset = kernel->facts.param_offset[index];
    if (!error && bytes) *bytes = kernel->facts.param_size[index];
    return runtime_leave(error);
}
