// RIGHT: one exchange of maximum and sum, by PTX; columns in turn, kept in registers
#include "405_row_kernels/row_kernels.h"
#include "417_softmax_cluster/softmax_cluster.h"
#include <math.h>
#include <stdint.h>

enum { SIZE = 8, THREADS = 512, KEPT = 40, STEP = SIZE * THREADS };

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 || !defined(__NVCC__)
#define HAS_CLUSTERS
#endif

/* Of some of the row: its maximum, and the sum of exp(x - maximum). */
struct pair {
    float top, sum;
};

__device__ static pair joined(pair a, pair b)
{
    const float top = fmaxf(a.top, b.top), from = top == -INFINITY ? 0.0f : top;
    return {top, a.sum * __expf(a.top - from) + b.sum * __expf(b.top - from)};
}

__device__ static pair over_lanes(pair p)
{
    for (int far = 1; far < 32; far *= 2)
        p = joined(p, {__shfl_xor_sync(~0u, p.top, far), __shfl_xor_sync(~0u, p.sum, far)});
    return p;
}

#ifdef HAS_CLUSTERS
__device__ static void arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ static void wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ static pair of_block(const pair *own, unsigned rank)
{
    pair p;
    uint32_t there, here = (uint32_t)__cvta_generic_to_shared(own);
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
                 : "=f"(p.top), "=f"(p.sum)
                 : "r"(there)
                 : "memory");
    return p;
}
#endif

__global__ static void __launch_bounds__(THREADS)
    shared_rows(float *y, const float *__restrict__ x, unsigned cols)
{
#ifdef HAS_CLUSTERS
    __shared__ __align__(8) pair own, of_warp[THREADS / 32];
    const unsigned lane = threadIdx.x % 32;
    float kept[KEPT];
    pair p = {-INFINITY, 0.0f};
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const unsigned first = rank * THREADS + threadIdx.x;
    x += (size_t)(blockIdx.x / SIZE) * cols;
    y += (size_t)(blockIdx.x / SIZE) * cols;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        kept[k] = first + k * STEP < cols ? x[first + k * STEP] : -INFINITY;
        p.top = fmaxf(p.top, kept[k]);
    }
    const float from = p.top == -INFINITY ? 0.0f : p.top;
#pragma unroll
    for (int k = 0; k < KEPT; k++) p.sum += __expf(kept[k] - from);
    p = over_lanes(p);
    if (lane == 0) of_warp[threadIdx.x / 32] = p;
    __syncthreads();
    p = over_lanes(lane < THREADS / 32 ? of_warp[lane] : pair{-INFINITY, 0.0f});
    if (threadIdx.x == 0) own = p;
    arrive();
    wait();
    p = over_lanes(lane < SIZE ? of_block(&own, lane) : pair{-INFINITY, 0.0f});
    arrive(); /* it has read; the stores need not wait */
    const float scale = p.sum == 0.0f ? 0.0f : 1.0f / p.sum;
    const float top = p.top == -INFINITY ? 0.0f : p.top;
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        if (first + k * STEP < cols) y[first + k * STEP] = __expf(kept[k] - top) * scale;
    wait();
#endif
}

extern "C" cudaError_t softmax_cluster(float *y, const float *x, int rows, int cols,
                                       cudaStream_t stream)
{
    int device = 0, able = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&able, cudaDevAttrClusterLaunch, device);
    if (error != cudaSuccess) return error;
    if (!able || cols <= 2 * THREADS || cols > KEPT * STEP || rows == 0)
        return softmax_rows(y, x, rows, cols, stream);
    cudaLaunchAttribute size;
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim = {SIZE, 1, 1};
    cudaLaunchConfig_t config = {(unsigned)rows * SIZE, THREADS, 0, stream, &size, 1};
    return cudaLaunchKernelEx(&config, shared_rows, y, x, (unsigned)cols);
}
