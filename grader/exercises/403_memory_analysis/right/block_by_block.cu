// RIGHT: adds up block by block; its own kernel has four rows a thread
#include "403_memory_analysis/matmul_launches.h"

__global__ static void four_rows(float *c, const float *a, const float *b, int m, int n, int k, int)
{
    __shared__ float as[32][32], bs[32][32];
    int lane = threadIdx.x, warp = threadIdx.y, top = blockIdx.y * 32, col = blockIdx.x * 32 + lane;
    float sums[4] = {0, 0, 0, 0};
    for (int from = 0; from < k; from += 32) {
        for (int r = warp; r < 32; r += 8) {
            as[r][lane] = 0;
            bs[r][lane] = 0;
            if (top + r < m && from + lane < k)
                as[r][lane] = a[(size_t)(top + r) * k + from + lane];
            if (from + r < k && col < n) bs[r][lane] = b[(size_t)(from + r) * n + col];
        }
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < 32; i++) {
            float of_b = bs[i][lane];
            for (int r = 0; r < 4; r++) sums[r] += as[warp + 8 * r][i] * of_b;
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++) {
        int row = top + warp + 8 * r;
        if (row < m && col < n) c[(size_t)row * n + col] = sums[r];
    }
}

cudaError_t matmul_own_launch(matmul_launch *launch, int m, int n, int, int)
{
    launch->kernel = (const void *)four_rows;
    launch->grid = dim3((unsigned)(n + 31) / 32, (unsigned)(m + 31) / 32);
    launch->block = dim3(32, 8);
    launch->shared = 0;
    return cudaSuccess;
}

struct sums {
    size_t requests, sectors, shared;
};

/* How much of a part that begins at `from` lies inside. */
static long inside(long from, long part, long end)
{
    return end - from < part ? end - from : part;
}

static void add_rows(sums &s, long m, long n, long k)
{
    for (long top = 0; top < m; top += 32) {
        s.requests += 2 * n * k;
        s.sectors += (inside(top, 32, m) + 1) * n * k;
    }
}

static void add_columns(sums &s, long m, long n, long k)
{
    for (long left = 0; left < n; left += 32) {
        s.requests += 2 * m * k;
        s.sectors += (1 + inside(left, 32, n) / 8) * m * k;
    }
}

/* A block in so many equal steps: `wide` floats of b a request, `reads` of shared memory a step */
static void add_steps(sums &s, long steps, long rows, long cols, long depth, long wide, long reads)
{
    s.requests += steps * (rows + depth * ((cols + wide - 1) / wide));
    s.sectors += steps * (rows * (depth / 8) + depth * (cols / 8));
    s.shared += steps * reads;
}

static void tiles(sums &s, long m, long n, long k, const long tile[3], long wide, long reads)
{
    for (long top = 0; top < m; top += tile[0]) {
        for (long left = 0; left < n; left += tile[1]) {
            const long rows = inside(top, tile[0], m), cols = inside(left, tile[1], n);
            const long rest = k % tile[2];
            add_steps(s, k / tile[2], rows, cols, tile[2], wide, reads);
            if (rest > 0) add_steps(s, 1, rows, cols, rest, wide, reads);
        }
    }
}

static sums sums_of(int kernel, long m, long n, long k, long tile)
{
    const long tiled[] = {tile, 32, 32}, part[] = {16, 128, tile}, own[] = {32, 32, 32};
    sums s = {0, 0, 0};
    if (kernel == MATMUL_ROWS) add_rows(s, m, n, k);
    if (kernel == MATMUL_COLUMNS) add_columns(s, m, n, k);
    if (kernel == MATMUL_TILED) tiles(s, m, n, k, tiled, 32, 64 * tile);
    if (kernel == MATMUL_REGISTERS) tiles(s, m, n, k, part, 32, 2 * 12 * tile);
    if (kernel == MATMUL_VECTORIZED) tiles(s, m, n, k, part, 128, 6 * tile);
    if (kernel == MATMUL_OWN) tiles(s, m, n, k, own, 32, 8 * 5 * 32);
    return s;
}

cudaError_t analyze_memory(matmul_metrics *metrics, int kernel, int m, int n, int k, int tile)
{
    matmul_launch launch;
    cudaFuncAttributes facts;
    cudaDeviceProp device;
    int blocks = 0;
    cudaError_t error = matmul_describe(&launch, kernel, m, n, k, tile);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&facts, launch.kernel);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&device, 0);
    const int warps = launch.block.x * launch.block.y / 32;
    if (error == cudaSuccess) {
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, launch.kernel, 32 * warps,
                                                              launch.shared);
    }
    if (error != cudaSuccess) return error;
    const sums s = sums_of(kernel, m, n, k, tile);
    metrics->global_loads = s.requests;
    metrics->shared_loads = s.shared;
    metrics->register_usage = (size_t)facts.numRegs;
    metrics->achieved_occupancy = blocks * warps / (device.maxThreadsPerMultiProcessor / 32.0f);
    metrics->memory_efficiency = (float)(((double)m * k + (double)k * n) * 4 / (32.0 * s.sectors));
    return cudaSuccess;
}
