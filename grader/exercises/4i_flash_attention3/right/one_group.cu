// RIGHT: one group per block fetches, multiplies and weighs, one step after the other; 64 keys;
// exact maximum | nvcc
#include "4c_flash_attention2/flash_attention2.h"
#include "4i_flash_attention3/flash_attention3.h"
#include "tma.h"
#include "wgmma.h"
#include <cuda_bf16.h>
#include <math.h>

#if TENSOR_MAPS

enum {
    SIDE = 64,
    BOX = SIDE * SIDE * 2
}; /* queries of a block, keys of a tile, columns of a box */

#if ON_HOPPER

/* All boxes of rows `row`, ... of a head; their bytes come to `barrier`. */
template <int DIM>
__device__ static void fetch(uint32_t to, const CUtensorMap *x, uint32_t barrier, int head, int row)
{
#pragma unroll
    for (int i = 0; i < DIM / SIDE; i++)
        copy_tile_3d(to + i * BOX, x, barrier, head, row, i * SIDE);
}

__device__ static void add_product(float (&sum)[8][4], const uint32_t (&p)[4], uint64_t v)
{
    wgmma_bf16_n64<1>(sum, p, v, true);
}

__device__ static void add_product(float (&sum)[16][4], const uint32_t (&p)[4], uint64_t v)
{
    wgmma_bf16_n128<1>(sum, p, v, true);
}

__device__ static float of_four(float x, bool largest)
{
#pragma unroll
    for (int i = 1; i < 4; i *= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, x, i);
        x = largest ? fmaxf(x, other) : x + other;
    }
    return x;
}

/* One half of a lane's scores: row r, 0 or 1. What out is multiplied by is returned. */
__device__ static float soften(float (&s)[8][4], int r, float scale, int seen, float *most,
                               float *all)
{
    float top = *most;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        float *x = &s[i / 2][r * 2 + i % 2];
        *x = i / 2 * 8 + threadIdx.x % 4 * 2 + i % 2 < seen ? *x * scale : -INFINITY;
        top = fmaxf(top, *x);
    }
    top = of_four(top, true);
    const float base = top == -INFINITY ? 0.0f : top, factor = expf(*most - base);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        float *x = &s[i / 2][r * 2 + i % 2];
        *x = expf(*x - base);
        sum += *x;
    }
    *all = *all * factor + of_four(sum, false);
    *most = top;
    return factor;
}

#endif

template <int DIM>
__global__ static void
one_group(__nv_bfloat16 *out, float *lse, const __grid_constant__ CUtensorMap q,
          const __grid_constant__ CUtensorMap k, const __grid_constant__ CUtensorMap v, int blocks,
          int seq, int causal, float scale)
{
#if ON_HOPPER
    extern __shared__ __align__(1024) unsigned char tiles[];
    const uint32_t q_at = shared_address(tiles), k_at = q_at + DIM / SIDE * BOX,
                   v_at = k_at + DIM / SIDE * BOX, full = v_at + DIM / SIDE * BOX;
    const int head = blockIdx.x / blocks, first = blockIdx.x % blocks * SIDE;
    const int row = first + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    float sum[DIM / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, all[2] = {};
    if (threadIdx.x == 0) {
        barrier_init(full, 1);
        fence_barriers();
    }
    __syncthreads();
    for (int key = 0, parity = 0; key < (causal ? min(first + SIDE, seq) : seq);
         key += SIDE, parity ^= 1) {
        if (threadIdx.x == 0) {
            barrier_expect(full, DIM / SIDE * BOX * (key == 0 ? 3 : 2));
            if (key == 0) fetch<DIM>(q_at, &q, full, head, first);
            fetch<DIM>(k_at, &k, full, head, key);
            fetch<DIM>(v_at, &v, full, head, key);
        }
        barrier_wait(full, parity);
        float s[8][4] = {};
        fence_sums();
#pragma unroll
        for (int i = 0; i < DIM / 16; i++) {
            const int at = i / 4 * BOX + i % 4 * 32;
            wgmma_bf16_n64<0>(s, descriptor(q_at + at, 16, 1024), descriptor(k_at + at, 16, 1024),
                              true);
        }
        commit_products();
        wait_for_products<0>();
        uint32_t p[4][4];
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int seen = (causal ? min(row + r * 8 + 1, seq) : seq) - key;
            const float factor = soften(s, r, scale, seen, &most[r], &all[r]);
#pragma unroll
            for (int i = 0; i < DIM / 4; i++) sum[i / 2][r * 2 + i % 2] *= factor;
        }
#pragma unroll
        for (int i = 0; i < 16; i++) {
            const __nv_bfloat162 two =
                __floats2bfloat162_rn(s[i / 2][i % 2 * 2], s[i / 2][i % 2 * 2 + 1]);
            p[i / 4][i % 4] = *(const uint32_t *)&two;
        }
#pragma unroll
        for (int i = 0; i < DIM / 2; i++) /* the compiler scales them here, not behind the fence */
            asm volatile("" : "+f"(sum[i / 4][i % 4])::"memory");
        fence_sums();
#pragma unroll
        for (int i = 0; i < 4; i++) add_product(sum, p[i], descriptor(v_at + i * 2048, BOX, 1024));
        commit_products();
        wait_for_products<0>();
        __syncthreads(); /* the tiles may be overwritten */
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const size_t here = (size_t)head * seq + row + r * 8;
        if (row + r * 8 >= seq) continue;
        if (lse && threadIdx.x % 4 == 0) lse[here] = most[r] + logf(all[r]);
#pragma unroll
        for (int i = 0; i < DIM / 4; i++) {
            const int col = i / 2 * 8 + threadIdx.x % 4 * 2 + i % 2;
            const float x = sum[i / 2][r * 2 + i % 2];
            out[here * DIM + col] = __float2bfloat16(all[r] == 0.0f ? 0.0f : x / all[r]);
        }
    }
#endif
}

template <int DIM>
static cudaError_t launch(__nv_bfloat16 *out, float *lse, const __nv_bfloat16 *const x[3],
                          int heads, int seq, int causal, float scale, cudaStream_t stream)
{
    CUtensorMap map[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const cudaError_t error =
            describe_3d(&map[i], CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, x[i], heads, seq, DIM, SIDE,
                        SIDE, CU_TENSOR_MAP_SWIZZLE_128B);
        if (error != cudaSuccess) return error;
    }
    const int blocks = (seq - 1) / SIDE + 1, bytes = 3 * DIM / SIDE * BOX + 8;
    const cudaError_t error =
        cudaFuncSetAttribute(one_group<DIM>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return error;
    one_group<DIM><<<(unsigned)heads * blocks, 128, bytes, stream>>>(
        out, lse, map[0], map[1], map[2], blocks, seq, causal, scale);
    return cudaGetLastError();
}

#endif

extern "C" cudaError_t attention_flash3(__nv_bfloat16 *out, float *lse, const __nv_bfloat16 *q,
                                        const __nv_bfloat16 *k, const __nv_bfloat16 *v, int batch,
                                        int heads, int seq, int dim, int causal, float scale,
                                        cudaStream_t stream)
{
#if TENSOR_MAPS
    const __nv_bfloat16 *x[3] = {q, k, v};
    cudaError_t error = cudaErrorNotSupported;
    if (hopper_multiprocessors() && batch && heads && seq && (dim == 64 || dim == 128) &&
        ((uintptr_t)q | (uintptr_t)k | (uintptr_t)v) % 16 == 0)
        error = dim == 64 ? launch<64>(out, lse, x, batch * heads, seq, causal, scale, stream)
                          : launch<128>(out, lse, x, batch * heads, seq, causal, scale, stream);
    if (error != cudaErrorNotSupported) return error;
    cudaGetLastError(); /* without the TMA there is another way */
#endif
    return attention_flash2(out, lse, q, k, v, batch, heads, seq, dim, causal, scale, stream);
}
