// RIGHT: 16 rows a warp, 4 columns 32 apart a lane; the next tiles wait in registers
#include "214_matmul_registers/matmul_registers.h"

enum { WARPS = 8, ROWS = 16, COLS = 4, DEPTH = 8, HIGH = WARPS * ROWS, WIDE = 32 * COLS };

struct operands {
    const float *a, *b;
    int m, n, k;
};

struct chunk {
    float a[HIGH * DEPTH / (32 * WARPS)], b[WIDE * DEPTH / (32 * WARPS)];
};

__device__ static chunk fetch(operands o, int top, int left, int from)
{
    chunk next;
#pragma unroll
    for (int u = 0; u < HIGH * DEPTH / (32 * WARPS); u++) {
        int at = u * 32 * WARPS + threadIdx.x, row = top + at / DEPTH, i = from + at % DEPTH;
        next.a[u] = 0.0f;
        if (row < o.m && i < o.k) next.a[u] = __ldg(o.a + (size_t)row * o.k + i);
    }
#pragma unroll
    for (int u = 0; u < WIDE * DEPTH / (32 * WARPS); u++) {
        int at = u * 32 * WARPS + threadIdx.x, i = from + at / WIDE, col = left + at % WIDE;
        next.b[u] = 0.0f;
        if (i < o.k && col < o.n) next.b[u] = __ldg(o.b + (size_t)i * o.n + col);
    }
    return next;
}

__device__ static void one_tile(float *c, operands o, int top, int left)
{
    __shared__ float as[HIGH * (DEPTH + 1)], bs[DEPTH * WIDE];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sums[ROWS * COLS];
#pragma unroll
    for (int s = 0; s < ROWS * COLS; s++) sums[s] = 0.0f;

    chunk next = fetch(o, top, left, 0);
    for (int from = 0; from < o.k; from += DEPTH) {
#pragma unroll
        for (int u = 0; u < HIGH * DEPTH / (32 * WARPS); u++) {
            int at = u * 32 * WARPS + threadIdx.x;
            as[at / DEPTH * (DEPTH + 1) + at % DEPTH] = next.a[u];
        }
#pragma unroll
        for (int u = 0; u < WIDE * DEPTH / (32 * WARPS); u++)
            bs[u * 32 * WARPS + threadIdx.x] = next.b[u];
        __syncthreads();
        if (from + DEPTH < o.k) next = fetch(o, top, left, from + DEPTH);
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            float v[COLS];
#pragma unroll
            for (int q = 0; q < COLS; q++) v[q] = bs[i * WIDE + q * 32 + lane];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                float w = as[(warp * ROWS + r) * (DEPTH + 1) + i]; /* the same for all lanes */
#pragma unroll
                for (int q = 0; q < COLS; q++) sums[r * COLS + q] += w * v[q];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < ROWS * COLS; s++) {
        int row = top + warp * ROWS + s / COLS, col = left + s % COLS * 32 + lane;
        if (row < o.m && col < o.n) c[(size_t)row * o.n + col] = sums[s];
    }
}

__global__ static void __launch_bounds__(32 * WARPS) tiles(float *c, operands o)
{
    int across = (o.n - 1) / WIDE + 1, down = (o.m - 1) / HIGH + 1;
    for (int t = blockIdx.x; t < across * down; t += gridDim.x)
        one_tile(c, o, t / across * HIGH, t % across * WIDE);
}

cudaError_t matmul_registers(float *c, const float *a, const float *b, int m, int n, int k,
                             cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    const int count = ((n - 1) / WIDE + 1) * ((m - 1) / HIGH + 1), most = 4096;
    const int blocks = count < most ? count : most;
    tiles<<<blocks, 32 * WARPS, 0, stream>>>(c, operands{a, b, m, n, k});
    return cudaGetLastError();
}
