// RIGHT: tensor cores by wmma, rows from anywhere; the same kernels for every range | nvcc
#include "413_int8/int8.h"
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

/* ---- floats to numbers: limits of every row first, then numbers ------------------------------ */

struct limit {
    float least = 0, most = 0;
    __device__ void take(float v)
    {
        if (isnan(v) || isinf(v)) return;
        if (v < least) least = v;
        if (v > most) most = v;
    }
    __device__ void of_all(void)
    {
        __shared__ float all[2][128];
        all[0][threadIdx.x] = least, all[1][threadIdx.x] = most;
        for (int half = 64; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.x >= half) continue;
            all[0][threadIdx.x] = fminf(all[0][threadIdx.x], all[0][threadIdx.x + half]);
            all[1][threadIdx.x] = fmaxf(all[1][threadIdx.x], all[1][threadIdx.x + half]);
        }
        __syncthreads();
        least = all[0][0], most = all[1][0];
    }
};

/* the limits lie in scale and, as bits, in the sums */
__global__ void find(float *scale, float *sums, const float *x, int cols)
{
    limit l;
    for (int i = threadIdx.x; i < cols; i += 128) l.take(x[(size_t)blockIdx.x * cols + i]);
    l.of_all();
    if (threadIdx.x == 0) scale[blockIdx.x] = l.least, sums[blockIdx.x] = l.most;
}

__global__ void settle(float *scale, int *zero, float *sums, int rows, bool own, bool symmetric)
{
    limit l;
    for (int i = threadIdx.x; i < rows && !own; i += 128) l.take(scale[i]), l.take(sums[i]);
    if (!own) l.of_all();
    const int first = own ? blockIdx.x * 128 + threadIdx.x : threadIdx.x;
    for (int i = first; i < rows; i += own ? rows : 128) {
        if (own) l.least = scale[i], l.most = sums[i];
        float step = fmaxf(-l.least, l.most) / 127;
        if (!symmetric)
            step =
                l.most - l.least < 3e38f ? (l.most - l.least) / 255 : l.most / 255 - l.least / 255;
        if (step == 0) step = 1;
        scale[i] = step;
        zero[i] = symmetric ? 0 : -128 - (int)rintf(fmaxf(l.least / step, -255));
    }
}

__global__ void number(int8_t *q, int *sums, const float *scale, const int *zero, const float *x,
                       int cols)
{
    __shared__ int parts[4];
    const size_t begin = (size_t)blockIdx.x * cols;
    const int point = zero[blockIdx.x];
    const float step = scale[blockIdx.x];
    int sum = 0;
    for (int i = threadIdx.x; i < cols; i += 128) {
        const float v = x[begin + i];
        int n = point;
        if (!isnan(v)) n += __float2int_rn(fmaxf(-512, fminf(512, v / step)));
        n = min(max(n, -128), 127);
        q[begin + i] = n;
        sum += n;
    }
    for (int i = 1; i < 32; i *= 2) sum += __shfl_xor_sync(0xffffffff, sum, i);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
}

extern "C" cudaError_t quantize_s8(int8_t *q, float *scale, int *zero_point, int *row_sums,
                                   const float *x, int rows, int cols, int per_channel,
                                   int symmetric, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    find<<<rows, 128, 0, stream>>>(scale, (float *)row_sums, x, cols);
    settle<<<per_channel ? (rows + 127) / 128 : 1, 128, 0, stream>>>(
        scale, zero_point, (float *)row_sums, rows, per_channel, symmetric);
    number<<<rows, 128, 0, stream>>>(q, row_sums, scale, zero_point, x, cols);
    return cudaGetLastError();
}

/* ---- the product ----------------------------------------------------------------------------- */

#define T 128 /* a tile's side, 64 terms at a time, rows 80 bytes long */

__device__ void get(signed char (*to)[80], const int8_t *x, size_t row, long at, long rows, long k)
{
    for (int i = threadIdx.x; i < T * 16; i += 256) {
        /* a warp's two rows lie four apart, in different banks */
        const int r = i / 128 * 8 + i / 32 % 4 + i / 16 % 2 * 4, p = i % 16 * 4;
        const int8_t *from = x + (row + r) * k + at + p;
        char4 v = make_char4(0, 0, 0, 0);
        const long left = (long)row + r < rows ? k - at - p : 0;
        if (left >= 4 && (size_t)from % 4 == 0) {
            v = *(const char4 *)from;
        } else {
            if (left > 0) v.x = from[0];
            if (left > 1) v.y = from[1];
            if (left > 2) v.z = from[2];
            if (left > 3) v.w = from[3];
        }
        *(char4 *)&to[r][p] = v;
    }
}

__global__ void product(int *c, const int8_t *a, const int8_t *b, int m, int n, int k)
{
    __shared__ __align__(128) signed char as[T][80], bs[T][80];
    __shared__ __align__(128) int patch[8][16][24];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int down = warp % 2 * 64, right = warp / 2 * 32;
    const size_t wide = ((size_t)n + T - 1) / T;
    const size_t row = blockIdx.x / wide * T, col = blockIdx.x % wide * T;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum[4][2];
    for (int i = 0; i < 8; i++) wmma::fill_fragment(sum[i / 2][i % 2], 0);
    for (long at = 0; at < k; at += 64) {
        get(as, a, row, at, m, k);
        get(bs, b, col, at, n, k);
        __syncthreads();
        for (int s = 0; s < 64 && row + down < m && col + right < n && at + s < k; s += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> x[4];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> y[2];
            for (int i = 0; i < 4; i++) wmma::load_matrix_sync(x[i], &as[down + i * 16][s], 80);
            for (int i = 0; i < 2; i++) wmma::load_matrix_sync(y[i], &bs[right + i * 16][s], 80);
            for (int i = 0; i < 8; i++)
                wmma::mma_sync(sum[i / 2][i % 2], x[i / 2], y[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++) {
        const size_t r0 = row + down + i / 2 * 16, q = col + right + i % 2 * 16 + lane % 16;
        wmma::store_matrix_sync(&patch[warp][0][0], sum[i / 2][i % 2], 24, wmma::mem_row_major);
        __syncwarp();
        /* two rows that lie two apart are in different banks */
        for (int p = 0; p < 8; p++) {
            const int r = p / 2 * 4 + p % 2 + lane / 16 * 2;
            if (r0 + r < m && q < n) c[(r0 + r) * n + q] = patch[warp][r][lane % 16];
        }
        __syncwarp();
    }
}

extern "C" cudaError_t gemm_s8s8s32(int32_t *c, const int8_t *a, const int8_t *b, int m, int n,
                                    int k, cudaStream_t stream)
{
    const size_t blocks = ((size_t)m + T - 1) / T * (((size_t)n + T - 1) / T);
    if (blocks > 0) product<<<(unsigned)blocks, 256, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}

/* ---- and back: a thread takes 32 rows of a column -------------------------------------------- */

__global__ void floats(float *y, const int *c, const float *scale_a, const int *zero_a,
                       const int *sums_a, const float *scale_b, const int *zero_b,
                       const int *sums_b, const float *bias, int m, int n, int k)
{
    const size_t wide = ((size_t)n + 63) / 64, j = blockIdx.x % wide * 64 + threadIdx.x;
    if (j >= n) return;
    const long zb = zero_b[j], sb = sums_b[j];
    const float unit = scale_b[j], add = bias == NULL ? 0 : bias[j];
    for (size_t i = blockIdx.x / wide * 32, end = min(i + 32, (size_t)m); i < end; i++) {
        /* sum (a - za)(b - zb) = c - zb sum a - za (sum b - k zb) */
        const long exact = c[i * n + j] - zb * sums_a[i] - zero_a[i] * (sb - k * zb);
        const float v = scale_a[i] * (unit * exact);
        y[i * n + j] = v + add;
    }
}

extern "C" cudaError_t dequantize_epilogue(float *y, const int32_t *c, const float *scale_a,
                                           const int *zero_a, const int *sums_a,
                                           const float *scale_b, const int *zero_b,
                                           const int *sums_b, const float *bias, int m, int n,
                                           int k, cudaStream_t stream)
{
    const size_t blocks = ((size_t)m + 31) / 32 * (((size_t)n + 63) / 64);
    if (blocks > 0)
        floats<<<(unsigned)blocks, 64, 0, stream>>>(y, c, scale_a, zero_a, sums_a, scale_b, zero_b,
                                                    sums_b, bias, m, n, k);
    return cudaGetLastError();
}
