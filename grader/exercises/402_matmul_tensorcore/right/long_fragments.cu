// RIGHT: fragments of 32 x 8 x 16, b's tile on its side, blocks that walk down c
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

enum { WARPS = 4, HIGH = 32 * WARPS, WIDE = 64, DEPTH = 16, PITCH = DEPTH + 8, EIGHT = 8 };

template <typename T> union chunk {
    uint4 bits;
    T x[EIGHT];
    __device__ chunk()
    {
    }
};

template <typename T>
__device__ static void fetch(chunk<T> &to, const T *x, size_t row, int col, int rows, int cols)
{
    const T *from = x + row * cols + col;
    to.bits = make_uint4(0, 0, 0, 0);
    if (row >= (size_t)rows || col >= cols) return;
    if (col + EIGHT <= cols && (size_t)from % sizeof to.bits == 0) {
        to.bits = *(const uint4 *)from;
        return;
    }
#pragma unroll
    for (int e = 0; e < EIGHT; e++) {
        if (col + e < cols) to.x[e] = from[e];
    }
}

template <typename T> struct shared_tiles {
    T a[HIGH][PITCH];
    T b[WIDE][PITCH]; /* [column][k] */
    float c[WARPS][32][EIGHT];
};

template <typename T>
__device__ static void fill(shared_tiles<T> *s, const T *a, const T *b, size_t row, int col,
                            int start, int m, int n, int k)
{
    chunk<T> v;
    for (int i = threadIdx.x; i < HIGH * DEPTH / EIGHT; i += 32 * WARPS) {
        fetch(v, a, row + i / 2, start + i % 2 * EIGHT, m, k);
        *(uint4 *)&s->a[i / 2][i % 2 * EIGHT] = v.bits;
    }
    for (int i = threadIdx.x; i < WIDE * DEPTH / EIGHT; i += 32 * WARPS) {
        fetch(v, b, start + i % DEPTH, col + i / DEPTH * EIGHT, k, n);
#pragma unroll
        for (int e = 0; e < EIGHT; e++) s->b[i / DEPTH * EIGHT + e][i % DEPTH] = v.x[e];
    }
}

template <typename T>
__global__ static void __launch_bounds__(32 * WARPS)
    tall_product(float *c, const T *a, const T *b, int m, int n, int k)
{
    __shared__ __align__(128) shared_tiles<T> s;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, col = blockIdx.x * WIDE;
    for (size_t row = (size_t)blockIdx.y * HIGH; row < (size_t)m; row += gridDim.y * HIGH) {
        wmma::fragment<wmma::accumulator, 32, 8, 16, float> sum[WIDE / EIGHT];
        for (auto &f : sum) wmma::fill_fragment(f, 0.0f);
        for (int start = 0; start < k; start += DEPTH) {
            fill(&s, a, b, row, col, start, m, n, k);
            __syncthreads();
            wmma::fragment<wmma::matrix_a, 32, 8, 16, T, wmma::row_major> p;
            wmma::load_matrix_sync(p, &s.a[warp * 32][0], PITCH);
#pragma unroll
            for (int j = 0; j < WIDE / EIGHT; j++) {
                wmma::fragment<wmma::matrix_b, 32, 8, 16, T, wmma::col_major> q;
                wmma::load_matrix_sync(q, &s.b[j * EIGHT][0], PITCH);
                wmma::mma_sync(sum[j], p, q, sum[j]);
            }
            __syncthreads();
        }
#pragma unroll
        for (int j = 0; j < WIDE / EIGHT; j++) {
            wmma::store_matrix_sync(&s.c[warp][0][0], sum[j], EIGHT, wmma::mem_row_major);
            __syncwarp();
            for (int e = 0; e < EIGHT; e++) {
                const size_t r = row + warp * 32 + e * 4 + lane / EIGHT;
                const int q = col + j * EIGHT + lane % EIGHT;
                if (r < (size_t)m && q < n)
                    c[r * n + q] = s.c[warp][e * 4 + lane / EIGHT][lane % EIGHT];
            }
            __syncwarp();
        }
    }
}

template <typename T>
static cudaError_t start(float *c, const T *a, const T *b, int m, int n, int k, cudaStream_t stream)
{
    if (m > 0 && n > 0) {
        const unsigned down = (m - 1) / HIGH + 1;
        const dim3 grid((n - 1) / WIDE + 1, down < 256 ? down : 256);
        tall_product<<<grid, 32 * WARPS, 0, stream>>>(c, a, b, m, n, k);
    }
    return cudaGetLastError();
}

cudaError_t matmul_tensorcore(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                              int n, int k, cudaStream_t stream)
{
    return start(c, a, b, m, n, k, stream);
}

cudaError_t matmul_tensorcore_half(float *c, const __half *a, const __half *b, int m, int n, int k,
                                   cudaStream_t stream)
{
    return start(c, a, b, m, n, k, stream);
}
