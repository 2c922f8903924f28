// SLOW: tensor instructions | counted | nvcc
/* Nothing of Hopper at all: WMMA, a warp for 32 x 32, tiles filled element by element. */
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4b_matmul_wgmma/matmul_wgmma.h"
#include <cuda_bf16.h>
#include <mma.h>

typedef __nv_bfloat16 bf16;
namespace w = nvcuda::wmma;

#define EDGE 64
#define DEEP 32

__global__ void __launch_bounds__(128)
    by_wmma(float *c, const bf16 *a, const bf16 *b, int m, int n, int k)
{
    __shared__ __align__(32) bf16 of_a[EDGE][DEEP + 8], of_b[DEEP][EDGE + 8];
    __shared__ __align__(32) float of_c[EDGE][EDGE + 4];
    const size_t y0 = (size_t)blockIdx.x * EDGE, x0 = (size_t)blockIdx.y * EDGE;
    const int y = threadIdx.x / 64 * 32, x = threadIdx.x / 32 % 2 * 32;
    w::fragment<w::accumulator, 16, 16, 16, float> total[4];
    for (int i = 0; i < 4; i++) w::fill_fragment(total[i], 0.0f);
    for (int depth = 0; depth < k; depth += DEEP) {
        for (int i = threadIdx.x; i < EDGE * DEEP; i += 128) {
            const int r = i / DEEP, d = i % DEEP, e = i / EDGE, s = i % EDGE;
            const bool a_there = y0 + r < m && depth + d < k, b_there = depth + e < k && x0 + s < n;
            of_a[r][d] = a_there ? a[(y0 + r) * k + depth + d] : bf16(0.0f);
            of_b[e][s] = b_there ? b[(size_t)(depth + e) * n + x0 + s] : bf16(0.0f);
        }
        __syncthreads();
        for (int d = 0; d < DEEP; d += 16) {
            w::fragment<w::matrix_a, 16, 16, 16, bf16, w::row_major> p[2];
            w::fragment<w::matrix_b, 16, 16, 16, bf16, w::row_major> q[2];
            for (int i = 0; i < 2; i++) {
                w::load_matrix_sync(p[i], &of_a[y + 16 * i][d], DEEP + 8);
                w::load_matrix_sync(q[i], &of_b[d][x + 16 * i], EDGE + 8);
            }
            for (int i = 0; i < 4; i++) w::mma_sync(total[i], p[i / 2], q[i % 2], total[i]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        w::store_matrix_sync(&of_c[y + i / 2 * 16][x + i % 2 * 16], total[i], EDGE + 4,
                             w::mem_row_major);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < EDGE * EDGE; i += 128) {
        const size_t r = y0 + i / EDGE, s = x0 + i % EDGE;
        if (r < m && s < n) c[r * n + s] = of_c[i / EDGE][i % EDGE];
    }
}

extern "C" cudaError_t matmul_wgmma(float *c, const bf16 *a, const bf16 *b, int m, int n, int k,
                                    cudaStream_t stream)
{
    const unsigned down = (m + EDGE - 1u) / EDGE, across = (n + EDGE - 1u) / EDGE;
    if (down * across == 0) return cudaSuccess;
    by_wmma<<<dim3(down, across), 128, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
