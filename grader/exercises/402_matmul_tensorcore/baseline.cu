/*
 * The frozen baseline of 402: a warp per 16 x 16 elements of c, whose fragments come straight from
 * global memory. m is at least 16; n and k are multiples of 64 and 16, addresses of 32 bytes.
 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

#define FRAGMENT 16 /* rows and columns of a fragment */
#define WARPS    4  /* WARPS x WARPS a block */

__global__ static void wmma_kernel(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                                   int n, int k)
{
    const int warp = threadIdx.x / 32;
    const int below = (blockIdx.y * WARPS + warp / WARPS) * FRAGMENT;
    const int last = m - FRAGMENT;
    const size_t row = below <= last ? below : last; /* the last rows again, not beyond */
    const size_t col = (blockIdx.x * WARPS + warp % WARPS) * FRAGMENT;
    wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, FRAGMENT, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += FRAGMENT) {
        wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, FRAGMENT, __nv_bfloat16, wmma::row_major>
            a_part;
        wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, FRAGMENT, __nv_bfloat16, wmma::row_major>
            b_part;
        wmma::load_matrix_sync(a_part, a + row * k + i, k);
        wmma::load_matrix_sync(b_part, b + (size_t)i * n + col, n);
        wmma::mma_sync(sum, a_part, b_part, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

extern "C" cudaError_t baseline_matmul_wmma(float *c, const __nv_bfloat16 *a,
                                            const __nv_bfloat16 *b, int m, int n, int k,
                                            cudaStream_t stream)
{
    dim3 grid(n / (WARPS * FRAGMENT), (m - 1) / (WARPS * FRAGMENT) + 1);
    wmma_kernel<<<grid, WARPS * WARPS * 32, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
