/*
 * matmul_launches.h: the five kernels that exercise 403 analyses, and how they are launched. They
 * are frozen: read them, and leave them as they are. All compute c[m x n] = a[m x k] * b[k x n],
 * row-major, where n and k are multiples of 8; `tile` is 8, 16, 24 or 32.
 *
 * A block has 32 threads along x, so a warp is one row of it, and threadIdx.x is the lane. Sizes
 * are known only at the launch and loops are not unrolled, so the compiler keeps all loads.
 *
 *   matmul_describe   the parameters of a launch: kernel, grid, block, shared memory
 *   matmul_run        that launch, for one of the five or your own
 */
#ifndef COURSE_MATMUL_LAUNCHES_H
#define COURSE_MATMUL_LAUNCHES_H

#include "cuda_check.h"
#include "403_memory_analysis/memory_analysis.h"

#define LANES      32
#define PART_ROWS  8                        /* of c, per thread of the last two kernels ... */
#define PART_COLS  4                        /* ... and columns */
#define PART_WARPS 2                        /* per block of these kernels */
#define BLOCK_ROWS (PART_ROWS * PART_WARPS) /* of c, per block of these ... */
#define BLOCK_COLS (PART_COLS * LANES)      /* ... and columns */

__device__ __forceinline__ static void multiply_one(float *c, const float *a, const float *b, int m,
                                                    int n, int k, int row, int col)
{
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
    c[(size_t)row * n + col] = sum;
}

/* MATMUL_ROWS: one element of c per thread; lanes are rows. */
__global__ static void matmul_rows_kernel(float *c, const float *a, const float *b, int m, int n,
                                          int k, int tile)
{
    multiply_one(c, a, b, m, n, k, blockIdx.y * LANES + threadIdx.x,
                 blockIdx.x * tile + threadIdx.y);
}

/* MATMUL_COLUMNS: the same; lanes are columns. */
__global__ static void matmul_columns_kernel(float *c, const float *a, const float *b, int m, int n,
                                             int k, int tile)
{
    multiply_one(c, a, b, m, n, k, blockIdx.y * tile + threadIdx.y,
                 blockIdx.x * LANES + threadIdx.x);
}

/* MATMUL_TILED: a block computes tile x 32 elements of c, 32 of k at a time. */
__global__ static void matmul_tiled_kernel(float *c, const float *a, const float *b, int m, int n,
                                           int k, int tile)
{
    extern __shared__ float4 matmul_launches_tiles[];
    float *const a_tile = (float *)matmul_launches_tiles; /* [tile x 32] */
    float *const b_tile = a_tile + tile * LANES;          /* [32 x 32] */
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * tile + y, col = blockIdx.x * LANES + x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += LANES) {
        a_tile[y * LANES + x] = row < m && start + x < k ? a[(size_t)row * k + start + x] : 0.0f;
        for (int i = y; i < LANES; i += tile) {
            b_tile[i * LANES + x] =
                start + i < k && col < n ? b[(size_t)(start + i) * n + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < LANES; i++) sum += a_tile[y * LANES + i] * b_tile[i * LANES + x];
        __syncthreads();
    }
    if (row < m && col < n) c[(size_t)row * n + col] = sum;
}

/* MATMUL_REGISTERS: a block computes 16 x 128 elements of c, `tile` of k at a time; a thread
 * computes 8 rows, 2 apart, and 4 columns, 32 apart. */
__global__ static void matmul_registers_kernel(float *c, const float *a, const float *b, int m,
                                               int n, int k, int tile)
{
    extern __shared__ float4 matmul_launches_tiles[];
    float *const a_tile = (float *)matmul_launches_tiles; /* [16 x tile] */
    float *const b_tile = a_tile + BLOCK_ROWS * tile;     /* [tile x 128] */
    const int x = threadIdx.x, y = threadIdx.y;
    const int top = blockIdx.y * BLOCK_ROWS, left = blockIdx.x * BLOCK_COLS;
    float sum[PART_ROWS][PART_COLS] = {};

    for (int start = 0; start < k; start += tile) {
        for (int r = y; r < BLOCK_ROWS && x < tile; r += PART_WARPS) {
            const bool inside = top + r < m && start + x < k;
            a_tile[r * tile + x] = inside ? a[(size_t)(top + r) * k + start + x] : 0.0f;
        }
        for (int s = y; s < tile; s += PART_WARPS) {
            for (int j = x; j < BLOCK_COLS; j += LANES) {
                const bool inside = start + s < k && left + j < n;
                b_tile[s * BLOCK_COLS + j] = inside ? b[(size_t)(start + s) * n + left + j] : 0.0f;
            }
        }
        __syncthreads();
#pragma unroll 1
        for (int s = 0; s < tile; s++) {
            float b_part[PART_COLS];
#pragma unroll
            for (int j = 0; j < PART_COLS; j++) b_part[j] = b_tile[s * BLOCK_COLS + x + j * LANES];
#pragma unroll
            for (int i = 0; i < PART_ROWS; i++) {
                const float a_part = a_tile[(y + i * PART_WARPS) * tile + s];
#pragma unroll
                for (int j = 0; j < PART_COLS; j++) sum[i][j] += a_part * b_part[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PART_ROWS; i++) {
#pragma unroll
        for (int j = 0; j < PART_COLS; j++) {
            const int row = top + y + i * PART_WARPS, col = left + x + j * LANES;
            if (row < m && col < n) c[(size_t)row * n + col] = sum[i][j];
        }
    }
}

__device__ __forceinline__ static void add_scaled(float4 *sum, float factor, float4 x)
{
    sum->x += factor * x.x;
    sum->y += factor * x.y;
    sum->z += factor * x.z;
    sum->w += factor * x.w;
}

__device__ __forceinline__ static float4 load_four(const float *from, bool inside)
{
    if (!inside) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return *(const float4 *)from;
}

/* MATMUL_VECTORIZED: the same block, four floats per load; a thread has 4 neighbouring columns. */
__global__ static void matmul_vectorized_kernel(float *c, const float *a, const float *b, int m,
                                                int n, int k, int tile)
{
    extern __shared__ float4 matmul_launches_tiles[];
    float4 *const a_tile = matmul_launches_tiles;            /* [16 x tile / 4] */
    float4 *const b_tile = a_tile + BLOCK_ROWS * (tile / 4); /* [tile x 32] */
    const int x = threadIdx.x, y = threadIdx.y;
    const int top = blockIdx.y * BLOCK_ROWS, left = blockIdx.x * BLOCK_COLS + 4 * x;
    float4 sum[PART_ROWS] = {};

    for (int start = 0; start < k; start += tile) {
        for (int r = y; r < BLOCK_ROWS && 4 * x < tile; r += PART_WARPS) {
            const float *from = a + (size_t)(top + r) * k + start + 4 * x;
            const bool inside = top + r < m && start + 4 * x < k;
            a_tile[r * (tile / 4) + x] = load_four(from, inside);
        }
        for (int s = y; s < tile; s += PART_WARPS) {
            const float *from = b + (size_t)(start + s) * n + left;
            const bool inside = start + s < k && left < n;
            b_tile[s * LANES + x] = load_four(from, inside);
        }
        __syncthreads();
#pragma unroll 1
        for (int s = 0; s < tile; s += 4) {
            const float4 *a_part = a_tile + y * (tile / 4) + s / 4;
            const float4 *b_part = b_tile + s * LANES + x;
            const float4 b0 = b_part[0], b1 = b_part[LANES];
            const float4 b2 = b_part[2 * LANES], b3 = b_part[3 * LANES];
#pragma unroll
            for (int i = 0; i < PART_ROWS; i++) {
                /* If the address had one more sum, clang 19 would load it in pieces. */
                const float4 four = a_part[i * PART_WARPS * (tile / 4)];
                add_scaled(&sum[i], four.x, b0);
                add_scaled(&sum[i], four.y, b1);
                add_scaled(&sum[i], four.z, b2);
                add_scaled(&sum[i], four.w, b3);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PART_ROWS; i++) {
        const int row = top + y + i * PART_WARPS;
        if (row < m && left < n) *(float4 *)&c[(size_t)row * n + left] = sum[i];
    }
}

/** kernel<<<grid, block, shared>>> of one of the kernels, or MATMUL_OWN.
 *  @return cudaErrorInvalidValue if there is no such kernel */
extern "C" cudaError_t matmul_describe(matmul_launch *launch, int kernel, int m, int n, int k,
                                       int tile)
{
    const dim3 block(LANES, tile), small_block(LANES, PART_WARPS);
    const dim3 rows((n - 1) / tile + 1, (m - 1) / LANES + 1);
    const dim3 columns((n - 1) / LANES + 1, (m - 1) / tile + 1);
    const dim3 parts((n - 1) / BLOCK_COLS + 1, (m - 1) / BLOCK_ROWS + 1);
    const size_t tiled = sizeof(float) * (tile + LANES) * LANES;
    const size_t deep = sizeof(float) * (BLOCK_ROWS + BLOCK_COLS) * tile;
    const matmul_launch launches[] = {
        {(const void *)matmul_rows_kernel, rows, block, 0},
        {(const void *)matmul_columns_kernel, columns, block, 0},
        {(const void *)matmul_tiled_kernel, columns, block, tiled},
        {(const void *)matmul_registers_kernel, parts, small_block, deep},
        {(const void *)matmul_vectorized_kernel, parts, small_block, deep},
    };
    if (kernel == MATMUL_OWN) return matmul_own_launch(launch, m, n, k, tile);
    if (kernel < 0 || kernel > MATMUL_OWN) return cudaErrorInvalidValue;
    *launch = launches[kernel];
    return cudaSuccess;
}

extern "C" cudaError_t matmul_run(int kernel, float *c, const float *a, const float *b, int m,
                                  int n, int k, int tile, cudaStream_t stream)
{
    matmul_launch l;
    void *arguments[] = {&c, &a, &b, &m, &n, &k, &tile};
    CUDA_CHECK(matmul_describe(&l, kernel, m, n, k, tile));
    return cudaLaunchKernel(l.kernel, l.grid, l.block, arguments, l.shared, stream);
}

#endif
