// RIGHT: one kernel for all products, one stage, padded rows, fragments by plain loads | nvcc
#include "413_int8/int8.h"
#include <limits.h>
#include <stdint.h>

#define PITCH                                                                                      \
    144 /* bytes of a row of a tile, 128 of them used: 36 words, so 8 rows lie in 8 x 4 banks */

/* Floats as ints in the same order, for atomicMin and atomicMax. */
__device__ int ordered(float x)
{
    int bits = __float_as_int(x);
    return bits < 0 ? bits ^ INT_MAX : bits;
}

__device__ float from_ordered(int i)
{
    return __int_as_float(i < 0 ? i ^ INT_MAX : i);
}

__device__ float parameters(int *zero, float low, float high, int symmetric)
{
    float scale = symmetric ? fmaxf(-low, high) / 127.f : (.5f * high - .5f * low) / 127.5f;
    if (!(scale > 0.f)) scale = 1.f;
    *zero = symmetric ? 0 : (int)rintf(fminf(-128.f - low / scale, 127.f));
    return scale;
}

/* low and high of a row by one warp */
__device__ void limits(float *low, float *high, const float *x, int cols)
{
    int small = ordered(0.f), large = ordered(0.f);
    for (int i = threadIdx.x; i < cols; i += 32)
        if (fabsf(x[i]) < INFINITY)
            small = min(small, ordered(x[i])), large = max(large, ordered(x[i]));
    *low = from_ordered(__reduce_min_sync(~0u, small));
    *high = from_ordered(__reduce_max_sync(~0u, large));
}

/* zero[0] and sums[0] of the first row hold the extremes until the numbers are made. */
__global__ void clear(int *low, int *high)
{
    *low = *high = ordered(0.f);
}

__global__ void extremes(int *low, int *high, const float *x, int cols)
{
    float small, large;
    limits(&small, &large, x + (size_t)blockIdx.x * cols, cols);
    if (threadIdx.x == 0) atomicMin(low, ordered(small)), atomicMax(high, ordered(large));
}

__global__ void finish_tensor(float *scale, int *zero, int *sums, int rows, int symmetric)
{
    int point;
    float one = parameters(&point, from_ordered(zero[0]), from_ordered(sums[0]), symmetric);
    __syncthreads();
    for (int r = threadIdx.x; r < rows; r += blockDim.x) scale[r] = one, zero[r] = point;
}

__global__ void one_row(int8_t *q, float *scale, int *zero, int *sums, const float *x, int cols,
                        int per_channel, int symmetric)
{
    size_t row = blockIdx.x;
    float step, low, high;
    int point = 0, total = 0;
    x += row * cols, q += row * cols;
    if (per_channel) {
        limits(&low, &high, x, cols);
        step = parameters(&point, low, high, symmetric);
    } else {
        step = scale[row], point = zero[row];
    }
    for (int i = threadIdx.x; i < cols; i += 32) {
        float v = rintf(x[i] / step);
        int whole = v != v ? point : v > 1000.f ? 127 : v < -1000.f ? -128 : (int)v + point;
        whole = whole > 127 ? 127 : whole < -128 ? -128 : whole;
        q[i] = (int8_t)whole;
        total += whole;
    }
    total = __reduce_add_sync(~0u, total);
    if (threadIdx.x == 0) {
        sums[row] = total;
        if (per_channel) scale[row] = step, zero[row] = point;
    }
}

extern "C" cudaError_t quantize_s8(int8_t *q, float *scale, int *zero_point, int *row_sums,
                                   const float *x, int rows, int cols, int per_channel,
                                   int symmetric, cudaStream_t stream)
{
    if (rows < 1) return cudaSuccess;
    if (!per_channel) {
        clear<<<1, 1, 0, stream>>>(zero_point, row_sums);
        extremes<<<rows, 32, 0, stream>>>(zero_point, row_sums, x, cols);
        finish_tensor<<<1, 512, 0, stream>>>(scale, zero_point, row_sums, rows, symmetric);
    }
    one_row<<<rows, 32, 0, stream>>>(q, scale, zero_point, row_sums, x, cols, per_channel,
                                     symmetric);
    return cudaGetLastError();
}

/* 128 rows of 128 bytes, by 16 bytes where that can be, else byte by byte */
__device__ void stage(unsigned char *tile, const int8_t *x, long row, long k0, int rows, int k,
                      bool wide)
{
    if (wide) {
        for (int i = threadIdx.x; i < 128 * 8; i += 256) {
            int r = i / 8, c = i % 8 * 16;
            int4 v = {0, 0, 0, 0};
            if (row + r < rows && k0 + c < k) v = *(const int4 *)(x + (row + r) * k + k0 + c);
            *(int4 *)(tile + r * PITCH + c) = v;
        }
        return;
    }
    for (int i = threadIdx.x; i < 128 * 128; i += 256) {
        int r = i / 128, c = i % 128;
        bool there = row + r < rows && k0 + c < k;
        tile[r * PITCH + c] = there ? (unsigned char)x[(row + r) * k + k0 + c] : 0;
    }
}

__global__ void gemm(int *c, const int8_t *a, const int8_t *b, int m, int n, int k, bool wide)
{
    __shared__ __align__(16) unsigned char as[128 * PITCH], bs[128 * PITCH];
    long across = (n + 127L) / 128, row = blockIdx.x / across * 128,
         col = blockIdx.x % across * 128;
    int lane = threadIdx.x % 32, top = threadIdx.x / 128 * 64, left = threadIdx.x / 32 % 4 * 32;
    int sum[4][4][4] = {};
    for (long k0 = 0; k0 < k; k0 += 128) {
        stage(as, a, row, k0, m, k, wide);
        stage(bs, b, col, k0, n, k, wide);
        __syncthreads();
        for (int s = 0; s < 128 && k0 + s < k && row + top < m && col + left < n; s += 32) {
            unsigned f[4][4], g[4][2];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    f[i][j] = *(unsigned *)(as + (top + i * 16 + j % 2 * 8 + lane / 4) * PITCH + s +
                                            j / 2 * 16 + lane % 4 * 4);
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++)
                    g[i][j] = *(unsigned *)(bs + (left + i * 8 + lane / 4) * PITCH + s + j * 16 +
                                            lane % 4 * 4);
            for (int i = 0; i < 16; i++) {
                int *d = sum[i / 4][i % 4];
                unsigned *p = f[i / 4], *q = g[i % 4];
                asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, "
                    "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                    : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                    : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(q[0]), "r"(q[1]));
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 64; i++) {
        long r = row + top + i / 16 * 16 + i % 4 / 2 * 8 + lane / 4;
        long q = col + left + i / 4 % 4 * 8 + lane % 4 * 2;
        bool pair = n % 2 == 0 && (size_t)c % 8 == 0;
        if (r >= m || q + i % 2 >= n || (pair && i % 2)) continue;
        if (pair)
            *(int2 *)(c + r * n + q) =
                make_int2(sum[i / 16][i / 4 % 4][i % 4], sum[i / 16][i / 4 % 4][i % 4 + 1]);
        else
            c[r * n + q + i % 2] = sum[i / 16][i / 4 % 4][i % 4];
    }
}

extern "C" cudaError_t gemm_s8s8s32(int32_t *c, const int8_t *a, const int8_t *b, int m, int n,
                                    int k, cudaStream_t stream)
{
    if (m < 1 || n < 1) return cudaSuccess;
    bool wide = ((size_t)a | (size_t)b | (size_t)k) % 16 == 0;
    long blocks = (m + 127L) / 128 * ((n + 127L) / 128);
    gemm<<<(unsigned)blocks, 256, 0, stream>>>(c, a, b, m, n, k, wide);
    return cudaGetLastError();
}

/* a block: 32 columns, 8 x 8 rows; doubles hold all these numbers exactly */
__global__ void back(float *y, const int *c, const float *sa, const int *za, const int *ra,
                     const float *sb, const int *zb, const int *rb, const float *bias, int m, int n,
                     int k)
{
    long across = (n + 31L) / 32, col = blockIdx.x % across * 32 + threadIdx.x;
    long row = blockIdx.x / across * 64 + threadIdx.y * 8;
    if (col >= n) return;
    double scale = sb[col], zero = zb[col], sum = rb[col], add = bias ? bias[col] : 0.f;
    for (long r = row; r < row + 8 && r < m; r++) {
        double whole = c[r * n + col] - za[r] * sum - zero * ra[r] + zero * za[r] * k;
        y[r * n + col] = (float)(whole * sa[r] * scale + add);
    }
}

extern "C" cudaError_t dequantize_epilogue(float *y, const int32_t *c, const float *scale_a,
                                           const int *zero_a, const int *sums_a,
                                           const float *scale_b, const int *zero_b,
                                           const int *sums_b, const float *bias, int m, int n,
                                           int k, cudaStream_t stream)
{
    if (m < 1 || n < 1) return cudaSuccess;
    long blocks = (m + 63L) / 64 * ((n + 31L) / 32);
    back<<<(unsigned)blocks, dim3(32, 8), 0, stream>>>(y, c, scale_a, zero_a, sums_a, scale_b,
                                                       zero_b, sums_b, bias, m, n, k);
    return cudaGetLastError();
}
