/*
 * 417_softmax_cluster.cu: a softmax whose long rows are shared by the blocks of a cluster.
 *
 * 405 gives a row to one block. What its registers and its shared memory cannot hold, it reads
 * again, and a single multiprocessor works on the row. Two blocks of an ordinary launch cannot help
 * each other: neither knows whether the other runs. They would leave their sums in global memory,
 * and a second kernel would read the row again.
 *
 * The blocks of a *cluster* run at the same time, on multiprocessors that are neighbours, and each
 * can read and write the shared memory of the others. So each block keeps an eighth of the row in
 * its own shared memory, and what has to be agreed upon, a maximum and a sum, goes from block to
 * block:
 *
 *     block          0          1          2     ...     7
 *     row       [ part 0 ][ part 1 ][ part 2 ]   ...  [ part 7 ]    read once
 *     maximum     own[0]     own[0]     own[0]   ...    own[0]      written by its block,
 *                    \_________\_________|_____________/            read by all eight
 *
 * Two things must hold when a block touches the memory of another: that block has begun, and it has
 * not ended. A barrier of the cluster says both, one before the first access and one behind the
 * last.
 *
 * The cost removed: the second and third read of a long row, the second kernel, the memory for its
 * sums. The cost left: three barriers of eight blocks for each row. Eight blocks must find room at
 * the same time. A short row is not worth that: up to 1,024 columns it goes to 405, and so does a
 * row that eight blocks cannot hold, and every row where the device has no clusters.
 */
#include "405_row_kernels/row_kernels.h"
#include "417_softmax_cluster/softmax_cluster.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include <cooperative_groups.h>
#include <math.h>

namespace cg = cooperative_groups;

#define BLOCKS  8 /* in a cluster: the most that every device with clusters takes */
#define THREADS 512
#define SHORT   1024 /* columns of a row that is left to a warp of 405 */
#define LINE    32   /* floats: 128 bytes. A part is a multiple, so that warps read whole lines */
#define OTHERS  1024 /* bytes of shared memory for all that is not the row */

/* For older GPUs nvcc does not know this_cluster: they never run what stands below. */
#if defined(__NVCC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CLUSTERS 0
#else
#define CLUSTERS 1
#endif

#if CLUSTERS

/** The sum, or the LARGEST, of one value per lane, for every lane. */
template <bool LARGEST> __device__ static float over_warp(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = LARGEST ? fmaxf(value, other) : value + other;
    }
    return value;
}

/** The same of one value per thread of the block, for every thread.
 *  @param parts [32] shared; before the next call a barrier of the block, or of the cluster */
template <bool LARGEST> __device__ static float over_block(float value, float *parts)
{
    const int lane = threadIdx.x % 32;
    value = over_warp<LARGEST>(value);
    if (lane == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    return over_warp<LARGEST>(lane < THREADS / 32 ? parts[lane] : LARGEST ? -INFINITY : 0.0f);
}

/** The same of one value per block of the cluster, which all its threads have, for every thread of
 *  all blocks.
 *  @param own shared, one float, for this reduction alone: the other blocks read it */
template <bool LARGEST> __device__ static float over_cluster(float value, float *own)
{
    /* SOLUTION: one thread leaves the value in own. When all blocks have done so, lane r of each
       warp reads that of block r, and the warp reduces them (about 6 lines). */
    const cg::cluster_group cluster = cg::this_cluster();
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) *own = value;
    cluster.sync(); /* all have begun, and have written */
    value = LARGEST ? -INFINITY : 0.0f;
    if (lane < BLOCKS) value = *cluster.map_shared_rank(own, lane);
    value = over_warp<LARGEST>(value);
    /* END SOLUTION */
    return value;
}

#endif

/** y, x: [rows x cols]. A cluster takes a row; its block of rank r the columns from r * part on. */
__global__ static void __launch_bounds__(THREADS)
    softmax_cluster_kernel(float *y, const float *__restrict__ x, int cols, int part)
{
#if CLUSTERS
    extern __shared__ float kept[]; /* [part], what this block has of the row */
    __shared__ float own[2], parts[32];
    /* SOLUTION: which row, and which of its columns? Keep them, and find the maximum of the row;
       replace each by its exp, and find the sum of the row; store them, scaled. No block may end
       while another reads its shared memory (about 14 lines). */
    const cg::cluster_group cluster = cg::this_cluster();
    const int first = (int)cluster.block_rank() * part, count = min(part, cols - first);
    const size_t begin = (size_t)(blockIdx.x / BLOCKS) * cols + first;
    float largest = -INFINITY, sum = 0.0f;

    for (int i = threadIdx.x; i < count; i += THREADS)
        largest = fmaxf(largest, kept[i] = x[begin + i]);
    largest = over_cluster<true>(over_block<true>(largest, parts), &own[0]);
    if (largest == -INFINITY) largest = 0.0f; /* x - largest must stay -infinity */

    for (int i = threadIdx.x; i < count; i += THREADS) sum += kept[i] = __expf(kept[i] - largest);
    sum = over_cluster<false>(over_block<false>(sum, parts), &own[1]);

    const float scale = sum == 0.0f ? 0.0f : 1.0f / sum; /* 0: a row of -infinity */
    for (int i = threadIdx.x; i < count; i += THREADS) y[begin + i] = kept[i] * scale;
    cluster.sync(); /* who ends takes its own[] along: another block may still read there */
    /* END SOLUTION */
#endif
}

/** The columns that a block takes of a row; the last blocks may get fewer, or none. */
static int part_of(int cols)
{
    return ((cols - 1) / (BLOCKS * LINE) + 1) * LINE;
}

/** The longest row that the blocks of a cluster can keep; 0: the device has no clusters. */
static cudaError_t longest_row(int *cols)
{
    int device, clusters, bytes;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess) return error;
    const int most = (bytes - OTHERS) / (int)sizeof(float) / LINE * LINE; /* of a block */
    *cols = clusters ? BLOCKS * most : 0;
    return cudaSuccess;
}

/** One launch for all rows, of which each has more than SHORT columns and fits. */
static cudaError_t launch(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    const int part = part_of(cols);
    const size_t bytes = part * sizeof(float);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster = {};
    cudaError_t error = cudaSuccess;
    /* SOLUTION: allow the kernel so much shared memory; a cluster of BLOCKS for each row, on the
       stream, by cudaLaunchKernelEx (about 13 lines). */
    error = cudaFuncSetAttribute(softmax_cluster_kernel,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = BLOCKS;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = (unsigned)rows * BLOCKS;
    config.blockDim = THREADS;
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    if (error == cudaSuccess)
        error = cudaLaunchKernelEx(&config, softmax_cluster_kernel, y, x, cols, part);
    /* END SOLUTION */
    return error;
}

cudaError_t softmax_cluster(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    int longest;
    cudaError_t error = longest_row(&longest);
    if (error != cudaSuccess) return error;
    /* SOLUTION: by a cluster if the row is not short and fits, else by softmax_rows (about 3
       lines). */
    if (rows == 0) return cudaSuccess; /* an empty grid is a launch error */
    if (cols > SHORT && cols <= longest) return launch(y, x, rows, cols, stream);
    error = softmax_rows(y, x, rows, cols, stream);
    /* END SOLUTION */
    return error;
}
