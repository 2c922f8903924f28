/*
 * cuda_runtime.h: CUDA C++ for clang without NVIDIA's toolkit: the runtime's functions, what
 * kernels may call, and the templates that take typed pointers and kernels. cucc includes it first,
 * as nvcc does its own. The order matters: the device's overloads before the libraries they
 * overload.
 */
#ifndef SOFTGPU_CUDA_RUNTIME_H
#define SOFTGPU_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"
#include "device_launch_parameters.h"
#include "host_defines.h"

#ifdef __CUDA__
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#include "math_functions.h"

#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <math.h>

#include "parts/device_atomic_functions.h"
#include "parts/special_functions.h"
#include "device_functions.h"
#include "parts/typed_functions.h"
#include "parts/simd_functions.h"

/* What clang makes of k<<<grid, block, shared, stream>>>(...). */
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                cudaStream_t stream = 0);
#else
#include <math.h>
#include <stdlib.h>
#include <string.h>
#endif

#include "vector_functions.h"
#ifdef __CUDA__
#include "parts/texture_functions.h"
#endif

#ifdef __cplusplus

template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
    return cudaMalloc((void **)pointer, bytes);
}
template <class T>
static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned flags = 0)
{
    return cudaHostAlloc((void **)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags)
{
    return cudaHostAlloc((void **)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T **pointer, void *host, unsigned flags)
{
    return cudaHostGetDevicePointer((void **)pointer, host, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **pointer, size_t bytes,
                                            unsigned flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync((void **)pointer, bytes, stream);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaMemPool_t pool,
                                          cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)pointer, bytes, pool, stream);
}
template <class T>
static inline cudaError_t cudaMallocFromPoolAsync(T **pointer, size_t bytes, cudaMemPool_t pool,
                                                  cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)pointer, bytes, pool, stream);
}

/* A symbol is the variable itself; the runtime knows it by the address of its host shadow. */
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes,
                                             size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}
template <class T>
static inline cudaError_t
cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                        enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
    return cudaMemcpyToSymbolAsync((const void *)&symbol, from, bytes, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes,
                                               size_t offset = 0,
                                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}
template <class T>
static inline cudaError_t
cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                          enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                          cudaStream_t stream = 0)
{
    return cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, bytes, offset, kind, stream);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **address, const T &symbol)
{
    return cudaGetSymbolAddress(address, (const void *)&symbol);
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol)
{
    return cudaGetSymbolSize(bytes, (const void *)&symbol);
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags)
{
    return cudaEventCreateWithFlags(event, flags);
}

/* A kernel's name stands for a function; the runtime wants its address. */
template <class T>
static inline cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **args,
                                           size_t shared = 0, cudaStream_t stream = 0)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, args, shared, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **args,
                                                      size_t shared = 0, cudaStream_t stream = 0)
{
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args, shared, stream);
}
template <class... Formal, class... Actual>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                             void (*kernel)(Formal...), Actual &&...actual)
{
    return [&](Formal... formal) {
        void *args[] = {(void *)&formal..., nullptr};
        return cudaLaunchKernelExC(config, (const void *)kernel, args);
    }(static_cast<Actual &&>(actual)...);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, T *kernel,
                                                         const cudaLaunchConfig_t *config)
{
    return cudaOccupancyMaxActiveClusters(clusters, (const void *)kernel, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, T *kernel,
                                                               const cudaLaunchConfig_t *config)
{
    return cudaOccupancyMaxPotentialClusterSize(size, (const void *)kernel, config);
}
template <class T>
static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, T *kernel)
{
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class T>
static inline cudaError_t cudaFuncSetAttribute(T *kernel, enum cudaFuncAttribute attribute,
                                               int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T>
static inline cudaError_t cudaFuncSetCacheConfig(T *kernel, enum cudaFuncCache config)
{
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class T> static inline cudaError_t cudaFuncGetName(const char **name, T *kernel)
{
    return cudaFuncGetName(name, (const void *)kernel);
}
template <class T>
static inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, T *kernel)
{
    return cudaGetFuncBySymbol(function, (const void *)kernel);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel,
                                                                        int threads, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads,
                                                         shared);
}
template <class T>
static inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T *kernel, int threads,
                                                       size_t shared, unsigned flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel,
                                                                  threads, shared, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, T *kernel,
                                                                    int blocks, int threads)
{
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void *)kernel, blocks, threads);
}

/** The block size, a multiple of 32, that keeps most threads on a multiprocessor; of equals the
 *  largest. `shared` gives the dynamic shared memory of a block of so many threads. */
template <class Shared, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block,
                                                                         T kernel, Shared shared,
                                                                         int limit = 0)
{
    cudaFuncAttributes attributes;
    int device, processors, blocks, best = 0;
    cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)kernel);
    if (!error) error = cudaGetDevice(&device);
    if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    int most = attributes.maxThreadsPerBlock;
    for (int n = limit > 0 && limit < most ? limit : most; n > 0; n = (n - 1) / 32 * 32) {
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel, n,
                                                              shared(n));
        if (error) return error;
        if (blocks * n <= best) continue;
        best = blocks * n;
        *block = n;
        *grid = blocks * processors;
    }
    return cudaSuccess;
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel,
                                                             size_t shared = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, kernel, [=](int) { return shared; }, limit);
}

/** The older form, which also asks where it went wrong. */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                               cudaGraphNode_t *, char *, size_t)
{
    return cudaGraphInstantiate(exec, graph, 0);
}

static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                              cudaGraphNode_t *culprit,
                                              enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info = {};
    cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
    if (culprit) *culprit = info.errorNode;
    if (result) *result = info.result;
    return error;
}

template <class T> auto softgpu_channel(T v, int) -> decltype(v.x);
template <class T> T softgpu_channel(T v, long);

/** Of a number or a vector. */
template <class T> static inline cudaChannelFormatDesc cudaCreateChannelDesc()
{
    typedef decltype(softgpu_channel(T(), 0)) C;
    int bits = 8 * sizeof(C), count = sizeof(T) / sizeof(C), more = count > 2 ? bits : 0;
    cudaChannelFormatKind kind = C(0.5) != 0    ? cudaChannelFormatKindFloat
                                 : C(-1) < C(0) ? cudaChannelFormatKindSigned
                                                : cudaChannelFormatKindUnsigned;
    return cudaCreateChannelDesc(bits, count > 1 ? bits : 0, more, more, kind);
}

template <class T>
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *pointer,
                                                   size_t bytes = 0,
                                                   unsigned flags = cudaMemAttachSingle)
{
    return cudaStreamAttachMemAsync(stream, (void *)pointer, bytes, flags);
}

#endif

SOFTGPU_BOTH struct cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t width,
                                                       size_t height)
{
    struct cudaPitchedPtr p = {pointer, pitch, width, height};
    return p;
}
SOFTGPU_BOTH struct cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    struct cudaPos p = {x, y, z};
    return p;
}
SOFTGPU_BOTH struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
    struct cudaExtent e = {width, height, depth};
    return e;
}

#endif
