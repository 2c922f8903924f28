// RIGHT: numbers are split as they come into shared memory, once a block; no ring, any alignment
#include "401_matmul_vectorized/matmul_vectorized.h"
#include "4g_matmul_3xtf32/matmul_3xtf32.h"
#include <stdint.h>

constexpr int SIDE = 128, DEPTH = 16, A_ROW = DEPTH + 4, B_ROW = SIDE + 8;

__device__ static float rounded(float x) // to 11 bits
{
    return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

__device__ static void multiply_add(float (&acc)[4], const float (&u)[4], const float (&v)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                 : "r"(__float_as_uint(u[0])), "r"(__float_as_uint(u[1])),
                   "r"(__float_as_uint(u[2])), "r"(__float_as_uint(u[3])),
                   "r"(__float_as_uint(v[0])), "r"(__float_as_uint(v[1])));
}

// 256 threads: 4 x 2 warps of 32 x 64.
__global__ void __launch_bounds__(256)
    split_once(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float a_tile[2][SIDE][A_ROW], b_tile[2][DEPTH][B_ROW]; // [0] hi, [1] lo
    const int group = threadIdx.x % 32 / 4, t = threadIdx.x % 4, warp = threadIdx.x / 32;
    const int y0 = warp / 2 * 32 + group, x0 = warp % 2 * 64;
    const long top = (long)blockIdx.x * SIDE, left = (long)blockIdx.y * SIDE;
    float total[2][8][4] = {};
    for (int from = 0; from < k; from += DEPTH) {
        for (int i = threadIdx.x; i < SIDE * DEPTH; i += 256) {
            // 4 of k and 8 rows a warp: as they are read, so that neither meets in a bank
            const int y = i / 128 * 8 + i / 4 % 8, d = i / 32 % 4 * 4 + i % 4;
            const int e = i / SIDE, x = i % SIDE;
            const float p = top + y < m && from + d < k ? a[(top + y) * k + from + d] : 0.f;
            const float q = from + e < k && left + x < n ? b[(long)(from + e) * n + left + x] : 0.f;
            a_tile[0][y][d] = rounded(p);
            a_tile[1][y][d] = rounded(p - rounded(p));
            b_tile[0][e][x] = rounded(q);
            b_tile[1][e][x] = rounded(q - rounded(q));
        }
        __syncthreads(); // full
        float acc[2][8][4] = {};
        for (int d = t; d < DEPTH; d += 8) {
            for (int what = 2; what >= 0; what--) { // lo of a, lo of b, neither
                const float(*p)[A_ROW] = a_tile[what == 2], (*q)[B_ROW] = b_tile[what == 1];
                for (int i = 0; i < 2; i++) {
                    const int y = y0 + i * 16;
                    const float u[4] = {p[y][d], p[y + 8][d], p[y][d + 4], p[y + 8][d + 4]};
                    for (int j = 0; j < 8; j++) {
                        const int x = x0 + j * 8 + group;
                        const float v[2] = {q[d][x], q[d + 4][x]};
                        multiply_add(acc[i][j], u, v);
                    }
                }
            }
        }
        for (int e = 0; e < 64; e++)
            total[e / 32][e / 4 % 8][e % 4] += acc[e / 32][e / 4 % 8][e % 4];
        __syncthreads(); // read
    }
    for (int e = 0; e < 64; e++) {
        const long y = top + y0 + e / 32 * 16 + e % 4 / 2 * 8;
        const long x = left + x0 + e / 4 % 8 * 8 + t * 2 + e % 2;
        if (y < m && x < n) c[y * n + x] = total[e / 32][e / 4 % 8][e % 4];
    }
}

extern "C" cudaError_t matmul_3xtf32(float *c, const float *a, const float *b, int m, int n, int k,
                                     cudaStream_t stream)
{
    if (m < 1 || n < 1) return cudaSuccess;
    const dim3 blocks((m + SIDE - 1u) / SIDE, (n + SIDE - 1u) / SIDE);
    split_once<<<blocks, 256, 0, stream>>>(c, a, b, m, n, k);
    return cudaPeekAtLastError();
}
