// RIGHT: rows of the tiles are padded, not swizzled; no ring, two barriers a tile, any alignment
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4a_matmul_mma/matmul_mma.h"
#include <cuda_bf16.h>
#include <stdint.h>

typedef const uint16_t *bits; // of bf16: moved, never computed with

constexpr int SIDE = 128, DEPTH = 64, A_ROW = DEPTH + 8, B_ROW = SIDE + 8;

// Eight elements from x[y][x0] on, zeros outside, at once where that is allowed.
__device__ static uint4 eight(bits x, long y, long x0, int rows, int cols, bool wide)
{
    union {
        uint4 all;
        uint16_t each[8];
    } v = {make_uint4(0, 0, 0, 0)};
    if (y >= rows) return v.all;
    if (wide && x0 < cols) return *(const uint4 *)(x + y * cols + x0);
    for (int e = 0; e < 8; e++)
        if (x0 + e < cols) v.each[e] = x[y * cols + x0 + e];
    return v.all;
}

// 128 threads: 2 x 2 warps of 64 x 64.
__global__ void __launch_bounds__(128)
    padded(float *c, bits a, bits b, int m, int n, int k, bool wide_a, bool wide_b)
{
    __shared__ __align__(16) uint16_t a_tile[SIDE][A_ROW], b_tile[DEPTH][B_ROW];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int y0 = warp / 2 * 64, x0 = warp % 2 * 64;
    const long top = (long)blockIdx.x * SIDE, left = (long)blockIdx.y * SIDE;
    float acc[4][8][4] = {};
    for (int from = 0; from < k; from += DEPTH) {
        for (int i = threadIdx.x; i < SIDE * DEPTH / 8; i += 128) {
            const int y = i / (DEPTH / 8), d = i % (DEPTH / 8) * 8;
            const int e = i / (SIDE / 8), x = i % (SIDE / 8) * 8;
            *(uint4 *)&a_tile[y][d] = eight(a, top + y, from + d, m, k, wide_a);
            *(uint4 *)&b_tile[e][x] = eight(b, from + e, left + x, k, n, wide_b);
        }
        __syncthreads(); // full
        for (int d = 0; d < DEPTH; d += 16) {
            uint32_t u[4][4], v[4][4];
            for (int i = 0; i < 4; i++) {
                const void *p = &a_tile[y0 + i * 16 + lane % 16][d + lane / 16 * 8];
                const void *q = &b_tile[d + lane % 16][x0 + i * 16 + lane / 16 * 8];
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(u[i][0]), "=r"(u[i][1]), "=r"(u[i][2]), "=r"(u[i][3])
                             : "r"((unsigned)__cvta_generic_to_shared(p)));
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(v[i][0]), "=r"(v[i][1]), "=r"(v[i][2]), "=r"(v[i][3])
                             : "r"((unsigned)__cvta_generic_to_shared(q)));
            }
#pragma unroll
            for (int p = 0; p < 32; p++) {
                const int i = p / 8, j = p % 8;
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                             "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]),
                               "+f"(acc[i][j][3])
                             : "r"(u[i][0]), "r"(u[i][1]), "r"(u[i][2]), "r"(u[i][3]),
                               "r"(v[j / 2][j % 2 * 2]), "r"(v[j / 2][j % 2 * 2 + 1]));
            }
        }
        __syncthreads(); // read
    }
#pragma unroll
    for (int p = 0; p < 128; p++) {
        const int i = p / 32, j = p / 4 % 8, e = p % 4;
        const long y = top + y0 + i * 16 + lane / 4 + e / 2 * 8;
        const long x = left + x0 + j * 8 + lane % 4 * 2 + e % 2;
        if (y < m && x < n) c[y * n + x] = acc[i][j][e];
    }
}

extern "C" cudaError_t matmul_mma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                                  int n, int k, cudaStream_t stream)
{
    if (m < 1 || n < 1) return cudaSuccess;
    const dim3 blocks((m + SIDE - 1u) / SIDE, (n + SIDE - 1u) / SIDE);
    padded<<<blocks, 128, 0, stream>>>(c, (bits)a, (bits)b, m, n, k,
                                       (uintptr_t)a % 16 == 0 && k % 8 == 0,
                                       (uintptr_t)b % 16 == 0 && n % 8 == 0);
    return cudaPeekAtLastError();
}
