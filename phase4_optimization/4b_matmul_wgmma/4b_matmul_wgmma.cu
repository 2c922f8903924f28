/*
 * 4b_matmul_wgmma.cu: bf16 as fast as a Hopper GPU can: TMA brings tiles, wgmma reads them there.
 *
 * 4a's warps do everything: compute addresses, copy, load fragments, multiply. Here each does one
 * thing. A block has three groups of 128 threads.
 *
 * - The *producer* (one thread of group 2) asks the TMA, a unit that copies whole tiles: "the tile
 *   at row 128, column 64 of this matrix, please". The host describes the matrix once, in a tensor
 *   map: its address, sizes, pitch, the tile's size, and the swizzle. Beyond the matrix's ends the
 *   TMA writes zeros.
 * - The *consumers* (groups 0 and 1) multiply 64 x 256 sums each: `wgmma` takes both operands from
 *   shared memory, named by a descriptor, and runs while the threads go on.
 *
 * They meet at *mbarriers*, counters in shared memory, two per stage of the ring. `full` counts the
 * bytes that the TMA has written, `empty` the groups that have read. A thread that waits names the
 * parity of the phase that must be over. So a ring of STAGES needs one bit that flips each time
 * round, and no __syncthreads.
 *
 * Two blocks form a *cluster*. They compute tiles below each other, so both need the same tile of
 * b: each fetches half of it, and the TMA writes it into both shared memories (multicast). So a
 * stage is empty only when the consumers of both blocks have read it.
 *
 * Blocks are *persistent*: each takes tile after tile. So the producer fetches the next tile while
 * the consumers still store this one.
 *
 * And they *hold* sums. A thread has registers for a tile's sums and HELD eighths of another's.
 * When a tile is done, it stores the first slices of its sums, and moves the others to those
 * registers. It stores them while the tensor cores multiply the next tile, a slice per stage. Each
 * slice goes through shared memory, from where the TMA takes it: the threads do not wait for global
 * memory.
 *
 * Only for compute capability 9.0. Other GPUs, and rows that are not multiples of 16 bytes, go to
 * 402.
 *
 * The cost removed: registers and issue slots for operands, most of the time that stores take. The
 * cost left: the first slices of a tile, and power. The GPU lowers its clock to stay below 700 W.
 */
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4b_matmul_wgmma/matmul_wgmma.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include "tma.h"
#include "wgmma.h"
#include <cuda_bf16.h>
#include <stdint.h>

#define BM        128 /* BM x BN elements of c per block */
#define BN        256
#define BK        64 /* 128 bytes: a row of the swizzle */
#define STAGES    4
#define CLUSTER   2   /* blocks, one below the other */
#define THREADS   384 /* two groups that consume, one that produces */
#define BOX       64  /* columns of b that one copy brings: 128 bytes */
#define BOX_BYTES (BK * BOX * 2)
#define A_BYTES   (BM * BK * 2)
#define B_BYTES   (BK * BN * 2)
#define STAGE     (A_BYTES + B_BYTES)
#define SLICE     32 /* columns of c that one store takes, of 16 rows: 128 bytes */
#define SLICES    (BN / SLICE)
#define HELD      6 /* slices of a tile that are stored while the next tile is multiplied */
#define OUT_BYTES (16 * SLICE * 4)
#define OUTS      2 /* places per warp, through which slices go */
#define BARRIERS  (STAGES * STAGE + 8 * OUTS * OUT_BYTES)
#define SHARED    (BARRIERS + 2 * STAGES * 8)
#define BAND      8 /* pairs of tiles: blocks at work at the same time share rows and columns in L2 */

#if TENSOR_MAPS

/** Which tiles of c a cluster computes: pairs in bands of BAND rows, column by column. */
struct schedule {
    int down, across; /* pairs of tiles of c */

    __host__ __device__ schedule(int m, int n)
        : down((m - 1) / (CLUSTER * BM) + 1), across((n - 1) / BN + 1)
    {
    }

    /** The corner of the tile of this block in the cluster's pair `number`. */
    __device__ void find(int number, int block, int *row, int *col) const
    {
        /* TODO: the last band may be lower (about 4 lines). */
    }
};

#endif

#if ON_HOPPER

/** A stage of the ring, in which round: shared addresses. */
struct place {
    uint32_t shared;
    int stage, parity; /* the parity flips each time round */

    /* a's tile, [BM x BK]; b's tile, [BN / BOX boxes x BK x BOX]. */
    __device__ uint32_t a() const
    {
        return shared + stage * STAGE;
    }
    __device__ uint32_t b() const
    {
        return a() + A_BYTES;
    }
    __device__ uint32_t full() const
    {
        return shared + BARRIERS + stage * 8;
    }
    __device__ uint32_t empty() const
    {
        return full() + STAGES * 8;
    }
    __device__ void next()
    {
        stage = (stage + 1) % STAGES;
        parity ^= stage == 0;
    }
};

/** By one thread: fill the mbarriers of all stages with what they wait for. */
__device__ static void begin(place at)
{
    /* TODO: full: the producer. empty: two groups of each block (about 5 lines). */
}

/** By one thread: fetch the tiles at `at`: rows of a from `row` on, columns of b from `col` on. */
__device__ __forceinline__ static void fetch(const place &at, const CUtensorMap *a,
                                             const CUtensorMap *b, int block, int row, int col,
                                             int start)
{
    /* TODO: wait until the stage is empty, expect its bytes, ask for the tile of a, and for
       this block's half of b's boxes, for both blocks (about 5 lines). */
}

__device__ static void produce(place at, const CUtensorMap *a, const CUtensorMap *b, int block,
                               int m, int n, int k)
{
    const schedule tiles(m, n);
    at.parity = 1; /* before its first phase, a barrier says that 1 is over */
    for (int i = blockIdx.x / CLUSTER; i < tiles.down * tiles.across; i += gridDim.x / CLUSTER) {
        int row, col;
        tiles.find(i, block, &row, &col);
        for (int start = 0; start < k; start += BK, at.next())
            fetch(at, a, b, block, row, col, start);
    }
}

/** One thread of a group tells each block of the cluster that the group has read a stage. */
__device__ __forceinline__ static void give_back(const place &at)
{
    if (threadIdx.x % 128 < CLUSTER) barrier_arrive(at.empty(), threadIdx.x % 128);
}

/** Begin the products of a stage: sum[64 x 256] (+)= this group's rows of a, times b. */
__device__ __forceinline__ static void multiply(float sum[32][4], const place &at, bool add)
{
    /* TODO: wait until the stage is full; two descriptors; a product for each 16 of k, which
       are 32 bytes of a's rows and 16 rows of b, between fence and commit. The first replaces the
       sums, unless `add` (about 8 lines). */
}

/**
 * Store slice `number` of a tile, 16 x SLICE, by way of one of the warp's OUTS places. Each warp
 * has its own rows and places, and waits for no other.
 * @param sum this lane's sums: columns 8 j + 2 (lane % 4) and the next of row lane / 4, and of the
 *            row 8 further down
 * @param row, col where the warp's part of the tile begins; outside of c nothing is stored
 */
__device__ __forceinline__ static void store_slice(const CUtensorMap *c, unsigned char *outs,
                                                   const float sum[SLICE / 8][4], int number,
                                                   int row, int col)
{
    /* TODO: wait until the TMA has read what was there before. Write the sums as the swizzle
       has them: 16-byte chunk i of row r at i ^ r % 8. A half of the warp stores to four rows at
       once; odd rows take the sums in another order, so that it meets all banks. The TMA must see
       the sums before it is asked (about 16 lines). */
}

/** The last N slices of a warp's part of a tile, which begins at (row, col). */
template <int N> struct rest {
    float sum[N * SLICE / 8][4];
    int row, col;
};

template <int N>
__device__ __forceinline__ static void store_held(const CUtensorMap *c, unsigned char *outs,
                                                  const rest<N> &held, int i)
{
    store_slice(c, outs, &held.sum[i * SLICE / 8], SLICES - N + i, held.row, held.col);
}

/** Store what is not held of a tile that is multiplied, and make the rest `held`. */
template <int N>
__device__ __forceinline__ static void hold(rest<N> *held, const CUtensorMap *c,
                                            unsigned char *outs, const float sum[BN / 8][4],
                                            int row, int col)
{
    /* TODO: (about 6 lines). */
}

/** The stage `at` is at work; when the one before, of the same tile, is read, give it back. */
__device__ __forceinline__ static void go_on(place *at, place *before, bool first)
{
    wait_for_products<1>();
    if (!first) give_back(*before);
    *before = *at;
    at->next();
}

/** All products of a tile; meanwhile, store what is held of the tile before: a slice per stage. */
template <int N>
__device__ __forceinline__ static void multiply_tile(float sum[BN / 8][4], place *at, int k,
                                                     const CUtensorMap *c, unsigned char *outs,
                                                     const rest<N> &held)
{
    /* TODO: begin a stage's products, go on, and store while they are at work. The compiler
       must know the index of what is held: unroll. At last wait for all sums (about 13 lines). */
}

/** @param k more than (N - 1) BK: a stage for each slice that is held */
template <int N>
__device__ __forceinline__ static void consume(const CUtensorMap *c, unsigned char *outs, place at,
                                               int block, int m, int n, int k)
{
    const schedule tiles(m, n);
    float sum[BN / 8][4];
    rest<N> held = {{}, m, 0}; /* at first none: the TMA stores nothing outside of c */
    for (int i = blockIdx.x / CLUSTER; i < tiles.down * tiles.across; i += gridDim.x / CLUSTER) {
        int row, col;
        tiles.find(i, block, &row, &col);
        multiply_tile(sum, &at, k, c, outs, held);
        hold(&held, c, outs, sum, row + threadIdx.x / 32 * 16, col);
    }
#pragma unroll
    for (int i = 0; i < N; i++) store_held(c, outs, held, i);
    store_wait_all();
}

#endif

#if TENSOR_MAPS

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CLUSTERED /* there the kernel is empty, and never launched */
#else
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#endif
__global__ static void CLUSTERED __launch_bounds__(THREADS, 1)
    matmul_wgmma_kernel(const __grid_constant__ CUtensorMap c,
                        const __grid_constant__ CUtensorMap a,
                        const __grid_constant__ CUtensorMap b, int m, int n, int k)
{
#if ON_HOPPER
    extern __shared__ __align__(1024) unsigned char shared[]; /* the swizzle repeats so */
    unsigned char *const outs = shared + STAGES * STAGE + threadIdx.x / 32 * OUTS * OUT_BYTES;
    const int block = blockIdx.x % CLUSTER, group = threadIdx.x / 128;
    const place first = {shared_address(shared), 0, 0};
    /* TODO: begin the mbarriers, which both blocks must see. Then each group goes to its work;
       registers go from those that need few to those that need many: 40 and 232. No block may end
       while the other one writes into its shared memory (about 14 lines). */
#endif
}

/** As few blocks as need no more rounds: more would only draw power. */
static int blocks_for(const schedule &tiles, int multiprocessors)
{
    const int pairs = tiles.down * tiles.across, clusters = multiprocessors / CLUSTER;
    const int rounds = (pairs - 1) / clusters + 1;
    return ((pairs - 1) / rounds + 1) * CLUSTER;
}

static cudaError_t launch(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                          int k, int multiprocessors, cudaStream_t stream)
{
    /* TODO: describe a and b, allow the shared memory, launch (about 11 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, multiprocessors, stream);
    return cudaGetLastError();
}

#endif

cudaError_t matmul_wgmma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                         int k, cudaStream_t stream)
{
    /* TODO: what the kernel does not take goes to matmul_tensorcore (about 8 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}
