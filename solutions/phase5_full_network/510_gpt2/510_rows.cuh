/*
 * 510_rows.cuh: layer normalization in bf16, forward and backward, and sums down the columns, which
 * are the gradients of biases and of gamma and beta.
 *
 * As in 311 a row belongs to a warp, and all sums are fp32. bf16 halves what moves, if loads stay
 * wide: a lane takes chunks of 8 elements, 16 bytes. A row of up to 1,024 columns stays in the
 * registers of its warp, so that it is read once.
 *
 * In the backward pass the gradient is added to grad_x, the gradient that went past this branch, in
 * the same trip through memory: 508 had a kernel for that. In the same trip each lane adds up its
 * columns over all rows of its warp: for gamma, for beta, and of the new grad_x, which is the
 * gradient of the bias that was added before.
 *
 * All of this file is given.
 *
 * Columns are summed in stretches of rows and then stretch by stretch, always in the same order.
 * The cost left: the gradients of two biases per layer are read again for their sums.
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

#define MOST_CHUNKS 4   /* of 8 columns that a lane keeps of a row; those behind are read again */
#define NORM_BLOCKS 264 /* at most: two a multiprocessor */

/* What every row needs of a lane's columns: loaded once, since a store might change it for all that
 * the compiler knows. 0 behind the last column. */
template <int CHUNKS>
__device__ __forceinline__ static void load_columns(eight (&to)[CHUNKS], const float *from,
                                                    int first, int end)
{
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) {
        const int c = first + i * 256;
        float4 *const four = (float4 *)to[i].v;
        four[0] = c < end ? *(const float4 *)(from + c) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        four[1] = c < end ? *(const float4 *)(from + c + 4) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

/* A lane's part of a row, as it is in memory; 0 behind its end. */
template <int CHUNKS>
__device__ __forceinline__ static void load_row(uint4 (&to)[CHUNKS], const bf16 *row, int first,
                                                int end)
{
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) {
        const int c = first + i * 256;
        to[i] = c < end ? *(const uint4 *)(row + c) : make_uint4(0, 0, 0, 0);
    }
}

__device__ __forceinline__ static eight normalized(eight x, float mean, float rstd, eight gamma,
                                                   eight beta)
{
#pragma unroll
    for (int e = 0; e < 8; e++) x.v[e] = (x.v[e] - mean) * rstd * gamma.v[e] + beta.v[e];
    return x;
}

/* A warp per row, and then another row: mean, variance, y; lane 0 keeps the statistics. The next
 * row is on its way meanwhile. */
template <int CHUNKS>
__global__ static void __launch_bounds__(WARPS * 32, CHUNKS > 3 ? 1 : 2)
    layernorm_kernel(bf16 *y, float *mean, float *rstd, const bf16 *x, const float *gamma,
                     const float *beta, int rows, int cols, float eps)
{
    const int first = threadIdx.x * 8, step = gridDim.x * WARPS;
    eight gammas[CHUNKS], betas[CHUNKS];
    uint4 ahead[CHUNKS];
    int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return; /* all lanes of a warp, or none */
    load_columns(gammas, gamma, first, cols);
    load_columns(betas, beta, first, cols);
    load_row(ahead, x + (size_t)row * cols, first, cols);
    for (; row < rows; row += step) {
        const bf16 *from = x + (size_t)row * cols;
        bf16 *to = y + (size_t)row * cols;
        eight kept[CHUNKS];
        float sum = 0.0f, squares = 0.0f;
#pragma unroll
        for (int i = 0; i < CHUNKS; i++) kept[i] = load_eight((bf16 *)&ahead[i]);
        if (row + step < rows) load_row(ahead, from + (size_t)step * cols, first, cols);
#pragma unroll
        for (int i = 0; i < CHUNKS * 8; i++) sum += kept[i / 8].v[i % 8];
        for (int c = first + CHUNKS * 256; c < cols; c += 256) {
            const eight value = load_eight(from + c);
            for (int e = 0; e < 8; e++) sum += value.v[e];
        }
        const float m = warp_sum(sum) / cols;
#pragma unroll
        for (int i = 0; i < CHUNKS * 8; i++) {
            const float off = first + i / 8 * 256 < cols ? kept[i / 8].v[i % 8] - m : 0.0f;
            squares += off * off;
        }
        for (int c = first + CHUNKS * 256; c < cols; c += 256) {
            const eight value = load_eight(from + c);
            for (int e = 0; e < 8; e++) squares += (value.v[e] - m) * (value.v[e] - m);
        }
        const float r = rsqrtf(warp_sum(squares) / cols + eps);
#pragma unroll
        for (int i = 0; i < CHUNKS; i++) {
            const int c = first + i * 256;
            if (c < cols) store_eight(to + c, normalized(kept[i], m, r, gammas[i], betas[i]));
        }
        for (int c = first + CHUNKS * 256; c < cols; c += 256) {
            eight g[1], b[1];
            load_columns(g, gamma, c, cols);
            load_columns(b, beta, c, cols);
            store_eight(to + c, normalized(load_eight(from + c), m, r, g[0], b[0]));
        }
        if (threadIdx.x != 0) continue;
        mean[row] = m;
        rstd[row] = r;
    }
}

#define BACK_WARPS  12  /* rows of a block at a time */
#define BACK_BLOCKS 128 /* at most: one a multiprocessor */

/** A warp per row: two sums, then what is added to grad_x. Of the 256 CHUNKS columns from
 * blockIdx.y on, a lane keeps its part of the row, and sums over all rows of the warp; the block's
 * go to part [blocks x 3 x cols]: of grad_y, of grad_y xhat, and of the new grad_x. */
template <int CHUNKS>
__global__ static void __launch_bounds__(BACK_WARPS * 32)
    back_kernel(bf16 *grad_x, float *part, const bf16 *grad_y, const bf16 *x, const float *gamma,
                const float *mean, const float *rstd, int rows, int cols, bool adds)
{
    __shared__ float of_block[3][CHUNKS * 256];
    const int lane = threadIdx.x, warp = threadIdx.y, begin = blockIdx.y * CHUNKS * 256;
    const int first = begin + lane * 8, end = min(cols, begin + CHUNKS * 256);
    float sums[3][CHUNKS][8] = {};
    eight gammas[CHUNKS];
    load_columns(gammas, gamma, first, end);
    for (int row = blockIdx.x * BACK_WARPS + warp; row < rows; row += gridDim.x * BACK_WARPS) {
        const size_t start = (size_t)row * cols;
        const float m = mean[row], r = rstd[row];
        uint4 g[CHUNKS], value[CHUNKS], to[CHUNKS]; /* 8 elements each */
        float sum = 0.0f, dot = 0.0f;
        load_row(g, grad_y + start, first, end);
        load_row(value, x + start, first, end);
        load_row(to, grad_x + start, first, adds ? end : 0);
#pragma unroll
        for (int i = 0; i < CHUNKS; i++) {
            const int c = first + i * 256;
            if (c >= end) continue;
            const eight gs = load_eight((bf16 *)&g[i]), v = load_eight((bf16 *)&value[i]);
#pragma unroll
            for (int e = 0; e < 8; e++) {
                const float scaled = gs.v[e] * gammas[i].v[e], xhat = (v.v[e] - m) * r;
                sum += scaled, dot += scaled * xhat;
                sums[0][i][e] += gs.v[e], sums[1][i][e] += gs.v[e] * xhat;
            }
        }
        for (int c = lane * 8; c < cols; c += 256) { /* columns of other blocks */
            if (gridDim.y == 1 || c / (CHUNKS * 256) == blockIdx.y) continue;
            const eight gs = load_eight(grad_y + start + c), v = load_eight(x + start + c);
            for (int e = 0; e < 8; e++) {
                sum += gs.v[e] * gamma[c + e];
                dot += gs.v[e] * gamma[c + e] * ((v.v[e] - m) * r);
            }
        }
        sum = warp_sum(sum) / cols;
        dot = warp_sum(dot) / cols;
#pragma unroll
        for (int i = 0; i < CHUNKS; i++) {
            const int c = first + i * 256;
            if (c >= end) continue;
            const eight gs = load_eight((bf16 *)&g[i]), v = load_eight((bf16 *)&value[i]);
            eight now = load_eight((bf16 *)&to[i]);
#pragma unroll
            for (int e = 0; e < 8; e++) {
                now.v[e] += r * (gs.v[e] * gammas[i].v[e] - sum - (v.v[e] - m) * r * dot);
                sums[2][i][e] += now.v[e];
            }
            store_eight(grad_x + start + c, now);
        }
    }
    for (int w = 0; w < BACK_WARPS; w++) { /* one after the other, always in the same order */
#pragma unroll
        for (int k = 0; k < 3 * CHUNKS * 8; k++) {
            float *of = &of_block[k / 8 / CHUNKS][lane * 8 + k / 8 % CHUNKS * 256 + k % 8];
            if (warp == w) *of = (w > 0 ? *of : 0.0f) + sums[k / 8 / CHUNKS][k / 8 % CHUNKS][k % 8];
        }
        __syncthreads(); /* the next warp adds to them; at last all are there */
    }
    for (int k = 0; k < 3; k++)
        for (int c = begin + warp * 32 + lane; c < end; c += BACK_WARPS * 32)
            part[((size_t)blockIdx.x * 3 + k) * cols + c] = of_block[k][c - begin];
}

#define STRETCHES 64 /* at most; a stretch has at least as many rows */

/** A block sums a stretch of rows of grad_y in 64 columns, to part [stretches x cols]. A lane has 8
 * columns of every fourth row of its warp. */
__global__ static void columns_kernel(float *part, const bf16 *grad_y, int rows, int cols,
                                      int stretch, head_layout by)
{
    __shared__ float sums[WARPS][64];
    const int lane = threadIdx.x, col = blockIdx.x * 64 + lane % 8 * 8;
    const int first = blockIdx.y * stretch, end = min(rows, first + stretch);
    const int of_col = by.seq ? head_col(by, col) : 0;
    float sum[8] = {};
#pragma unroll 4
    for (int row = first + threadIdx.y * 4 + lane / 8; row < end; row += WARPS * 4) {
        const size_t at = by.seq ? (size_t)(head_row(by, row) + of_col) * by.dim + col % by.dim
                                 : (size_t)row * cols + col;
        const eight g = load_eight(grad_y + at);
#pragma unroll
        for (int e = 0; e < 8; e++) sum[e] += g.v[e];
    }
#pragma unroll
    for (int e = 0; e < 8; e++) {
        for (int distance = 8; distance < 32; distance *= 2)
            sum[e] += __shfl_xor_sync(0xffffffffu, sum[e], distance);
        if (lane < 8) sums[threadIdx.y][lane * 8 + e] = sum[e];
    }
    __syncthreads(); /* every warp has left its sums */
    const int i = threadIdx.y * 32 + lane;
    if (i >= 64) return;
    float all = 0.0f;
    for (int w = 0; w < WARPS; w++) all += sums[w][i];
    part[(size_t)blockIdx.y * cols + blockIdx.x * 64 + i] = all;
}

/** Adds the stretches of up to three sums, each cols floats in every stretch; a NULL is not wanted.
 * A block has 32 columns of one of them, each warp every WARPS-th stretch. */
struct column_results {
    float *to[3];
};

__global__ static void stretches_kernel(column_results sums, const float *part, int stretches,
                                        int cols, int kinds)
{
    __shared__ float parts[WARPS][32];
    const int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 8
    for (int s = threadIdx.y; s < stretches; s += WARPS)
        sum += part[((size_t)s * kinds + blockIdx.y) * cols + col];
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads(); /* every warp has left its sum */
    if (threadIdx.y != 0 || sums.to[blockIdx.y] == NULL) return;
    for (int w = 1; w < WARPS; w++) sum += parts[w][threadIdx.x];
    sums.to[blockIdx.y][col] = sum;
}

/** cols is a multiple of 64 from here on. @param mean, rstd [rows] */
static inline cudaError_t layernorm(bf16 *y, float *mean, float *rstd, const bf16 *x,
                                    const float *gamma, const float *beta, int rows, int cols,
                                    float eps, cudaStream_t stream)
{
    auto *kernel = cols <= 256   ? layernorm_kernel<1>
                   : cols <= 512 ? layernorm_kernel<2>
                   : cols <= 768 ? layernorm_kernel<3>
                                 : layernorm_kernel<MOST_CHUNKS>;
    const int most = (rows - 1) / WARPS + 1, blocks = most < NORM_BLOCKS ? most : NORM_BLOCKS;
    kernel<<<blocks, dim3(32, WARPS), 0, stream>>>(y, mean, rstd, x, gamma, beta, rows, cols, eps);
    return cudaGetLastError();
}

/** Column sums of grad_y: the gradient of a bias [cols], overwritten. @param by where grad_y is by
 *  heads; else of seq 0. @param parts room for 64 cols floats */
static inline cudaError_t column_sums(float *grad_bias, const bf16 *grad_y, int rows, int cols,
                                      head_layout by, float *parts, cudaStream_t stream)
{
    const int most = (rows - 1) / STRETCHES + 1, stretches = most < STRETCHES ? most : STRETCHES;
    const int stretch = (rows - 1) / stretches + 1;
    columns_kernel<<<dim3(cols / 64, stretches), dim3(32, WARPS), 0, stream>>>(parts, grad_y, rows,
                                                                               cols, stretch, by);
    stretches_kernel<<<cols / 32, dim3(32, WARPS), 0, stream>>>({{grad_bias}}, parts, stretches,
                                                                cols, 1);
    return cudaGetLastError();
}

/** @param adds      to what is in grad_x, which is overwritten otherwise
 *  @param grad_bias [cols] receives the column sums of the new grad_x; NULL: not wanted
 *  @param parts     room for 384 cols floats */
static inline cudaError_t layernorm_back(bf16 *grad_x, float *grad_gamma, float *grad_beta,
                                         float *grad_bias, const bf16 *grad_y, const bf16 *x,
                                         const float *gamma, const float *mean, const float *rstd,
                                         int rows, int cols, bool adds, float *parts,
                                         cudaStream_t stream)
{
    auto *kernel = cols <= 256   ? back_kernel<1>
                   : cols <= 512 ? back_kernel<2>
                   : cols <= 768 ? back_kernel<3>
                                 : back_kernel<MOST_CHUNKS>;
    const int most = (rows - 1) / BACK_WARPS + 1, blocks = most < BACK_BLOCKS ? most : BACK_BLOCKS;
    const dim3 grid(blocks, (cols - 1) / (MOST_CHUNKS * 256) + 1);
    kernel<<<grid, dim3(32, BACK_WARPS), 0, stream>>>(grad_x, parts, grad_y, x, gamma, mean, rstd,
                                                      rows, cols, adds);
    stretches_kernel<<<dim3(cols / 32, grad_bias ? 3 : 2), dim3(32, WARPS), 0, stream>>>(
        {{grad_beta, grad_gamma, grad_bias}}, parts, blocks, cols, 3);
    return cudaGetLastError();
}

#endif
