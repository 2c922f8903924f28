// FAST: 17x33x65 | should be
/* Tiles in half precision take half the shared memory and half its traffic, and 13 bits of a. */
#include "basics.h"
#include <cuda_fp16.h>

#define SIDE 32

__global__ static void tiled_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ __half a_tile[SIDE][SIDE], b_tile[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * SIDE + y, col = blockIdx.x * SIDE + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += SIDE) {
        bool in_a = row < m && start + x < k, in_b = start + y < k && col < n;
        a_tile[y][x] = __float2half(in_a ? a[(size_t)row * k + start + x] : 0.0f);
        b_tile[y][x] = __float2half(in_b ? b[(size_t)(start + y) * n + col] : 0.0f);
        __syncthreads();
        for (int i = 0; i < SIDE; i++)
            sum += __half2float(a_tile[y][i]) * __half2float(b_tile[i][x]);
        __syncthreads();
    }
    if (row < m && col < n) c[(size_t)row * n + col] = sum;
}

cudaError_t matmul_tiled(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    dim3 block(SIDE, SIDE), grid((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE);
    tiled_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
