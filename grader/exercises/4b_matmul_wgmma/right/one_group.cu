// RIGHT: one warp group does it all; 64 x 64 sums a block, two stages, no cluster | nvcc
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4b_matmul_wgmma/matmul_wgmma.h"
#include "tma.h"
#include "wgmma.h"
#include <cuda_bf16.h>

enum { SIDE = 64, BYTES = SIDE * SIDE * 2 };

__global__ static void __launch_bounds__(128)
    one_group(float *c, const __grid_constant__ CUtensorMap a,
              const __grid_constant__ CUtensorMap b, int m, int n, int k, int across)
{
#if ON_HOPPER
    __shared__ __align__(1024) __nv_bfloat16 rows[2][SIDE * SIDE], columns[2][SIDE * SIDE];
    __shared__ uint64_t full[2];
    const int row = blockIdx.x / across * SIDE, col = blockIdx.x % across * SIDE;
    const int steps = (k - 1) / SIDE + 1;
    float sum[8][4] = {};
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) barrier_init(shared_address(&full[i]), 1);
        fence_barriers();
    }
    __syncthreads();
    for (int i = -1; i < steps; i++) {
        const int next = (i + 1) % 2;
        if (threadIdx.x == 0 && i + 1 < steps) {
            const uint32_t barrier = shared_address(&full[next]);
            barrier_expect(barrier, 2 * BYTES);
            copy_tile(shared_address(rows[next]), &a, barrier, row, (i + 1) * SIDE);
            copy_tile(shared_address(columns[next]), &b, barrier, (i + 1) * SIDE, col);
        }
        if (i < 0) continue;
        barrier_wait(shared_address(&full[i % 2]), i / 2 % 2);
        fence_sums();
        for (int s = 0; s < SIDE / 16; s++) {
            const uint32_t across = shared_address(rows[i % 2] + s * 16);
            const uint32_t down = shared_address(columns[i % 2] + s * 16 * SIDE);
            wgmma_bf16_n64<1>(sum, descriptor(across, 16, 1024), descriptor(down, 16, 1024), true);
        }
        commit_products();
        wait_for_products<0>();
        __syncthreads();
    }
    for (int i = 0; i < 32; i++) {
        const int lane = threadIdx.x % 32,
                  y = row + threadIdx.x / 32 * 16 + i / 2 % 2 * 8 + lane / 4;
        const int x = col + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (y < m && x < n) c[(size_t)y * n + x] = sum[i / 4][i % 4];
    }
#endif
}

cudaError_t matmul_wgmma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                         int k, cudaStream_t stream)
{
    const CUtensorMapDataType bf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    CUtensorMap a_map, b_map;
    if (!hopper_multiprocessors() || k % 8 || n % 8 || ((uintptr_t)a | (uintptr_t)b) % 16 || !m ||
        !n || !k)
        return matmul_tensorcore(c, a, b, m, n, k, stream);
    cudaError_t error = describe(&a_map, bf16, a, m, k, SIDE, SIDE, CU_TENSOR_MAP_SWIZZLE_128B);
    if (error == cudaSuccess)
        error = describe(&b_map, bf16, b, k, n, SIDE, SIDE, CU_TENSOR_MAP_SWIZZLE_128B);
    if (error != cudaSuccess) return error;
    const int across = (n - 1) / SIDE + 1, down = (m - 1) / SIDE + 1;
    one_group<<<(unsigned)across * down, 128, 0, stream>>>(c, a_map, b_map, m, n, k, across);
    return cudaGetLastError();
}
