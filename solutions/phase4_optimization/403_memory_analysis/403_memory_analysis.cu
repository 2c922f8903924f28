/*
 * 403_memory_analysis.cu: what a matrix product asks of memory, predicted before it runs.
 *
 * The idea: which addresses a kernel loads does not depend on its data, so each load can be counted
 * from the source. A warp's load is one request: requests are warps times loads of each. It fetches
 * the sectors that its lanes touch: one if all want the same float, 4 if they want 32 neighbours,
 * 32 if they want a column. Both are sums over blocks and steps, and with tails rounded up they are
 * exact.
 *
 * Registers are the compiler's choice, and occupancy follows from them, from the block and from its
 * shared memory: that is no arithmetic of ours, the runtime knows it.
 *
 * What it is good for: 2 m n k operations over 32 bytes a sector is the intensity of a kernel, its
 * place under the roofline. What it leaves out: caches, which serve many of those sectors again.
 */
#include "403_memory_analysis/matmul_launches.h"
#include "not_implemented.h"

/* SOLUTION: own_kernel: your 211, or better, with the arguments of the others (about 20 lines). */
#define TILE 32

__global__ static void own_kernel(float *c, const float *a, const float *b, int m, int n, int k,
                                  int tile)
{
    (void)tile;
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        a_tile[y][x] = row < m && start + x < k ? a[(size_t)row * k + start + x] : 0.0f;
        b_tile[y][x] = start + y < k && col < n ? b[(size_t)(start + y) * n + col] : 0.0f;
        __syncthreads(); /* both tiles are complete before anybody reads them */
        for (int i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads(); /* everybody has read before the next tiles overwrite them */
    }
    if (row < m && col < n) c[(size_t)row * n + col] = sum;
}
/* END SOLUTION */

/* SOLUTION: what loads cost; parts of a length, rounded up (about 8 lines). */
typedef struct loads {
    size_t requests, sectors; /* of global memory */
    size_t shared;            /* requests of shared memory */
} loads;

static size_t parts(size_t length, size_t part)
{
    return (length + part - 1) / part;
}
/* END SOLUTION */

/* SOLUTION: of the two kernels without tiles: in each step along k, a warp loads one element of a
   and one of b a lane (about 16 lines). */
static loads count_rows(size_t m, size_t n, size_t k)
{
    const size_t steps = parts(m, LANES) * n * k; /* of warps */
    loads l = {2 * steps, 0, 0};
    l.sectors = m * n * k + steps; /* of a one a lane, of b one for all */
    return l;
}

static loads count_columns(size_t m, size_t n, size_t k)
{
    const size_t steps = m * parts(n, LANES) * k;
    loads l = {2 * steps, 0, 0};
    l.sectors = steps + m * (n / 8) * k; /* of a one for all, of b one for 8 lanes */
    return l;
}
/* END SOLUTION */

/* SOLUTION: of the kernels with tiles: rows x cols of c a block, `depth` of k a step. Each row of a
   is loaded once for each block beside it, each row of b once for each block above it; shared
   memory is read by every warp, also for tails (about 16 lines). */
/** @param width  columns of b a request
 *  @param shared requests of shared memory by a block in a step */
static loads count_tiled(size_t m, size_t n, size_t k, size_t rows, size_t cols, size_t depth,
                         size_t width, size_t shared)
{
    const size_t high = parts(m, rows), wide = parts(n, cols), steps = parts(k, depth);
    loads l;
    l.requests = m * steps * wide + k * parts(n, width) * high;
    l.sectors = m * (k / 8) * wide + k * (n / 8) * high;
    l.shared = high * wide * steps * shared;
    return l;
}
/* END SOLUTION */

/* SOLUTION: count, for each kernel (about 18 lines). */
static loads count(int kernel, size_t m, size_t n, size_t k, size_t tile)
{
    const size_t reads = PART_WARPS * (PART_ROWS + PART_COLS); /* of a block, in one step of s */
    switch (kernel) {
    case MATMUL_ROWS: return count_rows(m, n, k);
    case MATMUL_COLUMNS: return count_columns(m, n, k);
    case MATMUL_TILED: return count_tiled(m, n, k, tile, LANES, LANES, LANES, tile * 2 * LANES);
    case MATMUL_REGISTERS:
        return count_tiled(m, n, k, BLOCK_ROWS, BLOCK_COLS, tile, LANES, tile * reads);
    case MATMUL_VECTORIZED:
        return count_tiled(m, n, k, BLOCK_ROWS, BLOCK_COLS, tile, BLOCK_COLS, tile / 4 * reads);
    default: return count_tiled(m, n, k, TILE, TILE, TILE, TILE, TILE * 2 * TILE);
    }
}
/* END SOLUTION */

/* SOLUTION: ask the device for registers, and for the blocks that a multiprocessor holds (about 14
   lines). */
static cudaError_t ask_device(matmul_metrics *metrics, const matmul_launch *launch)
{
    const int threads = launch->block.x * launch->block.y * launch->block.z;
    cudaFuncAttributes attributes;
    int device, most, blocks;
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, launch->kernel));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, launch->kernel, threads,
                                                             launch->shared));
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    metrics->register_usage = attributes.numRegs;
    metrics->achieved_occupancy = (float)(blocks * threads) / most;
    return cudaSuccess;
}
/* END SOLUTION */

cudaError_t matmul_own_launch(matmul_launch *launch, int m, int n, int k, int tile)
{
    /* SOLUTION: your kernel, and its grid, block and shared memory (about 5 lines). */
    (void)k, (void)tile;
    launch->kernel = (const void *)own_kernel;
    launch->grid = dim3(parts(n, TILE), parts(m, TILE));
    launch->block = dim3(TILE, TILE);
    launch->shared = 0;
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t analyze_memory(matmul_metrics *metrics, int kernel, int m, int n, int k, int tile)
{
    matmul_launch launch;
    CUDA_CHECK(matmul_describe(&launch, kernel, m, n, k, tile));
    /* SOLUTION: its loads, its efficiency, and what the device says of it (about 6 lines). */
    const loads l = count(kernel, m, n, k, tile);
    metrics->global_loads = l.requests;
    metrics->shared_loads = l.shared;
    metrics->memory_efficiency = (float)((m + n) * (size_t)(k / 8)) / l.sectors;
    CUDA_CHECK(ask_device(metrics, &launch));
    /* END SOLUTION */
    return cudaSuccess;
}
