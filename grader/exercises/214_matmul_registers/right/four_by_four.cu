// RIGHT: 16 x 16 threads with 4 x 4 elements each, tiles of 64 x 16
#include "214_matmul_registers/matmul_registers.h"

#define EDGE  64
#define DEPTH 16
#define OWN   4

__device__ static float at(const float *x, int row, int col, int rows, int cols)
{
    return row < rows && col < cols ? x[(size_t)row * cols + col] : 0.0f;
}

__global__ static void product(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float left[EDGE][DEPTH + 1], right[DEPTH][EDGE + 1];
    int top = blockIdx.y * EDGE, first = blockIdx.x * EDGE;
    int x = threadIdx.x, y = threadIdx.y;
    float out[OWN][OWN] = {{0.0f}};

    for (int start = 0; start < k; start += DEPTH) {
        for (int r = y; r < EDGE; r += 16) left[r][x] = at(a, top + r, start + x, m, k);
        for (int q = x; q < EDGE; q += 16) right[y][q] = at(b, start + y, first + q, k, n);
        __syncthreads();
        int depth = k - start < DEPTH ? k - start : DEPTH;
        for (int i = 0; i < depth; i++) {
            float p[OWN], q[OWN];
#pragma unroll
            for (int e = 0; e < OWN; e++) {
                p[e] = left[y * OWN + e][i];
                q[e] = right[i][x + 16 * e];
            }
#pragma unroll
            for (int e = 0; e < OWN * OWN; e++)
                out[e / OWN][e % OWN] = fmaf(p[e / OWN], q[e % OWN], out[e / OWN][e % OWN]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < OWN * OWN; e++) {
        int row = top + y * OWN + e / OWN, col = first + x + 16 * (e % OWN);
        if (row < m && col < n) c[(size_t)row * n + col] = out[e / OWN][e % OWN];
    }
}

cudaError_t matmul_registers(float *c, const float *a, const float *b, int m, int n, int k,
                             cudaStream_t stream)
{
    if (m > 0 && n > 0) {
        dim3 grid((n + EDGE - 1) / EDGE, (m + EDGE - 1) / EDGE);
        product<<<grid, dim3(16, 16), 0, stream>>>(c, a, b, m, n, k);
    }
    return cudaGetLastError();
}
