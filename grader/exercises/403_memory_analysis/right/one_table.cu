// RIGHT: all kernels from one table; its own one has 4 x 4 elements a thread and dynamic tiles
#include "403_memory_analysis/matmul_launches.h"

#define EDGE  64
#define DEPTH 16

__global__ static void sixteen_each(float *c, const float *a, const float *b, int m, int n, int k,
                                    int)
{
    extern __shared__ float4 tiles[];
    float *left = (float *)tiles, *right = left + EDGE * DEPTH;
    const int t = threadIdx.x, x = t % 16, y = t / 16;
    const long row = (long)blockIdx.y * EDGE, col = (long)blockIdx.x * EDGE;
    float sum[4][4] = {};
    for (long start = 0; start < k; start += DEPTH) {
        for (int u = t; u < EDGE * DEPTH; u += 256) {
            const long i = row + u / DEPTH, d = start + u % DEPTH;
            left[u] = i < m && d < k ? a[i * k + d] : 0.0f;
        }
        for (int u = t; u < EDGE * DEPTH; u += 256) {
            const long d = start + u / EDGE, j = col + u % EDGE;
            right[u] = d < k && j < n ? b[d * n + j] : 0.0f;
        }
        __syncthreads();
#pragma unroll 1
        for (int d = 0; d < DEPTH; d++) {
            float p[4], q[4];
#pragma unroll
            for (int i = 0; i < 4; i++) p[i] = left[(y + 16 * i) * DEPTH + d];
#pragma unroll
            for (int j = 0; j < 4; j++) q[j] = right[d * EDGE + x + 16 * j];
#pragma unroll
            for (int e = 0; e < 16; e++) sum[e / 4][e % 4] += p[e / 4] * q[e % 4];
        }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < 16; e++) {
        const long i = row + y + e / 4 * 16, j = col + x + e % 4 * 16;
        if (i < m && j < n) c[i * n + j] = sum[e / 4][e % 4];
    }
}

static size_t up(size_t length, size_t part)
{
    return length / part + (length % part != 0);
}

cudaError_t matmul_own_launch(matmul_launch *launch, int m, int n, int, int)
{
    *launch = {(const void *)sixteen_each, dim3((unsigned)up(n, EDGE), (unsigned)up(m, EDGE)),
               dim3(256), sizeof(float) * 2 * EDGE * DEPTH};
    return cudaSuccess;
}

/* 0 stands for `tile`. */
typedef struct plan {
    size_t rows, cols, depth; /* of a block: how much of m, n and k it takes at a time */
    size_t rows_each;         /* of a, one request */
    size_t cols_each;         /* of b, one request */
    size_t reads;             /* of shared memory by a block, a step of k: ... */
    size_t tiles;             /* ... times tile, if 1 */
} plan;

static const plan plans[] = {
    {32, 1, 1, 32, 1, 0, 0},     {1, 32, 1, 1, 32, 0, 0},
    {0, 32, 32, 1, 32, 2, 1},    {16, 128, 0, 1, 32, 24, 0},
    {16, 128, 0, 1, 128, 6, 0}, {EDGE, EDGE, DEPTH, 32 / DEPTH, 32, 64, 0},
};

static size_t or_tile(size_t x, int tile)
{
    return x ? x : (size_t)tile;
}

static void predict(matmul_metrics *to, int kernel, size_t m, size_t n, size_t k, int tile)
{
    const plan p = plans[kernel];
    const size_t depth = or_tile(p.depth, tile), steps = up(k, depth);
    const size_t down = up(m, or_tile(p.rows, tile)), across = up(n, p.cols);
    /* a step of one float of k takes a sector all the same; so does a column of b */
    const size_t of_a = depth == 1 ? k : k / 8, of_b = p.cols == 1 ? n : n / 8;
    const size_t sectors = m * of_a * across + k * of_b * down;
    to->global_loads = up(m, p.rows_each) * steps * across + k * up(n, p.cols_each) * down;
    to->shared_loads = down * across * steps * depth * p.reads * (p.tiles ? tile : 1);
    to->memory_efficiency = (float)((double)(m + n) * (double)k / 8.0 / (double)sectors);
}

cudaError_t analyze_memory(matmul_metrics *metrics, int kernel, int m, int n, int k, int tile)
{
    matmul_launch l;
    cudaFuncAttributes attributes;
    int blocks, most;
    CUDA_CHECK(matmul_describe(&l, kernel, m, n, k, tile));
    const int threads = l.block.x * l.block.y;
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, l.kernel));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, l.kernel, threads, l.shared));
    CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    predict(metrics, kernel, m, n, k, tile);
    metrics->register_usage = attributes.numRegs;
    metrics->achieved_occupancy = (float)threads / most * blocks;
    return cudaSuccess;
}
