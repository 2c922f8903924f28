/*
 * Frozen: attention by three kernels, with all scores in memory: a tiled product, a softmax with a
 * warp per row, a tiled product; and lse from the softmax. As the course's 313 in what it moves.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>

#define TILE  32
#define WARPS 8

/** c = factor * a b or, of TURNED, factor * a b^T, a pair of matrices for each blockIdx.z. */
template <bool TURNED>
__global__ static void product_kernel(float *c, const float *a, const float *b, int m, int n, int k,
                                      float factor)
{
    __shared__ float a_tile[TILE][TILE + 1], b_tile[TILE][TILE + 1];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    a += (size_t)blockIdx.z * m * k;
    b += (size_t)blockIdx.z * k * n;
    float sum = 0.0f;
    for (int i = 0; i < k; i += TILE) {
        a_tile[y][x] = row + y < m && i + x < k ? a[(size_t)(row + y) * k + i + x] : 0.0f;
        if (TURNED)
            b_tile[x][y] = col + y < n && i + x < k ? b[(size_t)(col + y) * k + i + x] : 0.0f;
        else
            b_tile[y][x] = i + y < k && col + x < n ? b[(size_t)(i + y) * n + col + x] : 0.0f;
        __syncthreads();
        for (int j = 0; j < TILE; j++) sum += a_tile[y][j] * b_tile[j][x];
        __syncthreads();
    }
    if (row + y < m && col + x < n)
        c[((size_t)blockIdx.z * m + row + y) * n + col + x] = factor * sum;
}

__device__ static float warp_sum(float x)
{
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}

__device__ static float warp_max(float x)
{
    for (int d = 16; d > 0; d /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, d));
    return x;
}

__global__ static void softmax_kernel(float *p, float *lse, size_t rows, int seq, int causal)
{
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    p += row * seq;
    int keys = causal ? (int)(row % seq) + 1 : seq;
    float max = -INFINITY, sum = 0.0f;
    for (int u = threadIdx.x; u < keys; u += 32) max = fmaxf(max, p[u]);
    max = warp_max(max);
    for (int u = threadIdx.x; u < keys; u += 32) sum += expf(p[u] - max);
    sum = warp_sum(sum);
    for (int u = threadIdx.x; u < seq; u += 32) p[u] = u < keys ? expf(p[u] - max) / sum : 0.0f;
    if (threadIdx.x == 0) lse[row] = max + logf(sum);
}

extern "C" cudaError_t baseline_attention(float *out, float *lse, const float *q, const float *k,
                                          const float *v, int batch, int heads, int seq, int dim,
                                          int causal, float scale, cudaStream_t stream)
{
    unsigned all = (unsigned)batch * heads, down = (seq - 1) / TILE + 1;
    size_t rows = (size_t)all * seq;
    dim3 block(TILE, TILE);
    float *p;
    cudaError_t error = cudaMallocAsync((void **)&p, rows * seq * sizeof *p, stream);
    if (error != cudaSuccess) return error;
    product_kernel<true>
        <<<dim3(down, down, all), block, 0, stream>>>(p, q, k, seq, seq, dim, scale);
    softmax_kernel<<<(rows - 1) / WARPS + 1, dim3(32, WARPS), 0, stream>>>(p, lse, rows, seq,
                                                                           causal);
    product_kernel<false><<<dim3((dim - 1) / TILE + 1, down, all), block, 0, stream>>>(
        out, p, v, seq, dim, seq, 1.0f);
    cudaFreeAsync(p, stream);
    return cudaGetLastError();
}
