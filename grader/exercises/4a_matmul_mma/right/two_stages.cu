// RIGHT: rows of 64 bytes with a swizzle of their own, two stages by <cuda_pipeline.h>, four warps
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4a_matmul_mma/matmul_mma.h"
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <stdint.h>

#define EDGE 128
#define DEEP 32

struct tiles {
    uint4 a[EDGE * DEEP / 8], b[DEEP * EDGE / 8]; // chunks of eight elements
};

// Two rows of a share 128 bytes, so it is pairs of rows that have to differ.
__device__ static int place_in_a(int row, int chunk)
{
    return row * 4 + (chunk ^ row / 2 % 4);
}

__device__ static int place_in_b(int row, int chunk)
{
    return row * 16 + (chunk ^ row % 8);
}

__device__ static void request(tiles &to, const __nv_bfloat16 *a, const __nv_bfloat16 *b, size_t y0,
                               size_t x0, size_t depth, int m, int n, int k)
{
    for (int i = threadIdx.x; i < EDGE * DEEP / 8; i += 128) {
        const int r = i / 4, p = i % 4, d = i / 16, q = i % 16;
        const bool a_there = y0 + r < m && depth + p * 8 < k,
                   b_there = depth + d < k && x0 + q * 8 < n;
        __pipeline_memcpy_async(&to.a[place_in_a(r, p)],
                                a_there ? a + (y0 + r) * k + depth + p * 8 : a, 16,
                                a_there ? 0 : 16);
        __pipeline_memcpy_async(&to.b[place_in_b(d, q)],
                                b_there ? b + (depth + d) * n + x0 + q * 8 : b, 16,
                                b_there ? 0 : 16);
    }
    __pipeline_commit();
}

template <bool TURNED> __device__ static void matrices(unsigned (&to)[4], const uint4 *at)
{
    const unsigned address = (unsigned)__cvta_generic_to_shared(at);
    if (TURNED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address));
}

__global__ void __launch_bounds__(128)
    swizzled(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k)
{
    __shared__ tiles stage[2];
    const size_t y0 = (size_t)blockIdx.x * EDGE, x0 = (size_t)blockIdx.y * EDGE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int y = warp / 2 * 64, x = warp % 2 * 64;
    float total[4][4][8] = {}; // of 16 x 16 elements each
    request(stage[0], a, b, y0, x0, 0, m, n, k);
    for (int tile = 0; tile * DEEP < k; tile++) {
        request(stage[~tile & 1], a, b, y0, x0, (size_t)(tile + 1) * DEEP, m, n, k);
        __pipeline_wait_prior(1);
        __syncthreads();
        const tiles &now = stage[tile & 1];
        for (int half = 0; half < DEEP / 16; half++) {
            unsigned p[4][4], q[4][4];
            for (int i = 0; i < 4; i++) {
                const int row = y + i * 16 + lane % 16, chunk = x / 8 + i * 2 + lane / 16;
                matrices<false>(p[i], &now.a[place_in_a(row, half * 2 + lane / 16)]);
                matrices<true>(q[i], &now.b[place_in_b(half * 16 + lane % 16, chunk)]);
            }
            for (int i = 0; i < 32; i++) {
                float *t = &total[i / 8][i / 2 % 4][i % 2 * 4];
                const unsigned *u = p[i / 8], *v = &q[i / 2 % 4][i % 2 * 2];
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                             "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(t[0]), "+f"(t[1]), "+f"(t[2]), "+f"(t[3])
                             : "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3]), "r"(v[0]), "r"(v[1]));
            }
        }
        __syncthreads();
    }
    __pipeline_wait_prior(0);
    for (int i = 0; i < 128; i++) {
        const size_t r = y0 + y + i / 32 * 16 + i / 2 % 2 * 8 + lane / 4;
        const size_t s = x0 + x + i / 8 % 4 * 16 + i / 4 % 2 * 8 + lane % 4 * 2 + i % 2;
        if (r < m && s < n) c[r * n + s] = total[i / 32][i / 8 % 4][i % 8];
    }
}

extern "C" cudaError_t matmul_mma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                                  int n, int k, cudaStream_t stream)
{
    const unsigned down = (m + EDGE - 1u) / EDGE, across = (n + EDGE - 1u) / EDGE;
    if (down * across == 0) return cudaSuccess;
    if (((uintptr_t)a | (uintptr_t)b) % 16 || n % 8 || k % 8)
        return matmul_tensorcore(c, a, b, m, n, k, stream);
    swizzled<<<dim3(down, across), 128, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
