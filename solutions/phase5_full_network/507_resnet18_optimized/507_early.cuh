/*
 * 507_early.cuh: kernels that begin before the one before them has ended.
 *
 * Between two kernels of a stream a GPU waits until the first one has written all, and only then
 * starts the second one: about a microsecond in which nothing is computed, 20 times in a forward
 * pass. A *programmatic dependent launch* (compute capability 9.0) leaves the wait to the second
 * kernel. Its blocks start when those of the first have all said that they may, and there is room.
 * They find their windows, fill barriers, and wait where they first touch what another kernel
 * writes or reads.
 *
 * A kernel that is launched so has to wait in each thread that touches such memory, even if it only
 * writes. Then all kernels before it are over, too, for the first has waited in the same way.
 *
 * All of this file is given.
 */
#ifndef EARLY_CUH
#define EARLY_CUH

#include <cuda_runtime_api.h>

/** The next kernel may start its blocks when all of this one have come here. */
__device__ __forceinline__ static void let_next_start(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/** Wait until the kernel before is over, and its writes are seen. */
__device__ __forceinline__ static void wait_for_kernel_before(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/** As cudaLaunchKernel. @param early the kernel waits itself, and the device can do it */
static inline cudaError_t launch_kernel(const void *kernel, dim3 grid, dim3 block,
                                        void **parameters, size_t shared_bytes, bool early,
                                        cudaStream_t stream)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = early;
    return cudaLaunchKernelExC(&config, kernel, parameters);
}

#endif
