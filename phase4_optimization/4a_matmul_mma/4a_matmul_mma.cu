/*
 * 4a_matmul_mma.cu: bf16 on tensor cores by the instructions themselves: mma.sync, ldmatrix,
 * cp.async.
 *
 * 402 leaves three costs. Each has a remedy here.
 *
 * 1. Padding. A tile row of 128 bytes is 8 chunks of 16 bytes. Chunk c of row r stands at place
 *    c ^ (r % 8), so the 8 lanes that fetch the same chunk of 8 rows read different
 *    banks, and no byte is wasted. That is a *swizzle*.
 * 2. Fragments by many small loads. `ldmatrix.x4` fetches four 8 x 8 matrices at once, each lane
 *    naming a row, and gives lane i the two elements that `mma` needs from it. For b, which `mma`
 *    reads column by column, `.trans` transposes them on the way.
 * 3. Waiting. The tiles are in a ring of four, copied three ahead. The fragments of the next step
 *    along k are fetched while the tensor cores work on these, across the barrier too. And the
 *    copies are spread between the products: eight warps that all copy at once block the fragment
 *    loads of all warps. Both together are worth a third of the speed on an H200.
 *
 * A block has 256 x 128 elements of c, a warp 64 x 64: of a multiprocessor's 64 K registers, half
 * are sums. Where a block has less shared memory the ring has three. Matrices whose rows do not
 * begin at multiples of 16 bytes go to 402.
 *
 * The cost removed: bank conflicts and latency. The cost left: `mma.sync` itself. A warp has to
 * load the operands into registers first, and on Hopper no stream of them keeps its tensor cores
 * more than 63 % busy. `wgmma` reads shared memory itself (4b).
 */
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4a_matmul_mma/matmul_mma.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include <cuda_bf16.h>
#include <stdint.h>

#define BM      256 /* BM x BN elements of c per block */
#define BN      128
#define BK      64
#define THREADS 256 /* 8 warps: 4 down, 2 across */
#define DOWN    4   /* products of 16 x 8 that a warp has, down and across */
#define ACROSS  8
#define A_BYTES (BM * BK * 2) /* rows of 128 bytes */
#define B_ROW   (BN * 2)      /* bytes of a row of b's tile: two times 8 chunks */
#define STAGE   (A_BYTES + BK * B_ROW)
#define PARTS   (BK / 16) /* steps of `mma` a tile; each copies a part of another one */

/* ---- the instructions ------------------------------------------------------------------------ */

/** Four matrices of 8 x 8: lanes 0-7 give the addresses of the first one's rows, and so on. */
__device__ __forceinline__ static void load_matrices(uint32_t to[4], uint32_t address)
{
    /* TODO: ldmatrix.sync.aligned.m8n8.x4.shared.b16 (about 3 lines). */
}

/** The same, with each matrix transposed. */
__device__ __forceinline__ static void load_matrices_turned(uint32_t to[4], uint32_t address)
{
    /* TODO: the same with .trans behind .x4 (about 3 lines). */
}

/** sum[16 x 8] += a[16 x 16] b[16 x 8] */
__device__ __forceinline__ static void mma(float sum[4], const uint32_t a[4], const uint32_t b[2])
{
    /* TODO: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32: four sums that are read and
       written, "+f", four registers of a and two of b, "r" (about 4 lines). */
}

/** 16 bytes to shared memory, or 16 zeros. */
__device__ __forceinline__ static void copy_chunk(uint32_t to, const void *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}

/** What this thread has copied since the last call is a group. */
__device__ __forceinline__ static void end_group(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/** Wait until at most GROUPS of this thread's groups are on their way. */
template <int GROUPS> __device__ __forceinline__ static void wait_for_copies(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}

/* ---- the copies ------------------------------------------------------------------------------ */

/** What a thread copies of each stage: its chunk of every A_STEPth row of a and of every B_STEPth
 *  row of b, so that its places in the swizzle are always the same. */
struct source {
    enum {
        A_STEP = THREADS / (BK / 8), /* rows from one of a thread's chunks to its next */
        B_STEP = THREADS / (BN / 8),
        A_COPIES = BM / A_STEP / PARTS, /* chunks per part */
        B_COPIES = BK / B_STEP / PARTS
    };
    const __nv_bfloat16 *a, *b;         /* its first chunks in the next stage */
    long a_pitch, b_pitch;              /* elements, from one of its chunks to the next */
    int a_rows, a_cols, b_rows, b_cols; /* that are left from there to the matrix's ends */
    uint32_t to_a, to_b;                /* its first places in a stage */

    /** of c's tile at (row, col), from k = 0 on */
    __device__ __forceinline__ source(const __nv_bfloat16 *all_a, const __nv_bfloat16 *all_b,
                                      long row, long col, int m, int n, int k)
    {
        const int r = threadIdx.x / (BK / 8), r_chunk = threadIdx.x % (BK / 8);
        const int s = threadIdx.x / (BN / 8), s_chunk = threadIdx.x % (BN / 8);
        /* TODO: the thread's first chunk is r_chunk of row r of a's tile, and s_chunk of row s
           of b's: all members of it, with the swizzle in to_a and to_b (about 6 lines). */
    }

    /** @param stage where it begins in shared memory
     *  @param part  0 .. PARTS - 1, in this order; after the last one the stage is a group, and the
     *               members are those of the next stage */
    __device__ __forceinline__ void copy(uint32_t stage, int part)
    {
        /* TODO: A_COPIES chunks of a and B_COPIES of b, zeros outside of the matrices (about 13
           lines). */
    }
};

/* ---- the product ----------------------------------------------------------------------------- */

/** The fragments of step s of a tile, 16 along k.
 *  @param a_at, b_at where this lane's row of the warp's first matrices lies at s = 0. A move by
 *  whole chunks changes bits of the chunk's number: with the swizzle that is an xor. */
__device__ __forceinline__ static void take(uint32_t a[DOWN][4], uint32_t b[ACROSS][2],
                                            uint32_t a_at, uint32_t b_at, int s)
{
    /* TODO: four matrices are one fragment of a, or two of b (about 5 lines). */
}

/** c = a * b, a tile of BM x BN elements a block, by a ring of STAGES. Rows of a and b begin at
 *  multiples of 16 bytes, rows of c at multiples of 8. */
template <int STAGES>
__global__ static void __launch_bounds__(THREADS, 1)
    matmul_mma_kernel(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = (uint32_t)__cvta_generic_to_shared(shared);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / 2 * DOWN * 16, warp_col = warp % 2 * ACROSS * 8;
    const long row = (long)blockIdx.x * BM, col = (long)blockIdx.y * BN;
    /* TODO: where this lane's rows of the warp's first matrices lie, with the swizzle; the
       source; registers for the fragments of two steps, and for the sums. Ask for all stages but
       one, and take the first fragments. Then, for each tile, PARTS steps: take the fragments of
       the next step, which may be in the next stage, copy a part, and multiply. Store two sums at a
       time (about 48 lines). */
}

template <int STAGES>
static cudaError_t launch(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                          int k, cudaStream_t stream)
{
    const cudaError_t error = cudaFuncSetAttribute(
        matmul_mma_kernel<STAGES>, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * STAGE);
    if (error != cudaSuccess) return error;
    dim3 grid((m - 1) / BM + 1, (n - 1) / BN + 1);
    matmul_mma_kernel<STAGES><<<grid, THREADS, STAGES * STAGE, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}

/** How many stages this device has shared memory for. */
static int most_stages(void)
{
    int device, bytes;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
            cudaSuccess)
        return 0;
    return bytes / STAGE;
}

cudaError_t matmul_mma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                       int k, cudaStream_t stream)
{
    /* TODO: nothing for an empty c; without aligned rows, or without room for three stages,
       call matmul_tensorcore; else launch a ring of four or three (about 8 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}
