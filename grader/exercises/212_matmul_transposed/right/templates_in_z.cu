// RIGHT: a template for each way to load, 16 x 16 tiles in dynamic shared memory, batches along z
#include "212_matmul_transposed/matmul_transposed.h"

#define SIDE  16
#define PITCH (SIDE + 1)

template <bool A_T, bool B_T>
__global__ static void gemm(float *c, const float *a, const float *b, int m, int n, int k,
                            int batch, size_t stride_c, size_t stride_a, size_t stride_b)
{
    extern __shared__ float tiles[]; /* [2][SIDE][PITCH] */
    float *a_tile = tiles, *b_tile = tiles + SIDE * PITCH;
    int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    int across = (n + SIDE - 1) / SIDE; /* tiles */
    size_t row0 = (size_t)(blockIdx.x / across) * SIDE, col0 = (size_t)(blockIdx.x % across) * SIDE;

    for (size_t z = blockIdx.z; z < (size_t)batch; z += gridDim.z) {
        const float *az = a + z * stride_a, *bz = b + z * stride_b;
        float sum = 0.0f;
        for (int p = 0; p < k; p += SIDE) {
            if (A_T) {
                bool in = row0 + tx < m && p + ty < k;
                a_tile[tx * PITCH + ty] = in ? az[(size_t)(p + ty) * m + row0 + tx] : 0.0f;
            } else {
                bool in = row0 + ty < m && p + tx < k;
                a_tile[ty * PITCH + tx] = in ? az[(row0 + ty) * k + p + tx] : 0.0f;
            }
            if (B_T) {
                bool in = p + tx < k && col0 + ty < n;
                b_tile[tx * PITCH + ty] = in ? bz[(col0 + ty) * k + p + tx] : 0.0f;
            } else {
                bool in = p + ty < k && col0 + tx < n;
                b_tile[ty * PITCH + tx] = in ? bz[(size_t)(p + ty) * n + col0 + tx] : 0.0f;
            }
            __syncthreads();
            for (int i = 0; i < SIDE; i++) sum += a_tile[ty * PITCH + i] * b_tile[i * PITCH + tx];
            __syncthreads();
        }
        if (row0 + ty < m && col0 + tx < n) c[z * stride_c + (row0 + ty) * n + col0 + tx] = sum;
    }
}

template <bool A_T, bool B_T>
static cudaError_t launch(float *c, const float *a, const float *b, int m, int n, int k, int batch,
                          size_t stride_c, size_t stride_a, size_t stride_b, cudaStream_t stream)
{
    if (m == 0 || n == 0 || batch == 0) return cudaSuccess;
    dim3 grid((n + SIDE - 1) / SIDE * ((m + SIDE - 1) / SIDE), 1, batch < 2048 ? batch : 2048);
    gemm<A_T, B_T><<<grid, SIDE * SIDE, 2 * SIDE * PITCH * sizeof(float), stream>>>(
        c, a, b, m, n, k, batch, stride_c, stride_a, stride_b);
    return cudaGetLastError();
}

cudaError_t matmul_nt(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream)
{
    return launch<false, true>(c, a, b, m, n, k, 1, 0, 0, 0, stream);
}

cudaError_t matmul_batched(float *c, const float *a, const float *b, int m, int n, int k, int batch,
                           size_t stride_c, size_t stride_a, size_t stride_b, cudaStream_t stream)
{
    return launch<false, false>(c, a, b, m, n, k, batch, stride_c, stride_a, stride_b, stream);
}

cudaError_t matmul_tn(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream)
{
    return launch<true, false>(c, a, b, m, n, k, 1, 0, 0, 0, stream);
}
