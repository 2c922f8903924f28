/*
 * The frozen baseline of 4b: the product of 4a, mma.sync with a swizzled ring of four stages. c is
 * not empty, rows begin at multiples of 16 bytes.
 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#include "tensor_core.h"

#define BM      256 /* BM x BN elements of c a block */
#define BN      128
#define BK      64
#define STAGES  4
#define THREADS 256 /* 8 warps: 4 down, 2 across */
#define DOWN    4   /* products of 16 x 8 that a warp has, down and across */
#define ACROSS  8
#define A_BYTES (BM * BK * 2) /* rows of 128 bytes */
#define B_ROW   (BN * 2)      /* bytes of a row of b's tile: two times 8 chunks */
#define STAGE   (A_BYTES + BK * B_ROW)
#define RING    (STAGES * STAGE)
#define PARTS   (BK / 16) /* steps of `mma` a tile; each copies a part of another one */

struct source {
    enum {
        A_STEP = THREADS / (BK / 8), /* rows from one of a thread's chunks to its next */
        B_STEP = THREADS / (BN / 8),
        A_COPIES = BM / A_STEP / PARTS, /* chunks a part */
        B_COPIES = BK / B_STEP / PARTS
    };
    const __nv_bfloat16 *a, *b;         /* its first chunks in the next stage */
    long a_pitch, b_pitch;              /* elements, from one of its chunks to the next */
    int a_rows, a_cols, b_rows, b_cols; /* that are left from there to the matrix's ends */
    uint32_t to_a, to_b;                /* its first places in a stage */

    __device__ __forceinline__ source(const __nv_bfloat16 *all_a, const __nv_bfloat16 *all_b,
                                      long row, long col, int m, int n, int k)
    {
        const int r = threadIdx.x / (BK / 8), r_chunk = threadIdx.x % (BK / 8);
        const int s = threadIdx.x / (BN / 8), s_chunk = threadIdx.x % (BN / 8);
        a = all_a + (row + r) * k + r_chunk * 8, b = all_b + (long)s * n + col + s_chunk * 8;
        a_pitch = (long)A_STEP * k, b_pitch = (long)B_STEP * n;
        a_rows = (int)(m - row - r), a_cols = k - r_chunk * 8;
        b_rows = k - s, b_cols = (int)(n - col - s_chunk * 8);
        to_a = r * BK * 2 + (r_chunk ^ r % 8) * 16;
        to_b = A_BYTES + s * B_ROW + (s_chunk ^ s % 8) * 16;
    }

    __device__ __forceinline__ void copy(uint32_t stage, int part)
    {
#pragma unroll
        for (int i = part * A_COPIES; i < (part + 1) * A_COPIES; i++) {
            cp_async_cg(stage + to_a + i * A_STEP * BK * 2, a + i * a_pitch,
                        i * A_STEP < a_rows && a_cols > 0);
        }
#pragma unroll
        for (int i = part * B_COPIES; i < (part + 1) * B_COPIES; i++) {
            cp_async_cg(stage + to_b + i * B_STEP * B_ROW, b + i * b_pitch,
                        i * B_STEP < b_rows && b_cols > 0);
        }
        if (part < PARTS - 1) return;
        cp_async_commit();
        a += BK, b += BK / B_STEP * b_pitch, a_cols -= BK, b_rows -= BK;
    }
};

/** @param a_at, b_at where this lane's row of the warp's first matrices lies at s = 0. To move by
 *  whole chunks is to change bits of the chunk's number, which the swizzle leaves to xor. */
__device__ __forceinline__ static void take(uint32_t a[DOWN][4], uint32_t b[ACROSS][2],
                                            uint32_t a_at, uint32_t b_at, int s)
{
#pragma unroll
    for (int i = 0; i < DOWN; i++) ldmatrix(a[i], (a_at ^ s * 32) + i * 16 * BK * 2);
#pragma unroll
    for (int j = 0; j < ACROSS; j += 2) ldmatrix_trans(b[j], (b_at ^ j * 16) + s * 16 * B_ROW);
}

__global__ static void __launch_bounds__(THREADS, 1)
    matmul_mma_kernel(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = shared_address(shared);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / 2 * DOWN * 16, warp_col = warp % 2 * ACROSS * 8;
    const long row = (long)blockIdx.x * BM, col = (long)blockIdx.y * BN;
    const uint32_t a_at = ring + (warp_row + lane % 16) * BK * 2 + (lane / 16 ^ lane % 8) * 16;
    const uint32_t b_at =
        ring + A_BYTES + lane % 16 * B_ROW + (warp_col / 8 + lane / 16 ^ lane % 8) * 16;
    source from(a, b, row, col, m, n, k);
    uint32_t a_part[2][DOWN][4], b_part[2][ACROSS][2], read = 0, write = (STAGES - 1) * STAGE;
    float sum[DOWN][ACROSS][4] = {};

    for (int i = 0; i < STAGES - 1; i++) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) from.copy(ring + i * STAGE, part);
    }
    cp_async_wait<STAGES - 2>();
    __syncthreads(); /* the first stage is complete */
    take(a_part[0], b_part[0], a_at, b_at, 0);
    for (int start = 0; start < k; start += BK) {
#pragma unroll
        for (int s = 0; s < PARTS; s++) {
            if (s + 1 < PARTS) {
                take(a_part[(s + 1) % 2], b_part[(s + 1) % 2], a_at + read, b_at + read, s + 1);
            } else {
                read = read + STAGE == RING ? 0 : read + STAGE;
                cp_async_wait<STAGES - 3>();
                __syncthreads(); /* the next stage is complete, and this one has been read */
                take(a_part[0], b_part[0], a_at + read, b_at + read, 0);
            }
            from.copy(ring + write, s);
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
#pragma unroll
                for (int j = 0; j < ACROSS; j++)
                    mma_bf16(sum[i][j], a_part[s % 2][i], b_part[s % 2][j]);
            }
        }
        write = write + STAGE == RING ? 0 : write + STAGE;
    }
    cp_async_wait<0>(); /* the block may not end before its copies */
#pragma unroll
    for (int i = 0; i < 2 * DOWN; i++) { /* lane l: two sums of row l / 4, two of l / 4 + 8 */
        const long r = row + warp_row + i * 8 + lane / 4;
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            const long q = col + warp_col + j * 8 + lane % 4 * 2;
            const float *two = &sum[i / 2][j][i % 2 * 2];
            if (r < m && q < n) *(float2 *)&c[r * n + q] = make_float2(two[0], two[1]);
        }
    }
}

extern "C" cudaError_t baseline_matmul_mma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                           int m, int n, int k, cudaStream_t stream)
{
    cudaError_t error =
        cudaFuncSetAttribute(matmul_mma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, RING);
    if (error != cudaSuccess) return error;
    dim3 grid((m - 1) / BM + 1, (n - 1) / BN + 1);
    matmul_mma_kernel<<<grid, THREADS, RING, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
