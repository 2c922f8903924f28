/*
 * 510_rows.cuh: layer normalization in bf16, forward and backward, and sums down the columns, which
 * are the gradients of biases and of gamma and beta.
 *
 * As in 311 a row belongs to a warp, and all sums are fp32. bf16 halves what moves, if loads stay
 * wide: a lane takes a chunk of 8 elements, 16 bytes. A row of 768 is read three times, but only
 * once from memory: it is 1.5 KB, and the next two times in the L1 cache.
 *
 * In the backward pass the gradient is added to grad_x, the gradient that went past this branch, in
 * the same trip through memory: 508 had a kernel for that.
 *
 * All of this file is given.
 *
 * Columns are summed in stretches of rows and then stretch by stretch, always in the same order.
 * The cost left: grad_y and x are read again for that.
 */
#ifndef ROWS_CUH
#define ROWS_CUH

#include "510_product.cuh"

#define WARPS 8 /* rows of a block */

/* A chunk as floats. */
struct eight {
    float v[8];
};

__device__ __forceinline__ static eight load_eight(const bf16 *from)
{
    const uint4 bits = *(const uint4 *)from;
    const bf16 *x = (const bf16 *)&bits;
    eight to;
#pragma unroll
    for (int e = 0; e < 8; e++) to.v[e] = __bfloat162float(x[e]);
    return to;
}

__device__ __forceinline__ static void store_eight(bf16 *to, eight from)
{
    uint4 bits;
#pragma unroll
    for (int e = 0; e < 8; e++) ((bf16 *)&bits)[e] = __float2bfloat16(from.v[e]);
    *(uint4 *)to = bits;
}

__device__ __forceinline__ static float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/* A warp per row: mean, variance, y; lane 0 keeps the statistics. */
__global__ static void layernorm_kernel(bf16 *y, float *mean, float *rstd, const bf16 *x,
                                        const float *gamma, const float *beta, int rows, int cols,
                                        float eps)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return; /* all lanes of a warp, or none */
    x += (size_t)row * cols, y += (size_t)row * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x * 8; c < cols; c += 256) {
        const eight value = load_eight(x + c);
        for (int e = 0; e < 8; e++) sum += value.v[e];
    }
    const float m = warp_sum(sum) / cols;
    for (int c = threadIdx.x * 8; c < cols; c += 256) {
        const eight value = load_eight(x + c);
        for (int e = 0; e < 8; e++) squares += (value.v[e] - m) * (value.v[e] - m);
    }
    const float r = rsqrtf(warp_sum(squares) / cols + eps);
    for (int c = threadIdx.x * 8; c < cols; c += 256) {
        eight value = load_eight(x + c);
        for (int e = 0; e < 8; e++) value.v[e] = (value.v[e] - m) * r * gamma[c + e] + beta[c + e];
        store_eight(y + c, value);
    }
    if (threadIdx.x != 0) return;
    mean[row] = m;
    rstd[row] = r;
}

/* A warp per row: two sums, then what is added to grad_x. */
__global__ static void grad_x_kernel(bf16 *grad_x, const bf16 *grad_y, const bf16 *x,
                                     const float *gamma, const float *mean, const float *rstd,
                                     int rows, int cols, bool adds)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    const size_t start = (size_t)row * cols;
    const float m = mean[row], r = rstd[row];
    float sum = 0.0f, dot = 0.0f;
    for (int c = threadIdx.x * 8; c < cols; c += 256) {
        const eight g = load_eight(grad_y + start + c), value = load_eight(x + start + c);
        for (int e = 0; e < 8; e++) {
            sum += g.v[e] * gamma[c + e];
            dot += g.v[e] * gamma[c + e] * ((value.v[e] - m) * r);
        }
    }
    sum = warp_sum(sum) / cols;
    dot = warp_sum(dot) / cols;
    for (int c = threadIdx.x * 8; c < cols; c += 256) {
        const eight g = load_eight(grad_y + start + c), value = load_eight(x + start + c);
        eight to = {};
        if (adds) to = load_eight(grad_x + start + c);
        for (int e = 0; e < 8; e++)
            to.v[e] += r * (g.v[e] * gamma[c + e] - sum - (value.v[e] - m) * r * dot);
        store_eight(grad_x + start + c, to);
    }
}

#define STRETCHES 64 /* at most; a stretch has at least as many rows */

/** A block sums a stretch of rows in 64 columns, of grad_y and, where there is an x, of grad_y
 * xhat. part [stretches x 2 x cols]: sums of grad_y, then of grad_y xhat. A lane has 8 columns of
 * every fourth row of its warp.
 */
template <bool X>
__global__ static void columns_kernel(float *part, const bf16 *grad_y, const bf16 *x,
                                      const float *mean, const float *rstd, int rows, int cols,
                                      int stretch, head_layout by)
{
    __shared__ float sums[WARPS][2][64];
    const int lane = threadIdx.x, col = blockIdx.x * 64 + lane % 8 * 8;
    const int first = blockIdx.y * stretch, end = min(rows, first + stretch);
    float sum[8] = {}, dot[8] = {};
#pragma unroll 4
    for (int row = first + threadIdx.y * 4 + lane / 8; row < end; row += WARPS * 4) {
        const size_t at = by.seq ? (size_t)head_row(by, row, col) * by.dim + col % by.dim
                                 : (size_t)row * cols + col;
        const eight g = load_eight(grad_y + at);
#pragma unroll
        for (int e = 0; e < 8; e++) sum[e] += g.v[e];
        if (!X) continue;
        const eight value = load_eight(x + (size_t)row * cols + col);
        const float m = mean[row], r = rstd[row];
#pragma unroll
        for (int e = 0; e < 8; e++) dot[e] += g.v[e] * ((value.v[e] - m) * r);
    }
#pragma unroll
    for (int e = 0; e < 8; e++) {
        for (int distance = 8; distance < 32; distance *= 2) {
            sum[e] += __shfl_xor_sync(0xffffffffu, sum[e], distance);
            if (X) dot[e] += __shfl_xor_sync(0xffffffffu, dot[e], distance);
        }
        if (lane >= 8) continue;
        sums[threadIdx.y][0][lane * 8 + e] = sum[e];
        sums[threadIdx.y][1][lane * 8 + e] = dot[e];
    }
    __syncthreads(); /* every warp has left its sums */
    const int i = threadIdx.y * 32 + lane; /* one of the 2 x 64 */
    if (i >= (X ? 128 : 64)) return;
    float all = 0.0f;
    for (int w = 0; w < WARPS; w++) all += sums[w][i / 64][i % 64];
    part[((size_t)blockIdx.y * 2 + i / 64) * cols + blockIdx.x * 64 + i % 64] = all;
}

/** Adds the stretches: beta [cols] and, unless it is NULL, gamma [cols]. */
__global__ static void stretches_kernel(float *gamma, float *beta, const float *part, int stretches,
                                        int cols)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    if (i >= (gamma ? 2 : 1) * cols) return;
    for (int s = 0; s < stretches; s++) sum += part[(size_t)s * 2 * cols + i];
    (i < cols ? beta : gamma - cols)[i] = sum;
}

/** cols is a multiple of 64 from here on. @param mean, rstd [rows] */
static inline cudaError_t layernorm(bf16 *y, float *mean, float *rstd, const bf16 *x,
                                    const float *gamma, const float *beta, int rows, int cols,
                                    float eps, cudaStream_t stream)
{
    layernorm_kernel<<<(rows - 1) / WARPS + 1, dim3(32, WARPS), 0, stream>>>(
        y, mean, rstd, x, gamma, beta, rows, cols, eps);
    return cudaGetLastError();
}

/** Column sums: grad_beta [cols] of grad_y, and grad_gamma [cols] of grad_y xhat, both overwritten;
 *  of a bias grad_gamma, x, mean and rstd are NULL. @param parts room for 128 cols floats */
static inline cudaError_t column_sums(float *grad_gamma, float *grad_beta, const bf16 *grad_y,
                                      const bf16 *x, const float *mean, const float *rstd, int rows,
                                      int cols, float *parts, head_layout by, cudaStream_t stream)
{
    const int most = (rows - 1) / STRETCHES + 1, stretches = most < STRETCHES ? most : STRETCHES;
    const int stretch = (rows - 1) / stretches + 1;
    auto *kernel = x ? columns_kernel<true> : columns_kernel<false>;
    kernel<<<dim3(cols / 64, stretches), dim3(32, WARPS), 0, stream>>>(
        parts, grad_y, x, mean, rstd, rows, cols, stretch, by);
    stretches_kernel<<<(2 * cols - 1) / 128 + 1, 128, 0, stream>>>(grad_gamma, grad_beta, parts,
                                                                   stretches, cols);
    return cudaGetLastError();
}

/** @param adds to what is in grad_x, which is overwritten otherwise */
static inline cudaError_t layernorm_back(bf16 *grad_x, float *grad_gamma, float *grad_beta,
                                         const bf16 *grad_y, const bf16 *x, const float *gamma,
                                         const float *mean, const float *rstd, int rows, int cols,
                                         bool adds, float *parts, cudaStream_t stream)
{
    CUDA_CHECK(
        column_sums(grad_gamma, grad_beta, grad_y, x, mean, rstd, rows, cols, parts, {}, stream));
    grad_x_kernel<<<(rows - 1) / WARPS + 1, dim3(32, WARPS), 0, stream>>>(
        grad_x, grad_y, x, gamma, mean, rstd, rows, cols, adds);
    return cudaGetLastError();
}

#endif
