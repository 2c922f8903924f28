/*
 * 4f_matmul_8bit.cu: products of 8-bit numbers by TMA and wgmma: int8, and fp8 with block scales.
 *
 * The block is that of 4b: a producer asks the TMA for tiles, two groups of 128 threads multiply
 * them, a ring of mbarriers is between them, and two blocks of a cluster share the tile of b. Two
 * things are simpler. A row of 128 bytes, which is a row of the swizzle, has 128 numbers instead of
 * 64, so a stage has twice the terms. And both operands have their rows along k, as wgmma takes
 * 8-bit numbers: nothing is turned, and a stage is two copies.
 *
 *     int8   sums are ints, and exact: `multiply` of ints is 4b's
 *     fp8    e4m3 has 4 bits of exponent and 3 of fraction, so numbers share scales. A scale holds
 *            for 128 of k: one stage. Its sums begin at 0 in registers of their own (`part`), and
 *            are added to the tile's sums, which are fp32, when the stage is over, times both
 *            scales (*promotion*)
 *
 * Promotion is more than a way to scale. wgmma adds fp8 products with fewer bits than fp32 has, and
 * cuts off what is below them, always towards zero. What it cuts off is a share of the sum so far.
 * Over 128 terms it is little; over all of k it would grow with k.
 *
 * A thread has 128 sums and no room for another 128: of the tile's two halves of 128 columns, one
 * after the other is multiplied into `part`. While one group promotes, the other one multiplies.
 *
 * The cost removed: half the bytes of bf16, and half the time of a product. The costs left: the
 * tensor cores rest while a tile's sums are stored; fp8 reads a's tile twice, once for each half.
 *
 * Given: sizes, the order of the tiles, the kernel and how sums are stored; the instructions are
 * functions of hopper.h, tma.h and wgmma.h. Yours: what the producer does, both ways to multiply a
 * tile, the launch, the plain product, and who takes which.
 */
#include "413_int8/int8.h"
#include "4f_matmul_8bit/matmul_8bit.h"
#include "cuda_check.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include "tma.h"
#include "wgmma.h"
#include <stdint.h>

/* ---- fp8 on any device ----------------------------------------------------------------------- */

#define TILE 32 /* TILE x TILE elements of c a block, a thread each; a step has TILE terms */

/** What a byte of e4m3 stands for. */
__device__ static float value_of(uint8_t code)
{
    /* TODO: NaN is a case of its own. All others: a float has the same bits of exponent and
       fraction 20 bits higher up, and a bias of 127 instead of 7 (about 4 lines). */
    return {};
}

__global__ static void __launch_bounds__(TILE *TILE)
    fp8_plain_kernel(float *c, const uint8_t *a, const float *scale_a, const uint8_t *b,
                     const float *scale_b, int m, int n, int k)
{
    __shared__ float a_tile[TILE][TILE + 1], b_tile[TILE][TILE + 1];
    const long across = (n - 1L) / TILE + 1;
    const long row = blockIdx.x / across * TILE, col = blockIdx.x % across * TILE;
    const int y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    const long blocks = (k - 1L) / SCALED + 1;
    const bool inside = row + y < m && col + x < n;
    float sum = 0.0f, part = 0.0f;
    for (long start = 0; start < k; start += TILE) {
        const bool there = start + x < k;
        a_tile[y][x] = there && row + y < m ? value_of(a[(row + y) * k + start + x]) : 0.0f;
        b_tile[y][x] = there && col + y < n ? value_of(b[(col + y) * k + start + x]) : 0.0f;
        __syncthreads(); /* both tiles are complete */
        /* TODO: add this step's terms to part; at the end of a block of scales, and of k, add
           part to sum, times both scales (about 7 lines). */
        __syncthreads(); /* and read, before the next ones overwrite them */
    }
    if (inside) c[(row + y) * n + col + x] = sum;
}

/* ---- a tile on a Hopper GPU ------------------------------------------------------------------ */

#define BM        128 /* BM x BN elements of c a block */
#define BN        256
#define BK        128 /* numbers, and bytes: a row of the swizzle, and the columns of a scale */
#define STAGES    4
#define CLUSTER   2   /* blocks, one below the other */
#define THREADS   384 /* two groups that consume, one that produces */
#define A_BYTES   (BM * BK)
#define HALF      (BN / 2 * BK) /* bytes: 128 rows of b, which one block of the cluster fetches */
#define STAGE     (A_BYTES + 2 * HALF)
#define BOX_BYTES (16 * 128) /* 16 rows of 32 sums, on their way to c */
#define BOXES     16         /* two for each warp */
#define ALIGNED   1024       /* the swizzle's pattern repeats every 8 rows of 128 bytes */
#define SHARED    (STAGES * STAGE + BOXES * BOX_BYTES + ALIGNED + 2 * STAGES * 8)
#define BAND      8 /* pairs of tiles: blocks at work at the same time share rows and columns in L2 */

/** What is multiplied: a[m x k] and b[n x k]. */
struct task {
    int m, n, k;
    const float *scale_a, *scale_b; /* of e4m3; int8 has none */
};

#if ON_HOPPER

/** The stages of a block, as shared addresses; and where one of its threads is among them. */
struct ring {
    uint32_t stages, full, empty; /* [STAGES] of STAGE bytes; mbarriers, [STAGES] each */
    int stage, parity;

    __device__ __forceinline__ void next(void)
    {
        stage = (stage + 1) % STAGES;
        parity ^= stage == 0;
    }
};

/** A tile of c, by its first element. */
struct place {
    int row, col;
};

/** Pairs of tiles in bands of BAND rows, column by column. */
struct schedule {
    int down, across; /* pairs of tiles of c */

    __device__ schedule(const task &of)
        : down((of.m - 1) / (CLUSTER * BM) + 1), across((of.n - 1) / BN + 1)
    {
    }

    __device__ place tile(int number, int block) const
    {
        const int band = number / (BAND * across), within = number % (BAND * across);
        const int height = min(BAND, down - band * BAND);
        return {((band * BAND + within % height) * CLUSTER + block) * BM, within / height * BN};
    }
};

/** One thread: all stages of all tiles of this block, which is number `block` of its cluster. */
__device__ static void produce(ring r, const CUtensorMap *a, const CUtensorMap *b, int block,
                               const task &of)
{
    const schedule tiles(of);
    for (int i = blockIdx.x / CLUSTER; i < tiles.down * tiles.across; i += gridDim.x / CLUSTER) {
        const place tile = tiles.tile(i, block);
        for (int start = 0; start < of.k; start += BK, r.next()) {
            /* TODO: wait until the stage is empty (before its first phase an mbarrier says that
               parity 1 is over), announce its STAGE bytes, ask for a's 128 rows, and for both
               blocks for half of b's 256, the half with this block's number (about 6 lines). */
        }
    }
}

/** One thread of a group tells each block of the cluster that the group has read a stage. */
__device__ __forceinline__ static void give_back(const ring &r, int stage)
{
    if (threadIdx.x % 128 < CLUSTER) barrier_arrive(r.empty + stage * 8, threadIdx.x % 128);
}

/** int8: sum += this group's 64 rows of the tile times its 256 columns, over all of k. */
__device__ __forceinline__ static void multiply(int sum[32][4], ring &r, place, const task &of)
{
    const int group = threadIdx.x / 128;
    /* TODO: for each stage: wait until it is full; begin its four products, each 32 bytes
       further on in both operands, where the next 8 rows are 8 * BK bytes further on; while they
       run, give back the stage before. At the end wait for the last (about 17 lines). */
}

/** fp8: the same, each stage times its scales. */
__device__ __forceinline__ static void multiply(float sum[32][4], ring &r, place tile,
                                                const task &of)
{
    const int group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    const int row = tile.row + group * 64 + warp * 16 + lane / 4; /* and row + 8: this lane's */
    const int steps = (of.k - 1) / SCALED + 1;
    /* TODO: for each stage, load the scales of both rows and of both halves of b; none is
       beyond the last row of scales. For each half: four products into `part`, the first of which
       does not add; wait for them; add them to sum[half * 16 + j], times both scales. After the
       second half's products, before they are added, give back the stage (about 28 lines). */
}

/** Two neighbours of c. */
template <class SUM> struct __align__(8) pair
{
    SUM x, y;
};

/** A tile goes to c by the TMA: a warp stores its 16 rows, 32 columns at a time, and waits for no
 *  other warp.
 *  @param out this warp's two boxes of BOX_BYTES, by turns */
template <class SUM>
__device__ __forceinline__ static void store(const CUtensorMap *c, unsigned char *out,
                                             const SUM sum[32][4], place tile)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = lane / 4;
#pragma unroll
    for (int i = 0; i < BN / 32; i++) {
        unsigned char *box = out + i % 2 * BOX_BYTES;
        if (lane == 0) store_wait<1>(); /* the TMA has read what was in this box */
        __syncwarp();
#pragma unroll
        for (int j = 0; j < 4; j++) { /* sums of this row, and of the row 8 further down */
            const int at = row * 128 + ((2 * j + lane % 4 / 2) ^ row) * 16 + lane % 2 * 8;
            const SUM *four = sum[i * 4 + j];
            *(pair<SUM> *)&box[at] = {four[0], four[1]};
            *(pair<SUM> *)&box[at + 8 * 128] = {four[2], four[3]};
        }
        fence_async();
        __syncwarp();
        if (lane > 0) continue;
        store_tile(c, shared_address(box), tile.row + warp * 16, tile.col + i * 32);
        store_commit();
    }
}

/** A group of 128 threads: its half of all tiles of this block. */
template <class SUM>
__device__ static void consume(const CUtensorMap *c, unsigned char *out, ring r, int block,
                               const task &of)
{
    const schedule tiles(of);
    for (int i = blockIdx.x / CLUSTER; i < tiles.down * tiles.across; i += gridDim.x / CLUSTER) {
        const place tile = tiles.tile(i, block);
        SUM sum[32][4] = {};
        multiply(sum, r, tile, of);
        store(c, out, sum, tile);
    }
    store_wait_all(); /* before its shared memory goes */
}

#endif

#if TENSOR_MAPS

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CLUSTERED /* there the kernel is empty, and never launched */
#else
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#endif
/** @tparam SUM int: a and b are int8; float: they are e4m3 */
template <class SUM>
__global__ static void CLUSTERED __launch_bounds__(THREADS, 1)
    matmul_kernel(const __grid_constant__ CUtensorMap c, const __grid_constant__ CUtensorMap a,
                  const __grid_constant__ CUtensorMap b, const task of)
{
#if ON_HOPPER
    extern __shared__ unsigned char shared[];
    unsigned char *boxes = shared + (-shared_address(shared)) % ALIGNED;
    const int block = blockIdx.x % CLUSTER, group = threadIdx.x / 128;
    ring r = {};
    r.stages = shared_address(boxes) + BOXES * BOX_BYTES;
    r.full = r.stages + STAGES * STAGE, r.empty = r.full + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(r.full + i * 8, 1);            /* the producer, and the bytes */
            barrier_init(r.empty + i * 8, 2 * CLUSTER); /* two groups of each block */
        }
        fence_barriers();
    }
    cluster_sync(); /* no thread arrives at an mbarrier that is not there */
    if (group == 2) {
        give_registers<40>();
        if (threadIdx.x % 128 == 0) produce(r, &a, &b, block, of);
    } else {
        take_registers<232>();
        consume<SUM>(&c, boxes + threadIdx.x / 32 * 2 * BOX_BYTES, r, block, of);
    }
    cluster_sync(); /* a block's shared memory stays until the other one no longer writes there */
#endif
}

/** Does the kernel take this? */
static bool is_for_hopper(const void *c, const void *a, const void *b, const task &of)
{
    return hopper_multiprocessors() >= CLUSTER && of.k > 0 && of.k % 16 == 0 && of.n % 4 == 0 &&
           ((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) % 16 == 0;
}

template <class SUM>
static cudaError_t launch(SUM *c, const void *a, const void *b, const task &of, cudaStream_t stream)
{
    /* TODO: the tensor maps of a and b, in boxes of 128 rows and BK columns of bytes, and of c,
       in boxes of 16 rows and 32 columns of words, all swizzled; SHARED bytes for the kernel; as
       many whole clusters as there is room for (about 10 lines). */
    NOT_IMPLEMENTED(c, a, b, of, stream);
    return cudaGetLastError();
}

#else /* another compiler knows the ways of any device alone */

static bool is_for_hopper(const void *, const void *, const void *, const task &)
{
    return false;
}

template <class SUM>
static cudaError_t launch(SUM *, const void *, const void *, const task &, cudaStream_t)
{
    return cudaErrorNotSupported;
}

#endif

/* ---- which of them --------------------------------------------------------------------------- */

cudaError_t matmul_s8_wgmma(int32_t *c, const int8_t *a, const int8_t *b, int m, int n, int k,
                            cudaStream_t stream)
{
    /* TODO: the kernel, or gemm_s8s8s32; nothing for an empty c (about 4 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

cudaError_t matmul_fp8_blocks(float *c, const uint8_t *a, const float *scale_a, const uint8_t *b,
                              const float *scale_b, int m, int n, int k, cudaStream_t stream)
{
    /* TODO: the kernel, or the plain one with a block for each TILE x TILE elements (about 6
       lines). */
    NOT_IMPLEMENTED(c, a, scale_a, b, scale_b, m, n, k, stream);
    return cudaGetLastError();
}
