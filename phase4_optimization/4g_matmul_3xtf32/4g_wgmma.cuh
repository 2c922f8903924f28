/*
 * 4g_wgmma.cuh: the three products of TF32 by a Hopper GPU's units, the TMA and wgmma.
 *
 * wgmma multiplies TF32 only if the rows of both operands run along k. Those of a do, those of b do
 * not, and no descriptor turns numbers of 4 bytes. But wgmma takes its first operand from registers
 * too, which threads fill as they like. So the kernel computes c^T = b^T a^T:
 *
 *     first operand    b^T, 64 columns of b    read word by word from b's tile, split in registers
 *     second operand   a^T, 128 rows of a      in shared memory, and so is its lo
 *
 * The second hi costs nothing: tensor cores ignore the bits that TF32 does not have. So hi is the
 * number itself, cut off instead of rounded. lo is the number minus what they see of it.
 *
 * A block has three groups of 128 threads. One thread of the last one asks the TMA for tiles, into
 * a ring of stages as in 4b, and the whole group splits: next to a's tile it writes the tile of its
 * los. Each of the two others multiplies 128 columns of b with 128 rows of a, in two halves of 64
 * columns: a half's stage begins at 0 in `part`, and an ordinary addition takes it to the sums.
 * Meanwhile the other group's products are at work.
 *
 *     stage    +-- a 128 x 32 --+-- lo of a --+-- b: 8 boxes of 32 x 32 --+
 *                 TMA               threads       TMA
 *     full     the TMA has written both tiles       the splitting group waits
 *     split    so have the threads their tile       groups that multiply wait
 *     empty    both groups have multiplied          the TMA's thread waits
 *
 * The cost removed: of the splitting, all that was done twice; operands of `mma` that pass through
 * registers for each warp. The cost left: stores of single words; the last round, in which not all
 * multiprocessors have a tile.
 */
#ifndef WGMMA_CUH
#define WGMMA_CUH

#include "tma.h"
#include "wgmma.h"
#include <stdint.h>

#if TENSOR_MAPS

#define W_BM       128 /* W_BM x W_BN elements of c per block */
#define W_BN       256
#define W_BK       32 /* 128 bytes: a row of the swizzle */
#define W_STAGES   3
#define W_THREADS  384
#define W_A_BYTES  (W_BM * W_BK * 4)
#define W_BOX      32 /* columns of b in a box: 128 bytes */
#define W_BOX_SIZE (W_BK * W_BOX * 4)
#define W_LOADED   (W_A_BYTES + W_BN / W_BOX * W_BOX_SIZE)
#define W_STAGE    (W_LOADED + W_A_BYTES)
#define W_BARRIERS (W_STAGES * W_STAGE)
#define W_SHARED   (W_BARRIERS + 3 * W_STAGES * 8)
#define W_BAND     8 /* tiles: blocks at work at the same time share rows and columns in L2 */

#if ON_HOPPER

/** A stage of the ring, in which round. */
struct place {
    unsigned char *ring;
    int stage, parity; /* the parity flips each time round */

    __device__ float *a() const /* [W_BM x W_BK], swizzled */
    {
        return (float *)(ring + stage * W_STAGE);
    }
    __device__ float *a_lo() const /* the same */
    {
        return a() + W_A_BYTES / 4;
    }
    __device__ float *b() const /* boxes of [W_BK x W_BOX], swizzled */
    {
        return a_lo() + W_A_BYTES / 4;
    }
    __device__ uint32_t full() const
    {
        return shared_address(ring) + W_BARRIERS + stage * 8;
    }
    __device__ uint32_t split() const
    {
        return full() + W_STAGES * 8;
    }
    __device__ uint32_t empty() const
    {
        return split() + W_STAGES * 8;
    }
    __device__ void next()
    {
        stage = (stage + 1) % W_STAGES;
        parity ^= stage == 0;
    }
};

__device__ static void begin(place at)
{
    for (at.stage = 0; at.stage < W_STAGES; at.stage++) {
        barrier_init(at.full(), 1);
        barrier_init(at.split(), 128);
        barrier_init(at.empty(), 2);
    }
    fence_barriers();
}

/* ---- the group that fetches and splits ------------------------------------------------------- */

/** By one thread: fetch a's rows from `row` on and b's columns from `col` on, k from `start` on. */
__device__ __forceinline__ static void fetch(const place &at, const CUtensorMap *a,
                                             const CUtensorMap *b, int row, int col, int start)
{
    /* TODO: wait until the stage is empty (before its first phase parity 1 counts as over),
       expect the bytes of both tiles, ask for a's and for each box of b's (about 5 lines). */
}

/** What TF32 has no bits for. */
__device__ __forceinline__ static float lo_of(float x)
{
    /* TODO: cut off 13 bits, subtract: exact (about 1 line). */
    return {};
}

/** By 128 threads: the tile of a's los. */
__device__ __forceinline__ static void split_tile(const place &at)
{
    /* TODO: wait until the stage is full. Each lo has the place of its number, so the swizzle
       does not matter: four at a time. wgmma must see them before the thread arrives (about 8
       lines). */
}

__device__ static void fetch_and_split(place at, const CUtensorMap *a, const CUtensorMap *b,
                                       int row, int col, int k)
{
    place ahead = at;
    int asked = 0; /* k of which the tiles were asked for */
    const auto ask = [&](int until) {
        for (; asked < min(until, k) && threadIdx.x % 128 == 0; asked += W_BK, ahead.next())
            fetch(ahead, a, b, row, col, asked);
    };
    ask((W_STAGES - 1) * W_BK);
    for (int start = 0; start < k; start += W_BK, at.next()) {
        split_tile(at);
        ask(start + W_STAGES * W_BK);
    }
}

/* ---- the groups that multiply ---------------------------------------------------------------- */

/** Of the box of 32 columns of b that a warp has, this lane's column in row `slot` % 2 * 8 + lane /
 *  4 of half `slot` / 2's fragment. A warp reads columns 16 apart, four of them side by side, in
 *  four rows: with the swizzle those are 32 different banks. */
__device__ __forceinline__ static int column(int slot)
{
    const int lane = threadIdx.x % 32;
    return lane / 16 * 16 + slot * 4 + lane / 4 % 4;
}

/** The numbers of one half of a stage, of 64 columns of b: a fragment of b^T for each 8 of k, and
 *  the fragment's los. tensor_core.h draws it, as operand a. */
__device__ __forceinline__ static void take_half(uint32_t x[W_BK / 8][4], uint32_t lo[W_BK / 8][4],
                                                 const place &at, int half)
{
    const float *box = at.b() + threadIdx.x / 32 * W_BK * W_BOX; /* of this warp */
    /* TODO: word i of the fragment is of column(half * 2 + i % 2), and of k = lane % 4 or, from
       word 2 on, 4 more. 16-byte chunk c of the box's row k is at place c ^ k % 8 (about 7
       lines). */
}

/** part[64 x W_BM] = a half's columns of b times the rows of a, over a stage of k. */
__device__ __forceinline__ static void multiply_half(float part[W_BM / 8][4], const place &at,
                                                     const uint32_t x[W_BK / 8][4],
                                                     const uint32_t lo[W_BK / 8][4])
{
    const uint64_t a = descriptor(shared_address(at.a()), 16, 1024);
    const uint64_t a_lo = descriptor(shared_address(at.a_lo()), 16, 1024);
    /* TODO: between fence and commit, the three products that count, the small ones first; the
       next 8 of k are 32 bytes further on. Wait for them (about 9 lines). */
}

/** All of k: sum[2 halves x 64 columns of b x W_BM]. */
__device__ __forceinline__ static void multiply_tile(float sum[2][W_BM / 8][4], place at, int k)
{
    for (int start = 0; start < k; start += W_BK, at.next()) {
        barrier_wait(at.split(), at.parity);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            /* TODO: take, multiply, add part to the half's sums. One thread of the group gives
               the stage back after the second half's products (about 7 lines). */
        }
    }
}

/** @param row, col of the block's tile */
__device__ __forceinline__ static void store(float *c, const float sum[2][W_BM / 8][4], int row,
                                             int col, int m, int n)
{
    row += threadIdx.x % 4 * 2, col += threadIdx.x / 32 * W_BOX;
#pragma unroll
    for (int i = 0; i < 2 * W_BM / 2; i++) {
        const int half = i / (W_BM / 2), j = i / 4 % (W_BM / 8), r = row + 8 * j + i % 2;
        const int q = col + column(half * 2 + i / 2 % 2);
        if (r < m && q < n) c[(size_t)r * n + q] = sum[half][j][i % 4];
    }
}

#endif

/** c = a b, a tile of W_BM x W_BN elements per block, in bands of W_BAND rows of tiles, column by
 *  column. */
__global__ static void __launch_bounds__(W_THREADS, 1)
    wgmma_kernel(float *c, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b, int m, int n, int k)
{
#if ON_HOPPER
    extern __shared__ __align__(1024) unsigned char shared[]; /* the swizzle repeats so */
    const place first = {shared, 0, 0};
    const int down = (m - 1) / W_BM + 1, across = (n - 1) / W_BN + 1;
    const int band = blockIdx.x / (W_BAND * across), within = blockIdx.x % (W_BAND * across);
    const int height = min(W_BAND, down - band * W_BAND);
    const int row = (band * W_BAND + within % height) * W_BM, col = within / height * W_BN;
    if (threadIdx.x == 0) begin(first);
    __syncthreads();
    if (threadIdx.x / 128 == 2) {
        give_registers<40>();
        fetch_and_split(first, &a, &b, row, col, k);
    } else {
        take_registers<232>();
        float sum[2][W_BM / 8][4] = {};
        multiply_tile(sum, first, k);
        store(c, sum, row, col, m, n);
    }
#endif
}

/** How many tiles of wgmma_kernel c has. */
static long wgmma_tiles(int m, int n)
{
    return ((m - 1L) / W_BM + 1) * ((n - 1L) / W_BN + 1);
}

static cudaError_t launch_wgmma(float *c, const float *a, const float *b, int m, int n, int k,
                                cudaStream_t stream)
{
    const CUtensorMapDataType f32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    const CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    CUtensorMap a_map, b_map;
    cudaError_t error = describe(&a_map, f32, a, m, k, W_BM, W_BK, swizzle);
    if (error == cudaSuccess) error = describe(&b_map, f32, b, k, n, W_BK, W_BOX, swizzle);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(wgmma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     W_SHARED);
    if (error != cudaSuccess) return error;
    wgmma_kernel<<<(unsigned)wgmma_tiles(m, n), W_THREADS, W_SHARED, stream>>>(c, a_map, b_map, m,
                                                                               n, k);
    return cudaGetLastError();
}

#endif

#endif
