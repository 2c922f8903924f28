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
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include "tma.h"
#include "wgmma.h"
#include <stdint.h>

/* ---- fp8 on any device ----------------------------------------------------------------------- */

#define TILE 32 /* TILE x TILE elements of c a block, a thread each; a step has TILE terms */

/** What a byte of e4m3 stands for. */
__device__ static float value_of(uint8_t code)
{
    /* SOLUTION: NaN is a case of its own. All others: a float has the same bits of exponent and
       fraction 20 bits higher up, and a bias of 127 instead of 7 (about 4 lines). */
    const unsigned size = code & 0x7f;
    if (size == 0x7f) return __int_as_float(0x7fffffff);
    const float x = __uint_as_float(size << 20) * 0x1p120f;
    return code & 0x80 ? -x : x;
    /* END SOLUTION */
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
        /* SOLUTION: add this step's terms to part; at the end of a block of scales, and of k, add
           part to sum, times both scales (about 7 lines). */
        for (int l = 0; l < TILE; l++) part += a_tile[y][l] * b_tile[x][l];
        if (inside && ((start + TILE) % SCALED == 0 || start + TILE >= k)) {
            const long t = start / SCALED;
            sum +=
                part * (scale_a[(row + y) * blocks + t] * scale_b[(col + x) / SCALED * blocks + t]);
            part = 0.0f;
        }
        /* END SOLUTION */
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
            /* SOLUTION: wait until the stage is empty (before its first phase an mbarrier says that
               parity 1 is over), announce its STAGE bytes, ask for a's 128 rows, and for both
               blocks for half of b's 256, the half with this block's number (about 6 lines). */
            const uint32_t to = r.stages + r.stage * STAGE, full = r.full + r.stage * 8;
            barrier_wait(r.empty + r.stage * 8, r.parity ^ 1);
            barrier_expect(full, STAGE);
            copy_tile(to, a, full, tile.row, start);
            copy_tile_to_blocks(to + A_BYTES + block * HALF, b, full, tile.col + block * (BN / 2),
                                start, 3);
            /* END SOLUTION */
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
    /* SOLUTION: for each stage: wait until it is full; begin its four products, each 32 bytes
       further on in both operands, where the next 8 rows are 8 * BK bytes further on; while they
       run, give back the stage before. At the end wait for the last (about 17 lines). */
    int before = -1;
    for (int start = 0; start < of.k; start += BK, r.next()) {
        const uint32_t stage = r.stages + r.stage * STAGE;
        const uint64_t a = descriptor(stage + group * 64 * BK, 16, 8 * BK);
        const uint64_t b = descriptor(stage + A_BYTES, 16, 8 * BK);
        barrier_wait(r.full + r.stage * 8, r.parity);
        fence_sums();
#pragma unroll
        for (int s = 0; s < BK / 32; s++)
            wgmma_s8_n256(sum, a + s * (32 >> 4), b + s * (32 >> 4), true);
        commit_products();
        wait_for_products<1>(); /* the stage before is read, and this one at work */
        if (before >= 0) give_back(r, before);
        before = r.stage;
    }
    wait_for_products<0>();
    give_back(r, before);
    /* END SOLUTION */
}

/** fp8: the same, each stage times its scales. */
__device__ __forceinline__ static void multiply(float sum[32][4], ring &r, place tile,
                                                const task &of)
{
    const int group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    const int row = tile.row + group * 64 + warp * 16 + lane / 4; /* and row + 8: this lane's */
    const int steps = (of.k - 1) / SCALED + 1;
    /* SOLUTION: for each stage, load the scales of both rows and of both halves of b; none is
       beyond the last row of scales. For each half: four products into `part`, the first of which
       does not add; wait for them; add them to sum[half * 16 + j], times both scales. After the
       second half's products, before they are added, give back the stage (about 28 lines). */
    const float *upper = of.scale_a + (size_t)min(row, of.m - 1) * steps;
    const float *lower = of.scale_a + (size_t)min(row + 8, of.m - 1) * steps;
    const float *left = of.scale_b + (size_t)(tile.col / SCALED) * steps;
    const float *right = tile.col + SCALED < of.n ? left + steps : left;
    for (int t = 0; t < steps; t++, r.next()) {
        const float up = upper[t], low = lower[t], of_b[2] = {left[t], right[t]};
        const uint32_t stage = r.stages + r.stage * STAGE;
        const uint64_t a = descriptor(stage + group * 64 * BK, 16, 8 * BK);
        const uint64_t b = descriptor(stage + A_BYTES, 16, 8 * BK);
        barrier_wait(r.full + r.stage * 8, r.parity);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float part[16][4];
            fence_sums();
#pragma unroll
            for (int s = 0; s < BK / 32; s++)
                wgmma_e4m3_n128(part, a + s * (32 >> 4), b + (half * HALF + s * 32 >> 4), s > 0);
            commit_products();
            wait_for_products<0>(); /* meanwhile the other group multiplies or promotes */
            if (half == 1) give_back(r, r.stage);
#pragma unroll
            for (int j = 0; j < 16; j++) {
                float *to = sum[half * 16 + j];
                to[0] += up * of_b[half] * part[j][0], to[1] += up * of_b[half] * part[j][1];
                to[2] += low * of_b[half] * part[j][2], to[3] += low * of_b[half] * part[j][3];
            }
        }
    }
    /* END SOLUTION */
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
    /* SOLUTION: the tensor maps of a and b, in boxes of 128 rows and BK columns of bytes, and of c,
       in boxes of 16 rows and 32 columns of words, all swizzled; SHARED bytes for the kernel; as
       many whole clusters as there is room for (about 10 lines). */
    const CUtensorMapDataType byte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    const CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    const int blocks = hopper_multiprocessors() / CLUSTER * CLUSTER;
    CUtensorMap a_map, b_map, c_map;
    CUDA_CHECK(describe(&a_map, byte, a, of.m, of.k, BM, BK, swizzle));
    CUDA_CHECK(describe(&b_map, byte, b, of.n, of.k, BN / 2, BK, swizzle));
    CUDA_CHECK(describe(&c_map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, c, of.m, of.n, 16, 32, swizzle));
    CUDA_CHECK(cudaFuncSetAttribute(matmul_kernel<SUM>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    SHARED));
    matmul_kernel<SUM><<<blocks, THREADS, SHARED, stream>>>(c_map, a_map, b_map, of);
    /* END SOLUTION */
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
    /* SOLUTION: the kernel, or gemm_s8s8s32; nothing for an empty c (about 4 lines). */
    if (m == 0 || n == 0) return cudaSuccess; /* an empty grid is a launch error */
    const task of = {m, n, k, NULL, NULL};
    if (is_for_hopper(c, a, b, of)) return launch<int>(c, a, b, of, stream);
    CUDA_CHECK(gemm_s8s8s32(c, a, b, m, n, k, stream));
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t matmul_fp8_blocks(float *c, const uint8_t *a, const float *scale_a, const uint8_t *b,
                              const float *scale_b, int m, int n, int k, cudaStream_t stream)
{
    /* SOLUTION: the kernel, or the plain one with a block for each TILE x TILE elements (about 6
       lines). */
    if (m == 0 || n == 0) return cudaSuccess;
    const task of = {m, n, k, scale_a, scale_b};
    if (is_for_hopper(c, a, b, of)) return launch<float>(c, a, b, of, stream);
    const long blocks = ((m - 1L) / TILE + 1) * ((n - 1L) / TILE + 1);
    fp8_plain_kernel<<<(unsigned)blocks, TILE * TILE, 0, stream>>>(c, a, scale_a, b, scale_b, m, n,
                                                                   k);
    /* END SOLUTION */
    return cudaGetLastError();
}
