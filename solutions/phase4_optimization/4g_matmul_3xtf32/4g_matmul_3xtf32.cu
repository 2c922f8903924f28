/*
 * 4g_matmul_3xtf32.cu: fp32's accuracy from tensor cores that keep 11 bits.
 *
 * The idea: TF32 is fp32 with a mantissa of 11 bits instead of 24, and the tensor cores multiply it
 * 8 times as fast as the other cores multiply fp32. A number is the sum of two such: hi, the number
 * rounded to 11 bits, and lo, the remainder. So
 *
 *     a b = hi_a hi_b + hi_a lo_b + lo_a hi_b + (lo_a lo_b, which is below fp32's own error)
 *
 * Three products of an eighth of the time each: at most 2.7 times as fast as fp32 could be.
 *
 * Two things keep the accuracy. The tensor core adds what it multiplies in fp32, but cuts off where
 * it should round, always towards zero; over thousands of terms that drifts. So it sums only 32
 * terms, and an fp32 addition adds each such part to the sum. And the small products go first.
 *
 * The ring, the swizzle and the copies are 4a's. `mma` for tf32 takes b column by column, and
 * ldmatrix cannot transpose words of 4 bytes: b's fragments are read word by word, and its rows are
 * 8 words longer, so that a warp's 4 rows of 8 columns lie in different banks.
 *
 * Without rows at multiples of 16 bytes, or without enough shared memory, 401 does the work.
 * Infinities and NaN spread as NaN, because the lo of an infinity is NaN; so do numbers from
 * 3.4026e38 on, whose hi is infinite.
 *
 * The cost removed: fp32's multiply-adds on the slow cores. The cost left: splitting.
 * It takes four instructions for each number of a fragment, again in every warp that reads the
 * number. And the ceiling of `mma.sync` that 4a meets. On a Hopper GPU, 4g_wgmma.cuh removes both:
 * it takes all products whose tiles are enough for half of the multiprocessors.
 */
#include "401_matmul_vectorized/matmul_vectorized.h"
#include "4g_matmul_3xtf32/matmul_3xtf32.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "4g_wgmma.cuh"
#include "not_implemented.h"
#include "tensor_core.h"
#include <stdint.h>

#define BM      128 /* BM x BN elements of c per block */
#define BN      128
#define BK      32 /* 128 bytes of a row of a, in 8 chunks of 16 */
#define STAGES  4
#define THREADS 256 /* 8 warps: 2 down, 4 across */
#define DOWN    4   /* products of 16 x 8 that a warp has, down and across */
#define ACROSS  4
#define PITCH   (BN + 8) /* floats, of b's tile */
#define A_BYTES (BM * BK * 4)
#define STAGE   (A_BYTES + BK * PITCH * 4)
#define RING    (STAGES * STAGE)
#define PARTS   (BK / 8) /* steps of `mma` a tile; each copies a part of another one */

/** x, the bits of COUNT floats, becomes hi, rounded to 11 bits; lo becomes the remainder. lo need
 *  not be rounded: tensor cores drop what they have no bits for. */
template <int COUNT> __device__ __forceinline__ static void split(uint32_t *x, uint32_t *lo)
{
    /* SOLUTION: round the bits of each x; lo = x - hi, in fp32, is exact (about 6 lines). */
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const float whole = __uint_as_float(x[i]);
        x[i] = (x[i] + 0x1000) & ~UINT32_C(0x1fff);
        lo[i] = __float_as_uint(whole - __uint_as_float(x[i]));
    }
    /* END SOLUTION */
}

/** What a thread copies of each stage, as in 4a: its chunk of every A_STEPth row of a, with the
 *  swizzle, and of every B_STEPth row of b, whose rows are PITCH long. */
struct source {
    enum {
        A_STEP = THREADS / (BK / 4), /* rows from one of a thread's chunks to its next */
        B_STEP = THREADS / (BN / 4),
        A_COPIES = BM / A_STEP / PARTS, /* chunks per part */
        B_COPIES = BK / B_STEP / PARTS
    };
    const float *a, *b;                 /* its first chunks in the next stage */
    long a_pitch, b_pitch;              /* floats, from one of its chunks to the next */
    int a_rows, a_cols, b_rows, b_cols; /* that are left from there to the matrix's ends */
    uint32_t to_a, to_b;                /* its first places in a stage */

    __device__ __forceinline__ source(const float *all_a, const float *all_b, long row, long col,
                                      int m, int n, int k)
    {
        const int r = threadIdx.x / (BK / 4), r_chunk = threadIdx.x % (BK / 4);
        const int s = threadIdx.x / (BN / 4), s_chunk = threadIdx.x % (BN / 4);
        a = all_a + (row + r) * k + r_chunk * 4, b = all_b + (long)s * n + col + s_chunk * 4;
        a_pitch = (long)A_STEP * k, b_pitch = (long)B_STEP * n;
        a_rows = (int)(m - row - r), a_cols = k - r_chunk * 4;
        b_rows = k - s, b_cols = (int)(n - col - s_chunk * 4);
        to_a = r * BK * 4 + (r_chunk ^ r % 8) * 16;
        to_b = A_BYTES + (s * PITCH + s_chunk * 4) * 4;
    }

    /** @param stage where it begins in shared memory
     *  @param part  0 .. PARTS - 1, in this order; after the last one the stage is a group, and the
     *               members are those of the next stage */
    __device__ __forceinline__ void copy(uint32_t stage, int part)
    {
#pragma unroll
        for (int i = part * A_COPIES; i < (part + 1) * A_COPIES; i++) {
            cp_async_cg(stage + to_a + i * A_STEP * BK * 4, a + i * a_pitch,
                        i * A_STEP < a_rows && a_cols > 0);
        }
#pragma unroll
        for (int i = part * B_COPIES; i < (part + 1) * B_COPIES; i++) {
            cp_async_cg(stage + to_b + i * B_STEP * PITCH * 4, b + i * b_pitch,
                        i * B_STEP < b_rows && b_cols > 0);
        }
        if (part < PARTS - 1) return;
        cp_async_commit();
        a += BK, b += BK / B_STEP * b_pitch, a_cols -= BK, b_rows -= BK;
    }
};

/** The numbers of step s of a tile, 8 along k: DOWN fragments of a, ACROSS of b.
 *  @param a_at where this lane's row of the warp's first matrices of a lies at s = 0
 *  @param b_at its first word of b there */
__device__ __forceinline__ static void take(uint32_t a[DOWN][4], uint32_t b[ACROSS][2],
                                            uint32_t a_at, const uint32_t *b_at, int s)
{
    /* SOLUTION: a by ldmatrix, as in 4a; b word by word: rows lane % 4 and 4 more, column lane / 4
       of each fragment (about 7 lines). */
#pragma unroll
    for (int i = 0; i < DOWN; i++) ldmatrix(a[i], (a_at ^ s * 32) + i * 16 * BK * 4);
#pragma unroll
    for (int j = 0; j < ACROSS; j++) {
        b[j][0] = b_at[s * 8 * PITCH + j * 8];
        b[j][1] = b_at[(s * 8 + 4) * PITCH + j * 8];
    }
    /* END SOLUTION */
}

/** part += a b; a and b are replaced by their hi. A product waits for the one before on the same
 *  sum: so one of each sum, in turn. */
__device__ __forceinline__ static void multiply(float part[DOWN][ACROSS][4], uint32_t a[DOWN][4],
                                                uint32_t b[ACROSS][2])
{
    uint32_t a_lo[DOWN][4], b_lo[ACROSS][2];
    /* SOLUTION: split both; then the three products that count, each of all sums, by mma_tf32
       (about 11 lines). */
    split<DOWN * 4>(a[0], a_lo[0]);
    split<ACROSS * 2>(b[0], b_lo[0]);
#pragma unroll
    for (int ij = 0; ij < DOWN * ACROSS; ij++)
        mma_tf32(part[ij / ACROSS][ij % ACROSS], a_lo[ij / ACROSS], b[ij % ACROSS]);
#pragma unroll
    for (int ij = 0; ij < DOWN * ACROSS; ij++)
        mma_tf32(part[ij / ACROSS][ij % ACROSS], a[ij / ACROSS], b_lo[ij % ACROSS]);
#pragma unroll
    for (int ij = 0; ij < DOWN * ACROSS; ij++)
        mma_tf32(part[ij / ACROSS][ij % ACROSS], a[ij / ACROSS], b[ij % ACROSS]);
    /* END SOLUTION */
}

/** c = a * b, a tile of BM x BN elements a block. Rows of a and b begin at multiples of 16 bytes,
 *  rows of c at multiples of 8. */
__global__ static void __launch_bounds__(THREADS, 1)
    matmul_3xtf32_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = shared_address(shared);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / 4 * DOWN * 16, warp_col = warp % 4 * ACROSS * 8;
    const long row = (long)blockIdx.x * BM, col = (long)blockIdx.y * BN;
    const uint32_t a_at = ring + (warp_row + lane % 16) * BK * 4 + (lane / 16 ^ lane % 8) * 16;
    const int b_at = A_BYTES + (lane % 4 * PITCH + warp_col + lane / 4) * 4;
    source from(a, b, row, col, m, n, k);
    uint32_t a_part[2][DOWN][4], b_part[2][ACROSS][2], read = 0, write = (STAGES - 1) * STAGE;
    float sum[DOWN][ACROSS][4] = {};

    /* SOLUTION: ask for all stages but one, and take the first numbers. Then, for each tile, PARTS
       steps: copy a part, take the numbers of the next step, which may be in the next stage, and
       multiply into a part of the sum that an ordinary addition takes over. Store two sums at a
       time (about 38 lines). */
    for (int i = 0; i < STAGES - 1; i++) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) from.copy(ring + i * STAGE, part);
    }
    cp_async_wait<STAGES - 2>();
    __syncthreads(); /* the first stage is complete */
    take(a_part[0], b_part[0], a_at, (const uint32_t *)(shared + b_at), 0);
    for (int start = 0; start < k; start += BK) {
        float part[DOWN][ACROSS][4] = {};
#pragma unroll
        for (int s = 0; s < PARTS; s++) {
            from.copy(ring + write, s);
            if (s == PARTS - 1) {
                read = read + STAGE == RING ? 0 : read + STAGE;
                cp_async_wait<STAGES - 2>();
                __syncthreads(); /* the next stage is complete, and this one has been read */
            }
            take(a_part[(s + 1) % 2], b_part[(s + 1) % 2], a_at + read,
                 (const uint32_t *)(shared + b_at + read), (s + 1) % PARTS);
            multiply(part, a_part[s % 2], b_part[s % 2]);
        }
#pragma unroll
        for (int i = 0; i < DOWN * ACROSS * 4; i++) (&sum[0][0][0])[i] += (&part[0][0][0])[i];
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
    /* END SOLUTION */
}

/** Does this device have that much shared memory for a block? */
static bool fits(int bytes)
{
    int device, most;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
               cudaSuccess &&
           bytes <= most;
}

cudaError_t matmul_3xtf32(float *c, const float *a, const float *b, int m, int n, int k,
                          cudaStream_t stream)
{
    /* SOLUTION: nothing for an empty c; without aligned rows, or without room, call
       matmul_vectorized. On a Hopper GPU, launch_wgmma if its larger tiles are enough for half of
       the multiprocessors. Else one block per tile of c, with more shared memory than the default
       (about 14 lines). */
    if (m == 0 || n == 0) return cudaSuccess; /* an empty grid is a launch error */
    if (((uintptr_t)a | (uintptr_t)b) % 16 != 0 || (uintptr_t)c % 8 != 0 || k % 4 || n % 4 ||
        !fits(RING))
        return matmul_vectorized(c, a, b, m, n, k, stream);
#if TENSOR_MAPS
    const int multiprocessors = hopper_multiprocessors();
    if (multiprocessors > 0 && k > 0 && wgmma_tiles(m, n) >= multiprocessors / 2)
        return launch_wgmma(c, a, b, m, n, k, stream);
#endif
    cudaError_t error = cudaFuncSetAttribute(matmul_3xtf32_kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, RING);
    if (error != cudaSuccess) return error;
    dim3 grid((m - 1) / BM + 1, (n - 1) / BN + 1);
    matmul_3xtf32_kernel<<<grid, THREADS, RING, stream>>>(c, a, b, m, n, k);
    /* END SOLUTION */
    return cudaGetLastError();
}
