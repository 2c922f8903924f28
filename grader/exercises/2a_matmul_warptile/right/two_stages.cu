// RIGHT: two stages and two barriers a tile, copies of 4 bytes by <cuda_pipeline.h>, four warps
#include "214_matmul_registers/matmul_registers.h"
#include "2a_matmul_warptile/matmul_warptile.h"
#include <cuda_pipeline.h>

#define EDGE 128
#define DEEP 16
#define WIDE (EDGE + 4)

typedef float side[DEEP][WIDE];

// Element (depth, place) of a is a[place][depth], of b it is b[depth][place].
__device__ static void request(side &to_a, side &to_b, const float *a, const float *b, size_t y0,
                               size_t x0, int depth, int m, int n, int k)
{
    for (unsigned i = threadIdx.x; i < EDGE * DEEP; i += blockDim.x) {
        const unsigned place = i / DEEP, d = i % DEEP, e = i / EDGE, x = i % EDGE;
        const bool a_there = y0 + place < m && depth + d < k, b_there = x0 + x < n && depth + e < k;
        const float *from_a = a_there ? a + (y0 + place) * k + depth + d : a;
        const float *from_b = b_there ? b + (size_t)(depth + e) * n + x0 + x : b;
        if (a_there)
            __pipeline_memcpy_async(&to_a[d][place], from_a, 4);
        else
            to_a[d][place] = 0;
        if (b_there)
            __pipeline_memcpy_async(&to_b[e][x], from_b, 4);
        else
            to_b[e][x] = 0;
    }
    __pipeline_commit();
}

__device__ static void four(float *to, const float *from)
{
    const float4 v = *reinterpret_cast<const float4 *>(from);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__global__ void __launch_bounds__(128)
    pipelined(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ __align__(16) side of_a[2], of_b[2];
    const size_t y0 = (size_t)blockIdx.y * EDGE, x0 = (size_t)blockIdx.x * EDGE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int y = warp / 2 * 64 + lane / 8 * 4, x = warp % 2 * 64 + lane % 8 * 4;
    float total[16 * 8];
#pragma unroll
    for (int i = 0; i < 128; i++) total[i] = 0;
    request(of_a[0], of_b[0], a, b, y0, x0, 0, m, n, k);
    for (int tile = 0; tile * DEEP < k; tile++) {
        request(of_a[~tile & 1], of_b[~tile & 1], a, b, y0, x0, (tile + 1) * DEEP, m, n, k);
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            float p[16], q[8];
            for (int g = 0; g < 4; g++) four(p + 4 * g, &of_a[tile & 1][d][y + 16 * g]);
            for (int g = 0; g < 2; g++) four(q + 4 * g, &of_b[tile & 1][d][x + 32 * g]);
#pragma unroll
            for (int i = 0; i < 128; i++) total[i] += p[i / 8] * q[i % 8];
        }
        __syncthreads();
    }
    __pipeline_wait_prior(0);
#pragma unroll
    for (int i = 0; i < 128; i++) {
        const size_t r = y0 + y + i / 32 * 16 + i / 8 % 4, s = x0 + x + i % 8 / 4 * 32 + i % 4;
        if (r < m && s < n) c[r * n + s] = total[i];
    }
}

extern "C" cudaError_t matmul_warptile(float *c, const float *a, const float *b, int m, int n,
                                       int k, cudaStream_t stream)
{
    const unsigned down = (m + EDGE - 1u) / EDGE, across = (n + EDGE - 1u) / EDGE;
    if (down * across == 0) return cudaSuccess;
    pipelined<<<dim3(across, down), 128, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
