// RIGHT: 16 x 4 sums a thread, k by fours; odd matrices are copied to rows of 16 bytes
#include "401_matmul_vectorized/matmul_vectorized.h"

enum { HIGH = 128, WIDE = 64, DEPTH = 16, ROWS = 16, PITCH = DEPTH + 4, THREADS = 128 };

__global__ static void spread(float *to, const float *from, int rows, int cols, int pitch)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    int row = (int)(i / pitch), col = (int)(i % pitch);
    if (row < rows) to[i] = col < cols ? from[(size_t)row * cols + col] : 0.0f;
}

template <bool ODD_C>
__global__ static void __launch_bounds__(THREADS)
    product(float *c, const float *a, const float *b, int m, int n, int k, int a_pitch, int b_pitch)
{
    __shared__ __align__(16) float as[HIGH * PITCH], bs[DEPTH * WIDE];
    const int group = threadIdx.x / 16, lane = threadIdx.x % 16;
    const int across = (n - 1) / WIDE + 1;
    const int top = blockIdx.x / across * HIGH, left = blockIdx.x % across * WIDE;
    float4 sums[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = float4{0, 0, 0, 0};
    for (int from = 0; from < k; from += DEPTH) {
        for (int u = threadIdx.x; u < HIGH * DEPTH / 4; u += THREADS) {
            int r = u / (DEPTH / 4), i = u % (DEPTH / 4) * 4;
            float4 v = {0, 0, 0, 0};
            if (top + r < m && from + i < a_pitch)
                v = *(const float4 *)(a + (size_t)(top + r) * a_pitch + from + i);
            *(float4 *)(as + r * PITCH + i) = v;
        }
        for (int u = threadIdx.x; u < DEPTH * WIDE / 4; u += THREADS) {
            int i = u / (WIDE / 4), q = u % (WIDE / 4) * 4;
            float4 v = {0, 0, 0, 0};
            if (from + i < k && left + q < b_pitch)
                v = *(const float4 *)(b + (size_t)(from + i) * b_pitch + left + q);
            *(float4 *)(bs + i * WIDE + q) = v;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; i += 4) {
            float4 q[4];
#pragma unroll
            for (int e = 0; e < 4; e++) q[e] = *(const float4 *)(bs + (i + e) * WIDE + lane * 4);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                float4 p = *(const float4 *)(as + (group + 8 * r) * PITCH + i), s = sums[r];
                s.x += p.x * q[0].x + p.y * q[1].x + p.z * q[2].x + p.w * q[3].x;
                s.y += p.x * q[0].y + p.y * q[1].y + p.z * q[2].y + p.w * q[3].y;
                s.z += p.x * q[0].z + p.y * q[1].z + p.z * q[2].z + p.w * q[3].z;
                s.w += p.x * q[0].w + p.y * q[1].w + p.z * q[2].w + p.w * q[3].w;
                sums[r] = s;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int row = top + group + 8 * r, col = left + lane * 4;
        float *to = c + (size_t)row * n + col;
        if (row >= m || col >= n) continue;
        if (!ODD_C) {
            *(float4 *)to = sums[r];
            continue;
        }
        to[0] = sums[r].x;
        if (col + 1 < n) to[1] = sums[r].y;
        if (col + 2 < n) to[2] = sums[r].z;
        if (col + 3 < n) to[3] = sums[r].w;
    }
}

/* x itself where its rows begin at multiples of 16 bytes, or a copy whose rows do. */
static cudaError_t evenly(const float **x, float **copy, int rows, int cols, cudaStream_t stream)
{
    const int pitch = (cols + 3) / 4 * 4;
    *copy = NULL;
    if (((size_t)*x % 16 == 0 && pitch == cols) || rows == 0 || cols == 0) return cudaSuccess;
    cudaError_t error = cudaMallocAsync((void **)copy, sizeof(float) * rows * pitch, stream);
    if (error != cudaSuccess) return error;
    spread<<<(unsigned)(((size_t)rows * pitch + 255) / 256), 256, 0, stream>>>(*copy, *x, rows,
                                                                               cols, pitch);
    *x = *copy;
    return cudaGetLastError();
}

cudaError_t matmul_vectorized(float *c, const float *a, const float *b, int m, int n, int k,
                              cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    float *copies[2] = {NULL, NULL};
    cudaError_t error = evenly(&a, &copies[0], m, k, stream);
    if (error == cudaSuccess) error = evenly(&b, &copies[1], k, n, stream);
    if (error == cudaSuccess) {
        unsigned grid = ((n - 1) / WIDE + 1u) * ((m - 1) / HIGH + 1u);
        int a_pitch = (k + 3) / 4 * 4, b_pitch = (n + 3) / 4 * 4;
        if ((size_t)c % 16 == 0 && n % 4 == 0)
            product<false><<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k, a_pitch, b_pitch);
        else
            product<true><<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k, a_pitch, b_pitch);
        error = cudaGetLastError();
    }
    for (int i = 0; i < 2; i++) {
        if (copies[i]) cudaFreeAsync(copies[i], stream);
    }
    return error;
}
