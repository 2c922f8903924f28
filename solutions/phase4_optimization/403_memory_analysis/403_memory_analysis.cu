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
 * shared memory: that is not computed here, the runtime knows it.
 *
 * What it is good for: 2 m n k operations over 32 bytes a sector is the intensity of a kernel, its
 * place under the roofline. What it leaves out: caches, which serve many of those sectors again.
 */
#include "403_memory_analysis/matmul_launches.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"

#define TILE 32 /* own_kernel: TILE x TILE threads per block, and as many elements of c */

/** Your own kernel: c = a * b, with the arguments of the five. It need not use `tile`. */
__global__ static void own_kernel(float *c, const float *a, const float *b, int m, int n, int k,
                                  int tile)
{
    /* SOLUTION: your 211, or a better one; with another block, or another number of elements per
       thread, TILE and matmul_own_launch change too (about 15 lines). */
    (void)tile;
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        a_tile[y][x] = row < m && start + x < k ? a[(size_t)row * k + start + x] : 0.0f;
        b_tile[y][x] = start + y < k && col < n ? b[(size_t)(start + y) * n + col] : 0.0f;
        __syncthreads(); /* both tiles are complete before any thread reads them */
        for (int i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads(); /* all threads have read before the next tiles overwrite them */
    }
    if (row < m && col < n) c[(size_t)row * n + col] = sum;
    /* END SOLUTION */
}

/** What the loads of a launch cost. */
typedef struct loads {
    size_t requests, sectors; /* of global memory */
    size_t shared;            /* requests of shared memory */
} loads;

/** How many parts a length has, rounded up. */
static size_t parts(size_t length, size_t part)
{
    return (length + part - 1) / part;
}

/** MATMUL_ROWS: in each step along k, a warp loads one element of a and one of b per lane. */
static loads count_rows(size_t m, size_t n, size_t k)
{
    loads l = {};
    /* SOLUTION: the steps of all warps, the requests and the sectors of a step: its lanes are rows
       (about 3 lines). */
    const size_t steps = parts(m, LANES) * n * k; /* of warps */
    l.requests = 2 * steps;
    l.sectors = m * n * k + steps; /* a: one per lane; b: one for all lanes */
    /* END SOLUTION */
    return l;
}

/** MATMUL_COLUMNS: the same. */
static loads count_columns(size_t m, size_t n, size_t k)
{
    loads l = {};
    /* SOLUTION: as above; the lanes are columns (about 3 lines). */
    const size_t steps = m * parts(n, LANES) * k;
    l.requests = 2 * steps;
    l.sectors = steps + m * (n / 8) * k; /* a: one for all lanes; b: one for 8 */
    /* END SOLUTION */
    return l;
}

/** A kernel with tiles: rows x cols of c per block, `depth` of k per step.
 *  @param width  columns of b per request
 *  @param shared requests of shared memory by a block in a step */
static loads count_tiled(size_t m, size_t n, size_t k, size_t rows, size_t cols, size_t depth,
                         size_t width, size_t shared)
{
    loads l = {};
    /* SOLUTION: each row of a is loaded once for each block in its row of tiles, each row of b once
       for each row of tiles; shared memory is read by every warp, also for tails (about 4 lines).
     */
    const size_t high = parts(m, rows), wide = parts(n, cols), steps = parts(k, depth);
    l.requests = m * steps * wide + k * parts(n, width) * high;
    l.sectors = m * (k / 8) * wide + k * (n / 8) * high;
    l.shared = high * wide * steps * shared;
    /* END SOLUTION */
    return l;
}

/** What a kernel of enum matmul_kernel loads. */
static loads count(int kernel, size_t m, size_t n, size_t k, size_t tile)
{
    if (kernel == MATMUL_ROWS) return count_rows(m, n, k);
    if (kernel == MATMUL_COLUMNS) return count_columns(m, n, k);
    loads l = {};
    /* SOLUTION: count_tiled of MATMUL_TILED, MATMUL_REGISTERS, MATMUL_VECTORIZED, and else of your
       own: the numbers are in their sources (about 11 lines). */
    const size_t reads = PART_WARPS * (PART_ROWS + PART_COLS); /* of a block, in one step of s */
    switch (kernel) {
    case MATMUL_TILED: l = count_tiled(m, n, k, tile, LANES, LANES, LANES, tile * 2 * LANES); break;
    case MATMUL_REGISTERS:
        l = count_tiled(m, n, k, BLOCK_ROWS, BLOCK_COLS, tile, LANES, tile * reads);
        break;
    case MATMUL_VECTORIZED:
        l = count_tiled(m, n, k, BLOCK_ROWS, BLOCK_COLS, tile, BLOCK_COLS, tile / 4 * reads);
        break;
    default: l = count_tiled(m, n, k, TILE, TILE, TILE, TILE, TILE * 2 * TILE);
    }
    /* END SOLUTION */
    return l;
}

/** register_usage and achieved_occupancy: only the device knows them. */
static cudaError_t ask_device(matmul_metrics *metrics, const matmul_launch *launch)
{
    /* SOLUTION: the registers of a thread; and the threads that a multiprocessor holds of this
       launch, divided by the most that it can hold (about 9 lines). */
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
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t matmul_own_launch(matmul_launch *launch, int m, int n, int k, int tile)
{
    /* SOLUTION: own_kernel, its grid, its block, and its dynamic shared memory (about 5 lines). */
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
    /* SOLUTION: count its loads; the efficiency is the sectors of a and b, each once, over those
       that are fetched; then ask the device (about 5 lines). */
    const loads l = count(kernel, m, n, k, tile);
    metrics->global_loads = l.requests;
    metrics->shared_loads = l.shared;
    metrics->memory_efficiency = (float)((m + n) * (size_t)(k / 8)) / l.sectors;
    CUDA_CHECK(ask_device(metrics, &launch));
    /* END SOLUTION */
    return cudaSuccess;
}
