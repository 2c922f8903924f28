/*
 * matrices.cuh: products and transposes.
 */
#pragma once

#include "launch.cuh"

#include <mma.h>

enum { M = 64 };

__global__ void matmul_rows(const float *a, const float *b, float *c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < M; k++) sum += a[y * M + k] * b[k * M + x];
    c[y * M + x] = sum;
}

LAUNCH("matmul naive, lanes along a row")
{
    matmul_rows<<<dim3(M / 16, M / 16), dim3(16, 16)>>>(in.f, in.f + M * M, out.f);
}

LAUNCH("matmul naive, 32 lanes along a row")
{
    matmul_rows<<<dim3(M / 32, M / 8), dim3(32, 8)>>>(in.f, in.f + M * M, out.f);
}

__global__ void matmul_columns(const float *a, const float *b, float *c)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < M; k++) sum += a[y * M + k] * b[k * M + x];
    c[y * M + x] = sum;
}

LAUNCH("matmul naive, lanes along a column")
{
    matmul_columns<<<dim3(M / 16, M / 16), dim3(16, 16)>>>(in.f, in.f + M * M, out.f);
}

template <int tile> __global__ void matmul_tiled(const float *a, const float *b, float *c)
{
    __shared__ float as[tile][tile], bs[tile][tile];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * tile + y,
        column = blockIdx.x * tile + x;
    float sum = 0;
    for (int t = 0; t < M; t += tile) {
        as[y][x] = a[row * M + t + x];
        bs[y][x] = b[(t + y) * M + column];
        __syncthreads();
        for (int k = 0; k < tile; k++) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * M + column] = sum;
}

LAUNCH("matmul tiled 16")
{
    matmul_tiled<16><<<dim3(M / 16, M / 16), dim3(16, 16)>>>(in.f, in.f + M * M, out.f);
}

LAUNCH("matmul tiled 32")
{
    matmul_tiled<32><<<dim3(M / 32, M / 32), dim3(32, 32)>>>(in.f, in.f + M * M, out.f);
}

/* Each thread computes 4 x 4 elements. */
__global__ void matmul_registers(const float *a, const float *b, float *c)
{
    __shared__ float as[16][M], bs[16][M]; /* a transposed */
    int x = threadIdx.x, y = threadIdx.y, at = y * 16 + x;
    float sum[4][4] = {};
    for (int t = 0; t < M; t += 16) {
        float4 part = ((const float4 *)a)[(at / 4 * M + t) / 4 + at % 4];
        as[at % 4 * 4 + 0][at / 4] = part.x;
        as[at % 4 * 4 + 1][at / 4] = part.y;
        as[at % 4 * 4 + 2][at / 4] = part.z;
        as[at % 4 * 4 + 3][at / 4] = part.w;
        ((float4 *)bs[y])[x] = ((const float4 *)b)[(t + y) * M / 4 + x];
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            float4 u = ((const float4 *)as[k])[y], v = ((const float4 *)bs[k])[x];
            float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sum[i][j] += us[i] * vs[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        ((float4 *)c)[(y * 4 + i) * M / 4 + x] =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

LAUNCH("matmul, 4 x 4 in registers")
{
    matmul_registers<<<1, dim3(16, 16)>>>(in.f, in.f + M * M, out.f);
}

/* A warp computes 16 x 16 elements. */
__global__ void matmul_wmma(const __half *a, const __half *b, float *c)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> as;
    fragment<matrix_b, 16, 16, 16, __half, row_major> bs;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int t = 0; t < M; t += 16) {
        load_matrix_sync(as, a + blockIdx.y * 16 * M + t, M);
        load_matrix_sync(bs, b + t * M + blockIdx.x * 16, M);
        mma_sync(sum, as, bs, sum);
    }
    store_matrix_sync(c + blockIdx.y * 16 * M + blockIdx.x * 16, sum, M, mem_row_major);
}

LAUNCH("matmul on tensor cores")
{
    matmul_wmma<<<dim3(M / 16, M / 16), 32>>>(in.h, in.h + M * M, out.f);
}

__global__ void load_matrices(const uint4 *from, uint4 *to)
{
    __shared__ uint4 tile[32];
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    uint4 v;
    tile[threadIdx.x] = from[thread()];
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(at));
    to[thread()] = v;
}

LAUNCH("ldmatrix")
{
    load_matrices<<<4, 32>>>((const uint4 *)in.any, (uint4 *)out.any);
}

__global__ void transpose_naive(const float *from, float *to, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    to[x * n + y] = from[y * n + x];
}

LAUNCH("transpose naive")
{
    transpose_naive<<<dim3(4, 4), dim3(32, 32)>>>(in.f, out.f, 128);
}

template <int pitch> __global__ void transpose_tiled(const float *from, float *to, int n)
{
    __shared__ float tile[32][pitch];
    int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int k = 0; k < 32; k += 8) tile[y + k][x] = from[(top + y + k) * n + left + x];
    __syncthreads();
    for (int k = 0; k < 32; k += 8) to[(left + y + k) * n + top + x] = tile[x][y + k];
}

LAUNCH("transpose tiled")
{
    transpose_tiled<32><<<dim3(4, 4), dim3(32, 8)>>>(in.f, out.f, 128);
}

LAUNCH("transpose padded")
{
    transpose_tiled<33><<<dim3(4, 4), dim3(32, 8)>>>(in.f, out.f, 128);
}
