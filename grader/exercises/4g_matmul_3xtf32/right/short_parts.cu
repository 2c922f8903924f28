// RIGHT: a part is 8 of k, numbers are split in registers, blocks of 64 x 64, any alignment; wgmma
// takes more
#include "401_matmul_vectorized/matmul_vectorized.h"
#include "4g_matmul_3xtf32/matmul_3xtf32.h"
#include "4g_wgmma.cuh"

#define EDGE 64
#define DEEP 16

struct number { // x = large + small, each of 11 bits
    unsigned large, small;
};

__device__ static unsigned to_tf32(float x)
{
    return (__float_as_uint(x) + (1u << 12)) >> 13 << 13;
}

__device__ static number divided(float x)
{
    number v;
    v.large = to_tf32(x);
    v.small = to_tf32(x - __uint_as_float(v.large));
    return v;
}

#define PRODUCT(p, q)                                                                              \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "              \
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                          \
                 : "+f"(part[0]), "+f"(part[1]), "+f"(part[2]), "+f"(part[3])                      \
                 : "r"(u[0].p), "r"(u[1].p), "r"(u[2].p), "r"(u[3].p), "r"(v[0].q), "r"(v[1].q))

__device__ static void add_product(float *total, const number *u, const number *v)
{
    float part[4] = {0, 0, 0, 0};
    PRODUCT(small, large);
    PRODUCT(large, small);
    PRODUCT(large, large);
    for (int i = 0; i < 4; i++) total[i] += part[i];
}

__global__ void __launch_bounds__(128)
    in_short_parts(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float of_a[DEEP][EDGE + 8], of_b[DEEP][EDGE + 8];
    const size_t y0 = (size_t)blockIdx.x * EDGE, x0 = (size_t)blockIdx.y * EDGE;
    const int lane = threadIdx.x % 32, high = lane / 4, low = lane % 4;
    const int y = threadIdx.x / 64 * 32 + high, x = threadIdx.x / 32 % 2 * 32 + high;
    float total[2][4][4] = {};
    for (int depth = 0; depth < k; depth += DEEP) {
        for (int i = threadIdx.x; i < EDGE * DEEP; i += 128) {
            const int d = depth + i / EDGE, s = i % EDGE;
            of_a[i / EDGE][s] = y0 + s < m && d < k ? a[(y0 + s) * k + d] : 0;
            of_b[i / EDGE][s] = x0 + s < n && d < k ? b[(size_t)d * n + x0 + s] : 0;
        }
        __syncthreads();
        for (int d = low; d < DEEP; d += 8) {
            number u[2][4], v[4][2];
            for (int i = 0; i < 8; i++) {
                u[i / 4][i % 4] = divided(of_a[d + i % 4 / 2 * 4][y + i / 4 * 16 + i % 2 * 8]);
                v[i / 2][i % 2] = divided(of_b[d + i % 2 * 4][x + i / 2 * 8]);
            }
            for (int i = 0; i < 8; i++) add_product(total[i / 4][i % 4], u[i / 4], v[i % 4]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 32; i++) {
        const size_t r = y0 + y + i / 16 * 16 + i / 2 % 2 * 8;
        const size_t s = x0 + x - high + i / 4 % 4 * 8 + low * 2 + i % 2;
        if (r < m && s < n) c[r * n + s] = total[i / 16][i / 4 % 4][i % 4];
    }
}

extern "C" cudaError_t matmul_3xtf32(float *c, const float *a, const float *b, int m, int n, int k,
                                     cudaStream_t stream)
{
    const unsigned down = (m + EDGE - 1u) / EDGE, across = (n + EDGE - 1u) / EDGE;
    if (down * across == 0) return cudaSuccess;
#if TENSOR_MAPS
    if (hopper_multiprocessors() > 0 && ((uintptr_t)a | (uintptr_t)b) % 16 == 0 && k > 0 &&
        k % 4 == 0 && n % 4 == 0 && wgmma_tiles(m, n) > 3)
        return launch_wgmma(c, a, b, m, n, k, stream);
#endif
    in_short_parts<<<dim3(down, across), 128, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
