// RIGHT: 8 x 8 elements a thread, the next tiles wait in registers, no cp.async, any alignment
#include "214_matmul_registers/matmul_registers.h"
#include "2a_matmul_warptile/matmul_warptile.h"

constexpr int SIDE = 128, DEPTH = 16, STRIDE = SIDE + 4, EACH = SIDE * DEPTH / 256;

struct next_tiles {
    float of_a[EACH], of_b[EACH];
};

__device__ static void look_up(next_tiles &next, const float *a, const float *b, long top,
                               long left, int from, int m, int n, int k)
{
    for (int i = 0; i < EACH; i++) {
        const int at = threadIdx.x + i * 256;
        const long y = top + at % SIDE, x = left + at % SIDE;
        const int depth = from + at / SIDE;
        next.of_a[i] = y < m && depth < k ? a[y * k + depth] : 0.f;
        next.of_b[i] = x < n && depth < k ? b[(long)depth * n + x] : 0.f;
    }
}

__device__ static void put(float (*a_side)[STRIDE], float (*b_side)[STRIDE], const next_tiles &next)
{
    for (int i = 0; i < EACH; i++) {
        const int at = threadIdx.x + i * 256;
        a_side[at / SIDE][at % SIDE] = next.of_a[i];
        b_side[at / SIDE][at % SIDE] = next.of_b[i];
    }
}

__global__ void __launch_bounds__(256)
    warps_of_64_by_32(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ __align__(16) float a_side[2][DEPTH][STRIDE], b_side[2][DEPTH][STRIDE];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    // A lane and its neighbour want the same of a; a lane and the next but one the same of b.
    const int down = (lane >> 1 & 1) | (lane >> 2 & 6), across = (lane & 1) | (lane >> 1 & 2);
    const int y0 = warp / 4 * 64 + down * 4, x0 = warp % 4 * 32 + across * 4;
    const long top = blockIdx.y * (long)SIDE, left = blockIdx.x * (long)SIDE;
    float acc[8][8] = {{0.f}};
    next_tiles next;
    look_up(next, a, b, top, left, 0, m, n, k);
    put(a_side[0], b_side[0], next);
    __syncthreads();
    for (int from = 0, now = 0; from < k; from += DEPTH, now ^= 1) {
        look_up(next, a, b, top, left, from + DEPTH, m, n, k);
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float4 ya[2], xb[2];
            for (int h = 0; h < 2; h++) {
                ya[h] = *(float4 *)&a_side[now][d][y0 + h * 32];
                xb[h] = *(float4 *)&b_side[now][d][x0 + h * 16];
            }
            const float *u = &ya[0].x, *v = &xb[0].x;
#pragma unroll
            for (int e = 0; e < 64; e++)
                acc[e / 8][e % 8] = fmaf(u[e / 8], v[e % 8], acc[e / 8][e % 8]);
        }
        put(a_side[now ^ 1], b_side[now ^ 1], next); // read last before the barrier before
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < 64; e++) {
        const long y = top + y0 + e / 32 * 32 + e / 8 % 4, x = left + x0 + e % 8 / 4 * 16 + e % 4;
        if (y < m && x < n) c[y * n + x] = acc[e / 8][e % 8];
    }
}

extern "C" cudaError_t matmul_warptile(float *c, const float *a, const float *b, int m, int n,
                                       int k, cudaStream_t stream)
{
    if (m < 1 || n < 1) return cudaSuccess;
    const dim3 blocks((n + SIDE - 1u) / SIDE, (m + SIDE - 1u) / SIDE);
    warps_of_64_by_32<<<blocks, 256, 0, stream>>>(c, a, b, m, n, k);
    return cudaPeekAtLastError();
}
