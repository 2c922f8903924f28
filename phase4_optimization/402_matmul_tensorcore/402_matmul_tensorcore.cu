/*
 * 402_matmul_tensorcore.cu: c = a * b on tensor cores, a and b in bf16 or fp16, sums in fp32.
 *
 * The idea: a tensor core multiplies a 16 x 16 by a 16 x 16 matrix in a few cycles. The *warp* asks
 * for it: its 32 threads hold a matrix together, as a `fragment`, whose layout the interface does
 * not specify.
 *
 *     load_matrix_sync(a_part, address, pitch)                  16 x 16 elements, from shared memory
 *     mma_sync(sum, a_part, b_part, sum)                        sum += a_part * b_part
 *     store_matrix_sync(address, sum, pitch, mem_row_major)     16 x 16 sums
 *
 * That is so fast that feeding the tensor cores becomes the bottleneck. As in 211 the block stages
 * tiles in shared memory, as in 214 each warp keeps several matrices of sums in registers (4 x 2)
 * and uses what it loads several times. The copies are `cp.async`, 16 bytes per thread, from global
 * to shared memory without a stop in registers, and they fetch the next tiles while the warps
 * multiply these.
 *
 * A product of two bf16, or fp16, is exact in fp32; only the order of the sums differs from fp32.
 * Rows of the tiles are 16 bytes longer than needed: otherwise the eight rows that a load fetches
 * at a time would begin in the same bank.
 *
 * The cost removed: fp32 multiply-adds, of which a multiprocessor does 128 per cycle; its tensor
 * cores do 16 times as many. The cost left: two tiles are too few to hide memory's latency, padding
 * wastes shared memory, and a barrier stops all warps at each tile (4a).
 */
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include <mma.h>
#include <stdint.h>

#define BM       128 /* BM x BN elements of c per block */
#define BN       128
#define BK       32
#define PAD      8   /* elements: 16 bytes */
#define THREADS  256 /* 8 warps: 2 down, 4 across */
#define FRAGMENT 16  /* rows and columns of a fragment */
#define DOWN     4   /* fragments of sums a warp, down and across */
#define ACROSS   2

/** The tiles that the block multiplies at a time. */
template <typename T> struct stage {
    T a[BM][BK + PAD];
    T b[BK][BN + PAD];
};

/** 16 bytes to shared memory, or 16 zeros: cp.async, which does not wait. `from` is an address in
 *  the matrix even where nothing is read. */
__device__ __forceinline__ static void copy_chunk(void *to, const void *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}

/** A tile whose corner is x[row][col], of x[rows x cols], by all threads of the block; zeros
 *  outside of x. The last PAD columns of the tile stay as they are.
 *  @tparam WIDE rows of x begin at multiples of 16 bytes, and cols is a multiple of 8 */
template <bool WIDE, typename T, int ROWS, int PITCH>
__device__ __forceinline__ static void copy_tile(T (&tile)[ROWS][PITCH], const T *x, long row,
                                                 long col, int rows, int cols)
{
    enum { COLS = PITCH - PAD, EACH = WIDE ? 8 : 1 };
    /* TODO: the threads share the ROWS x COLS elements, EACH at a time: copy_chunk of eight
       neighbours where WIDE, else one element (about 10 lines). */
}

using namespace nvcuda;
typedef wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, FRAGMENT, float> sums;

/** sum += this warp's rows of the tile of a, from `row` on, times its columns of the tile of b,
 *  from `col` on: DOWN x ACROSS fragments. */
template <typename T>
__device__ __forceinline__ static void multiply(sums sum[DOWN][ACROSS], const stage<T> *s, int row,
                                                int col)
{
    /* TODO: for each FRAGMENT of BK: load DOWN fragments of a and ACROSS of b, both row_major,
       and multiply each with each. All loops unroll: fragments are registers (about 17 lines). */
}

/** One fragment of sums to c[m x n], its corner at c[row][col], by the warp's own patch of shared
 *  memory, FRAGMENT x FRAGMENT. */
__device__ __forceinline__ static void store_sums(float *c, float (*patch)[FRAGMENT],
                                                  const sums &sum, long row, long col, int m, int n)
{
    /* TODO: the sums to the patch, and from there to c, as far as it goes: the lanes share the
       elements. Before and after the lanes read the patch, the warp waits for all of its lanes
       (about 8 lines). */
}

/** c = a * b, a tile of BM x BN elements a block. */
template <typename T, bool WIDE>
__global__ static void __launch_bounds__(THREADS, 2)
    matmul_tensorcore_kernel(float *c, const T *a, const T *b, int m, int n, int k)
{
    __shared__ __align__(128) stage<T> stages[2];
    __shared__ __align__(128) float patches[THREADS / 32][FRAGMENT][FRAGMENT];
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / 4 * DOWN * FRAGMENT, warp_col = warp % 4 * ACROSS * FRAGMENT;
    const unsigned across = (n - 1) / BN + 1; /* tiles side by side in c */
    const long row = (long)(blockIdx.x / across) * BM, col = (long)(blockIdx.x % across) * BN;
    const bool idle = row + warp_row >= m || col + warp_col >= n; /* a warp outside of c */
    sums sum[DOWN][ACROSS];
    /* TODO: sums of 0; the first tiles; then, for each BK of k, wait for these tiles, ask for
       the next ones in the other stage, and multiply, unless the warp is idle; at the end store the
       fragments. A stage is complete when each thread has waited for its own copies, by
       asm volatile("cp.async.wait_all;" ::: "memory"), and all threads for each other (about 26
       lines). */
}

/** For both types: 16 bytes at a time where every row of a and b begins at a multiple of them. */
template <typename T>
static void launch(float *c, const T *a, const T *b, int m, int n, int k, cudaStream_t stream)
{
    if (m == 0 || n == 0) return; /* an empty grid is a launch error */
    /* All in x: along y a grid ends at 65,535. */
    unsigned grid = ((m - 1) / BM + 1) * ((n - 1) / BN + 1);
    if (((uintptr_t)a | (uintptr_t)b) % 16 == 0 && k % 8 == 0 && n % 8 == 0)
        matmul_tensorcore_kernel<T, true><<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k);
    else
        matmul_tensorcore_kernel<T, false><<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k);
}

cudaError_t matmul_tensorcore(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                              int n, int k, cudaStream_t stream)
{
    /* TODO: call launch, which finds the type by itself (1 line). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

cudaError_t matmul_tensorcore_half(float *c, const __half *a, const __half *b, int m, int n, int k,
                                   cudaStream_t stream)
{
    /* TODO: the same for fp16 (1 line). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}
