/*
 * 4b_matmul_wgmma.cu: bf16 as fast as a Hopper GPU can: TMA brings tiles, wgmma reads them there.
 *
 * 4a's warps do everything: compute addresses, copy, load fragments, multiply. Here each does one
 * thing. A block has three groups of 128 threads.
 *
 * - The *producer* (one thread of group 2) asks the TMA, a unit that copies whole tiles: "the tile
 *   at row 128, column 64 of this matrix, please". The matrix is described once, by the host, in a
 *   tensor map: its address, sizes, pitch, the tile's size, and the swizzle. Beyond the matrix's
 *   ends the TMA writes zeros.
 * - The *consumers* (groups 0 and 1) multiply 64 x 256 sums each: `wgmma` takes both operands from
 *   shared memory, named by a descriptor, and runs while the threads go on.
 *
 * They meet at *mbarriers*, counters in shared memory, two a stage of the ring. `full` counts the
 * bytes that the TMA has written, `empty` the groups that have read. When a count is reached the
 * barrier goes into its next phase and begins anew; who waits names the parity of the phase that
 * must be over. So a ring of STAGES needs one bit that flips each time round, and no __syncthreads.
 *
 * Two blocks form a *cluster*. They compute tiles below each other, so both need the same tile of
 * b: each fetches half of it, and the TMA writes it into both shared memories (multicast). So a
 * stage is empty only when the consumers of both blocks have read it.
 *
 * Blocks are *persistent*: one for each multiprocessor, and each takes tile after tile. So the
 * producer fetches the next tile while the consumers still store this one.
 *
 * One word can cost a quarter of the speed. `mbarrier.arrive` with `.release.cluster` makes the
 * thread wait until all that it wrote is seen by the whole GPU. The consumers only read, and need
 * no such promise.
 *
 * Only for compute capability 9.0; what is not there (another GPU, rows that are not multiples of
 * 16 bytes) goes to 402.
 *
 * The cost removed: registers and issue slots for operands. The cost left: the epilogue. The tensor
 * cores rest while a tile's sums are stored.
 */
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4b_matmul_wgmma/matmul_wgmma.h"
#include "not_implemented.h"
#include <cuda_bf16.h>
#include <stdint.h>
#if defined(__NVCC__) /* another compiler knows the way to 402 alone */
#include <cudaTypedefs.h>
#define TENSOR_MAPS 1
#else
#define TENSOR_MAPS 0
#endif

/* SOLUTION: the sizes of tiles, stages and shared memory (about 15 lines). */
#define BM        128 /* BM x BN elements of c a block */
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
#define ALIGNED   1024 /* the swizzle's pattern repeats every 8 rows of 128 bytes */
#define SHARED    (STAGES * STAGE + ALIGNED + 2 * STAGES * 8)
#define BAND      8 /* pairs of tiles: blocks at work at the same time share rows and columns in L2 */
/* END SOLUTION */

#if TENSOR_MAPS && (!defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL))

/* SOLUTION: mbarriers: init, expect bytes, wait for a phase, arrive at another block's (about 35
   lines). */
__device__ __forceinline__ static void barrier_init(uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

/** Arrive, and let the phase last until so many bytes have been written, too. */
__device__ __forceinline__ static void barrier_expect(uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

/** Wait until the phase of this parity is over. */
__device__ __forceinline__ static void barrier_wait(uint32_t barrier, int parity)
{
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/** Arrive at the same barrier of a block of the cluster. */
__device__ __forceinline__ static void barrier_arrive(uint32_t barrier, int block)
{
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}" ::"r"(barrier),
                 "r"(block)
                 : "memory");
}

__device__ __forceinline__ static void cluster_sync(void)
{
    asm volatile("barrier.cluster.arrive.aligned;\n"
                 "barrier.cluster.wait.aligned;" ::
                     : "memory");
}
/* END SOLUTION */

/* SOLUTION: the two copies: a tile for this block, and one for both (about 20 lines). */
__device__ __forceinline__ static void copy_tile(uint32_t to, const CUtensorMap *from,
                                                 uint32_t barrier, int row, int col)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(to),
                 "l"(from), "r"(barrier), "r"(col), "r"(row)
                 : "memory");
}

/** The bytes, and what the barrier is told of them, arrive at the same places in both blocks. */
__device__ __forceinline__ static void copy_tile_to_both(uint32_t to, const CUtensorMap *from,
                                                         uint32_t barrier, int row, int col)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
                 "l"(from), "r"(barrier), "r"(col), "r"(row), "h"((uint16_t)3)
                 : "memory");
}
/* END SOLUTION */

/* SOLUTION: the descriptor of an operand in shared memory; wgmma with its 128 sums; wait (about 85
   lines). */
/**
 * In units of 16 bytes: where the operand begins, and two distances between blocks of 8 rows of 128
 * bytes, which the swizzle (1 << 62) permutes.
 *
 *   a   its rows lie along k: `next` leads to the next 8 rows
 *   b   its rows lie along n, so it is turned: `next` leads to the next 8 of k, `over` to the next
 *       64 columns
 */
__device__ __forceinline__ static uint64_t descriptor(uint32_t address, int over, int next)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(over >> 4) << 16 |
           (uint64_t)(next >> 4) << 32 | (uint64_t)1 << 62;
}

/** sum[64 x 256] += a[64 x 16] b[16 x 256], both in shared memory, where the descriptors say. It
 * only begins: the sums are not there before wait_for_products(). */
__device__ __forceinline__ static void multiply(float sum[32][4], uint64_t a, uint64_t b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, "
        "%72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, "
        "%88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, "
        "%104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, "
        "%120, %121, %122, %123, %124, %125, %126, %127 "
        "}, %128, %129, 1, 1, 1, 0, 1;" /* add; neither negated; a as it lies, b turned */
        : "+f"(sum[0][0]), "+f"(sum[0][1]), "+f"(sum[0][2]), "+f"(sum[0][3]), "+f"(sum[1][0]),
          "+f"(sum[1][1]), "+f"(sum[1][2]), "+f"(sum[1][3]), "+f"(sum[2][0]), "+f"(sum[2][1]),
          "+f"(sum[2][2]), "+f"(sum[2][3]), "+f"(sum[3][0]), "+f"(sum[3][1]), "+f"(sum[3][2]),
          "+f"(sum[3][3]), "+f"(sum[4][0]), "+f"(sum[4][1]), "+f"(sum[4][2]), "+f"(sum[4][3]),
          "+f"(sum[5][0]), "+f"(sum[5][1]), "+f"(sum[5][2]), "+f"(sum[5][3]), "+f"(sum[6][0]),
          "+f"(sum[6][1]), "+f"(sum[6][2]), "+f"(sum[6][3]), "+f"(sum[7][0]), "+f"(sum[7][1]),
          "+f"(sum[7][2]), "+f"(sum[7][3]), "+f"(sum[8][0]), "+f"(sum[8][1]), "+f"(sum[8][2]),
          "+f"(sum[8][3]), "+f"(sum[9][0]), "+f"(sum[9][1]), "+f"(sum[9][2]), "+f"(sum[9][3]),
          "+f"(sum[10][0]), "+f"(sum[10][1]), "+f"(sum[10][2]), "+f"(sum[10][3]), "+f"(sum[11][0]),
          "+f"(sum[11][1]), "+f"(sum[11][2]), "+f"(sum[11][3]), "+f"(sum[12][0]), "+f"(sum[12][1]),
          "+f"(sum[12][2]), "+f"(sum[12][3]), "+f"(sum[13][0]), "+f"(sum[13][1]), "+f"(sum[13][2]),
          "+f"(sum[13][3]), "+f"(sum[14][0]), "+f"(sum[14][1]), "+f"(sum[14][2]), "+f"(sum[14][3]),
          "+f"(sum[15][0]), "+f"(sum[15][1]), "+f"(sum[15][2]), "+f"(sum[15][3]), "+f"(sum[16][0]),
          "+f"(sum[16][1]), "+f"(sum[16][2]), "+f"(sum[16][3]), "+f"(sum[17][0]), "+f"(sum[17][1]),
          "+f"(sum[17][2]), "+f"(sum[17][3]), "+f"(sum[18][0]), "+f"(sum[18][1]), "+f"(sum[18][2]),
          "+f"(sum[18][3]), "+f"(sum[19][0]), "+f"(sum[19][1]), "+f"(sum[19][2]), "+f"(sum[19][3]),
          "+f"(sum[20][0]), "+f"(sum[20][1]), "+f"(sum[20][2]), "+f"(sum[20][3]), "+f"(sum[21][0]),
          "+f"(sum[21][1]), "+f"(sum[21][2]), "+f"(sum[21][3]), "+f"(sum[22][0]), "+f"(sum[22][1]),
          "+f"(sum[22][2]), "+f"(sum[22][3]), "+f"(sum[23][0]), "+f"(sum[23][1]), "+f"(sum[23][2]),
          "+f"(sum[23][3]), "+f"(sum[24][0]), "+f"(sum[24][1]), "+f"(sum[24][2]), "+f"(sum[24][3]),
          "+f"(sum[25][0]), "+f"(sum[25][1]), "+f"(sum[25][2]), "+f"(sum[25][3]), "+f"(sum[26][0]),
          "+f"(sum[26][1]), "+f"(sum[26][2]), "+f"(sum[26][3]), "+f"(sum[27][0]), "+f"(sum[27][1]),
          "+f"(sum[27][2]), "+f"(sum[27][3]), "+f"(sum[28][0]), "+f"(sum[28][1]), "+f"(sum[28][2]),
          "+f"(sum[28][3]), "+f"(sum[29][0]), "+f"(sum[29][1]), "+f"(sum[29][2]), "+f"(sum[29][3]),
          "+f"(sum[30][0]), "+f"(sum[30][1]), "+f"(sum[30][2]), "+f"(sum[30][3]), "+f"(sum[31][0]),
          "+f"(sum[31][1]), "+f"(sum[31][2]), "+f"(sum[31][3])
        : "l"(a), "l"(b));
}

/** Products that were begun in up to `OPEN` last groups may go on. */
template <int OPEN> __device__ __forceinline__ static void wait_for_products(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(OPEN) : "memory");
}
/* END SOLUTION */

/* SOLUTION: which pair of tiles is a cluster's next one (about 20 lines). */
/** Pairs of tiles in bands of BAND rows, column by column. */
struct schedule {
    int down, across; /* pairs of tiles of c */

    __device__ schedule(int m, int n) : down((m - 1) / (CLUSTER * BM) + 1), across((n - 1) / BN + 1)
    {
    }

    __device__ void place(int number, int block, int *row, int *col) const
    {
        const int band = number / (BAND * across), within = number % (BAND * across);
        const int height = min(BAND, down - band * BAND);
        *row = ((band * BAND + within % height) * CLUSTER + block) * BM;
        *col = within / height * BN;
    }
};
/* END SOLUTION */

/* SOLUTION: what the producer does (about 30 lines). */
__device__ static void produce(uint32_t ring, uint32_t full, uint32_t empty, const CUtensorMap *a,
                               const CUtensorMap *b, int block, int m, int n, int k)
{
    const schedule tiles(m, n);
    int stage = 0, parity = 1; /* before its first phase, a barrier says that 1 is over */
    for (int i = blockIdx.x / CLUSTER; i < tiles.down * tiles.across; i += gridDim.x / CLUSTER) {
        int row, col;
        tiles.place(i, block, &row, &col);
        for (int start = 0; start < k; start += BK) {
            const uint32_t a_at = ring + stage * STAGE, b_at = a_at + A_BYTES;
            const uint32_t barrier = full + stage * 8;
            barrier_wait(empty + stage * 8, parity);
            barrier_expect(barrier, STAGE);
            copy_tile(a_at, a, barrier, row, start);
            for (int box = block * 2; box < block * 2 + 2; box++) /* this block's half of b */
                copy_tile_to_both(b_at + box * BOX_BYTES, b, barrier, start, col + box * BOX);
            stage = (stage + 1) % STAGES;
            parity ^= stage == 0;
        }
    }
}
/* END SOLUTION */

/* SOLUTION: what a consumer does: multiply a stage, give back the one before; store (about 60
   lines). */
/** One thread of a group tells each block of the cluster that the group has read a stage. */
__device__ __forceinline__ static void give_back(uint32_t empty)
{
    if (threadIdx.x % 128 < CLUSTER) barrier_arrive(empty, threadIdx.x % 128);
}

__device__ static void store(float *c, const float sum[32][4], int row, int col, int m, int n)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    for (int half = 0; half < 2; half++) { /* lane l: sums of row l / 4, and of l / 4 + 8 */
        const int r = row + warp * 16 + half * 8 + lane / 4;
        if (r >= m) continue;
#pragma unroll
        for (int j = 0; j < 32; j++) {
            const int q = col + j * 8 + lane % 4 * 2;
            const float2 two = make_float2(sum[j][half * 2], sum[j][half * 2 + 1]);
            if (q < n) *(float2 *)&c[(size_t)r * n + q] = two;
        }
    }
}

__device__ static void consume(float *c, uint32_t ring, uint32_t full, uint32_t empty, int block,
                               int m, int n, int k)
{
    const schedule tiles(m, n);
    const int group = threadIdx.x / 128;
    int stage = 0, parity = 0;
    for (int i = blockIdx.x / CLUSTER; i < tiles.down * tiles.across; i += gridDim.x / CLUSTER) {
        int row, col, before = -1;
        float sum[32][4] = {};
        tiles.place(i, block, &row, &col);
        for (int start = 0; start < k; start += BK) {
            const uint32_t a_at = ring + stage * STAGE + group * 64 * BK * 2;
            const uint64_t a = descriptor(a_at, 16, 1024);
            const uint64_t b = descriptor(ring + stage * STAGE + A_BYTES, BOX_BYTES, 1024);
            barrier_wait(full + stage * 8, parity);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); /* the sums are in place */
#pragma unroll
            for (int s = 0; s < BK / 16; s++) /* 16 of k: 32 bytes of a's rows, 16 rows of b */
                multiply(sum, a + s * (32 >> 4), b + s * (16 * 128 >> 4));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            wait_for_products<1>(); /* the stage before is read, and this one at work */
            if (before >= 0) give_back(empty + before * 8);
            before = stage;
            stage = (stage + 1) % STAGES;
            parity ^= stage == 0;
        }
        wait_for_products<0>();
        if (before >= 0) give_back(empty + before * 8);
        store(c, sum, row + group * 64, col, m, n);
    }
}
/* END SOLUTION */

#endif

#if TENSOR_MAPS

/* SOLUTION: the kernel: barriers, then each group to its work. Registers go from those that need
   few to those that need many (about 40 lines). */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CLUSTERED /* there the kernel is empty, and never launched */
#else
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#endif
__global__ static void CLUSTERED __launch_bounds__(THREADS, 1)
    matmul_wgmma_kernel(float *c, const __grid_constant__ CUtensorMap a,
                        const __grid_constant__ CUtensorMap b, int m, int n, int k)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    extern __shared__ unsigned char shared[];
    const uint32_t begin = (uint32_t)__cvta_generic_to_shared(shared);
    const uint32_t ring = (begin + ALIGNED - 1) / ALIGNED * ALIGNED;
    const uint32_t full = ring + STAGES * STAGE, empty = full + STAGES * 8;
    const int block = blockIdx.x % CLUSTER, group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(full + i * 8, 1);            /* the producer, and the bytes */
            barrier_init(empty + i * 8, 2 * CLUSTER); /* two groups of each block */
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_sync(); /* nobody arrives at a barrier that is not there */
    if (group == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x % 128 == 0) produce(ring, full, empty, &a, &b, block, m, n, k);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume(c, ring, full, empty, block, m, n, k);
    }
    cluster_sync(); /* a block's shared memory stays until the other one no longer writes there */
#endif
}
/* END SOLUTION */

/* SOLUTION: a tensor map, from the driver's encoder, which the runtime finds; does this device have
   what is needed? and the launch (about 50 lines) */
static cudaError_t describe(CUtensorMap *map, const __nv_bfloat16 *x, int rows, int cols,
                            int box_rows, int box_cols)
{
    PFN_cuTensorMapEncodeTiled_v12000 encode = NULL;
    cudaDriverEntryPointQueryResult found;
    const cudaError_t error = cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found);
    if (error != cudaSuccess) return error;
    const cuuint64_t sizes[2] = {(cuuint64_t)cols, (cuuint64_t)rows}; /* the fastest first */
    const cuuint64_t pitch[1] = {(cuuint64_t)cols * sizeof *x};
    const cuuint32_t box[2] = {(cuuint32_t)box_cols, (cuuint32_t)box_rows}, every[2] = {1, 1};
    const CUresult result =
        encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)x, sizes, pitch, box, every,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

/** Compute capability 9.0 alone: @return how many multiprocessors, or 0. */
static int hopper_multiprocessors(void)
{
    int device, major, minor, count;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return 0;
    return major == 9 && minor == 0 ? count : 0;
}

static cudaError_t launch(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                          int k, int blocks, cudaStream_t stream)
{
    CUtensorMap a_map, b_map;
    cudaError_t error = describe(&a_map, a, m, k, BM, BK);
    if (error == cudaSuccess) error = describe(&b_map, b, k, n, BK, BOX);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(matmul_wgmma_kernel,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    if (error != cudaSuccess) return error;
    matmul_wgmma_kernel<<<blocks, THREADS, SHARED, stream>>>(c, a_map, b_map, m, n, k);
    return cudaGetLastError();
}
/* END SOLUTION */

#endif

cudaError_t matmul_wgmma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                         int k, cudaStream_t stream)
{
    /* SOLUTION: a block for each multiprocessor; what the kernel does not take goes to
       matmul_tensorcore (about 8 lines). */
    if (m == 0 || n == 0) return cudaSuccess; /* an empty grid is a launch error */
#if TENSOR_MAPS
    const int blocks = hopper_multiprocessors() / CLUSTER * CLUSTER;
    if (blocks > 0 && k > 0 && ((uintptr_t)a | (uintptr_t)b) % 16 == 0 && (uintptr_t)c % 8 == 0 &&
        k % 8 == 0 && n % 8 == 0)
        return launch(c, a, b, m, n, k, blocks, stream);
#endif
    const cudaError_t error = matmul_tensorcore(c, a, b, m, n, k, stream);
    if (error != cudaSuccess) return error;
    /* END SOLUTION */
    return cudaGetLastError();
}
