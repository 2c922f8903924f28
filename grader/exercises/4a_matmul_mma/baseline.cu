/*
 * The frozen baseline of 4a, 4c, 4d, 413 and 510: the product of 402, WMMA and two stages. c is not
 * empty.
 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <stdint.h>

#include "tensor_core.h"

#define BM       128 /* BM x BN elements of c per block */
#define BN       128
#define BK       32
#define PAD      8   /* elements: 16 bytes */
#define THREADS  256 /* 8 warps: 2 down, 4 across */
#define FRAGMENT 16  /* rows and columns of a fragment */
#define DOWN     4   /* fragments of sums a warp, down and across */
#define ACROSS   2

template <typename T> struct stage {
    T a[BM][BK + PAD];
    T b[BK][BN + PAD];
};

/** A tile whose corner is x[row][col]. WIDE: its rows begin at multiples of 16 bytes. */
template <bool WIDE, typename T, int ROWS, int PITCH>
__device__ __forceinline__ static void copy_tile(T (&tile)[ROWS][PITCH], const T *x, long row,
                                                 long col, int rows, int cols)
{
    enum { COLS = PITCH - PAD, EACH = WIDE ? 8 : 1 };
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * COLS / EACH; i += THREADS) {
        const int r = i / (COLS / EACH), q = i % (COLS / EACH) * EACH;
        const bool inside = row + r < rows && col + q < cols;
        const T *from = inside ? x + (row + r) * cols + col + q : x;
        if (WIDE)
            cp_async_cg(shared_address(&tile[r][q]), from, inside);
        else
            tile[r][q] = inside ? *from : T(0.0f);
    }
}

using namespace nvcuda;
typedef wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, FRAGMENT, float> sums;

/** sum += this warp's rows of the tile of a times its columns of the tile of b */
template <typename T>
__device__ __forceinline__ static void multiply(sums sum[DOWN][ACROSS], const stage<T> *s, int row,
                                                int col)
{
#pragma unroll
    for (int i = 0; i < BK; i += FRAGMENT) {
        wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, FRAGMENT, T, wmma::row_major> a[DOWN];
        wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, FRAGMENT, T, wmma::row_major> b[ACROSS];
#pragma unroll
        for (int y = 0; y < DOWN; y++)
            wmma::load_matrix_sync(a[y], &s->a[row + y * FRAGMENT][i], BK + PAD);
#pragma unroll
        for (int x = 0; x < ACROSS; x++)
            wmma::load_matrix_sync(b[x], &s->b[i][col + x * FRAGMENT], BN + PAD);
#pragma unroll
        for (int y = 0; y < DOWN; y++) {
#pragma unroll
            for (int x = 0; x < ACROSS; x++) wmma::mma_sync(sum[y][x], a[y], b[x], sum[y][x]);
        }
    }
}

/** One fragment of sums to c, by the warp's own patch of shared memory. */
__device__ __forceinline__ static void store_sums(float *c, float (*patch)[FRAGMENT],
                                                  const sums &sum, long row, long col, int m, int n)
{
    wmma::store_matrix_sync(&patch[0][0], sum, FRAGMENT, wmma::mem_row_major);
    __syncwarp(); /* the patch is complete */
    for (int i = threadIdx.x % 32; i < FRAGMENT * FRAGMENT; i += 32) {
        const long r = row + i / FRAGMENT, q = col + i % FRAGMENT;
        if (r < m && q < n) c[r * n + q] = patch[i / FRAGMENT][i % FRAGMENT];
    }
    __syncwarp(); /* and read, before the next one overwrites it */
}

template <typename T, bool WIDE>
__global__ static void __launch_bounds__(THREADS, 2)
    matmul_tensorcore_kernel(float *c, const T *a, const T *b, int m, int n, int k)
{
    __shared__ __align__(128) stage<T> stages[2];
    __shared__ __align__(128) float patches[THREADS / 32][FRAGMENT][FRAGMENT];
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / 4 * DOWN * FRAGMENT, warp_col = warp % 4 * ACROSS * FRAGMENT;
    const long row = (long)blockIdx.y * BM, col = (long)blockIdx.x * BN;
    sums sum[DOWN][ACROSS];
    for (int y = 0; y < DOWN; y++) {
        for (int x = 0; x < ACROSS; x++) wmma::fill_fragment(sum[y][x], 0.0f);
    }
    copy_tile<WIDE>(stages[0].a, a, row, 0, m, k);
    copy_tile<WIDE>(stages[0].b, b, 0, col, k, n);
    for (int start = 0, now = 0; start < k; start += BK, now ^= 1) {
        cp_async_wait_all();
        __syncthreads(); /* this stage is complete, and no thread reads the other one any more */
        if (start + BK < k) {
            copy_tile<WIDE>(stages[now ^ 1].a, a, row, start + BK, m, k);
            copy_tile<WIDE>(stages[now ^ 1].b, b, start + BK, col, k, n);
        }
        multiply(sum, &stages[now], warp_row, warp_col);
    }
    for (int y = 0; y < DOWN; y++) {
        for (int x = 0; x < ACROSS; x++) {
            store_sums(c, patches[warp], sum[y][x], row + warp_row + y * FRAGMENT,
                       col + warp_col + x * FRAGMENT, m, n);
        }
    }
}

template <typename T>
static cudaError_t launch(float *c, const T *a, const T *b, int m, int n, int k,
                          cudaStream_t stream)
{
    dim3 grid((n - 1) / BN + 1, (m - 1) / BM + 1);
    if (((uintptr_t)a | (uintptr_t)b) % 16 == 0 && k % 8 == 0 && n % 8 == 0)
        matmul_tensorcore_kernel<T, true><<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k);
    else
        matmul_tensorcore_kernel<T, false><<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_matmul_tensorcore(float *c, const __nv_bfloat16 *a,
                                                  const __nv_bfloat16 *b, int m, int n, int k,
                                                  cudaStream_t stream)
{
    return launch(c, a, b, m, n, k, stream);
}
