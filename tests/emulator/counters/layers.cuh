/*
 * layers.cuh: softmax, layernorm, convolutions, stencils.
 */
#pragma once

#include "launch.cuh"

enum { ROW = 200 };

__device__ static float warp_max(float value)
{
    for (int s = 16; s > 0; s /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, s));
    return value;
}

/* A warp a row. */
__global__ void softmax(const float *from, float *to)
{
    int lane = threadIdx.x % 32, row = thread() / 32;
    const float *x = from + row * ROW;
    float most = -INFINITY, sum = 0;
    for (int i = lane; i < ROW; i += 32) most = fmaxf(most, x[i]);
    most = warp_max(most);
    for (int i = lane; i < ROW; i += 32) sum += expf(x[i] - most);
    sum = warp_sum(sum);
    for (int i = lane; i < ROW; i += 32) to[row * ROW + i] = expf(x[i] - most) / sum;
}

LAUNCH("softmax, a warp a row")
{
    softmax<<<16, 128>>>(in.f, out.f);
}

/* A thread a row: as uncoalesced as can be. */
__global__ void softmax_thread(const float *from, float *to)
{
    const float *x = from + thread() * ROW;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < ROW; i++) most = fmaxf(most, x[i]);
    for (int i = 0; i < ROW; i++) sum += expf(x[i] - most);
    for (int i = 0; i < ROW; i++) to[thread() * ROW + i] = expf(x[i] - most) / sum;
}

LAUNCH("softmax, a thread a row")
{
    softmax_thread<<<1, 64>>>(in.f, out.f);
}

/* A block a row. */
__global__ void layernorm(const float *from, const float *scale, float *to)
{
    __shared__ float sums[4], squares[4];
    const float *x = from + blockIdx.x * ROW;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < ROW; i += 128) {
        sum += x[i];
        square += x[i] * x[i];
    }
    sum = warp_sum(sum);
    square = warp_sum(square);
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        squares[threadIdx.x / 32] = square;
    }
    __syncthreads();
    float mean = (sums[0] + sums[1] + sums[2] + sums[3]) / ROW;
    float variance = (squares[0] + squares[1] + squares[2] + squares[3]) / ROW - mean * mean;
    for (int i = threadIdx.x; i < ROW; i += 128)
        to[blockIdx.x * ROW + i] = (x[i] - mean) * rsqrtf(variance + 1e-5f) * scale[i];
}

LAUNCH("layernorm")
{
    layernorm<<<64, 128>>>(in.f, in.f + N, out.f);
}

__constant__ float filter[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

__global__ void conv2d(const float *from, float *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int u = x + dx, v = y + dy;
            if (u < 0 || v < 0 || u >= width || v >= height) continue;
            sum += filter[(dy + 1) * 3 + dx + 1] * from[v * width + u];
        }
    }
    to[y * width + x] = sum;
}

LAUNCH("conv2d direct, filter in constant memory")
{
    conv2d<<<dim3(8, 8), dim3(16, 16)>>>(in.f, out.f, 128, 128);
}

__global__ void conv2d_shared(const float *from, float *to, int width)
{
    __shared__ float tile[18][18];
    int left = blockIdx.x * 16, top = blockIdx.y * 16, at = threadIdx.y * 16 + threadIdx.x;
    for (int i = at; i < 18 * 18; i += 256)
        tile[i / 18][i % 18] = from[(top + i / 18) * width + left + i % 18];
    __syncthreads();
    float sum = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += filter[dy * 3 + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    to[(top + threadIdx.y) * width + left + threadIdx.x] = sum;
}

LAUNCH("conv2d, tile in shared memory")
{
    conv2d_shared<<<dim3(7, 7), dim3(16, 16)>>>(in.f, out.f, 128);
}

__global__ void stencil_1d(const float *from, float *to, int n)
{
    __shared__ float tile[256 + 8];
    int i = thread() + 4, at = threadIdx.x + 4;
    tile[at] = from[i];
    if (threadIdx.x < 4) {
        tile[at - 4] = from[i - 4];
        tile[at + 256] = from[i + 256];
    }
    __syncthreads();
    float sum = 0;
    for (int k = -4; k <= 4; k++) sum += tile[at + k];
    if (i < n) to[i] = sum;
}

LAUNCH("stencil 1-D")
{
    stencil_1d<<<N / 256, 256>>>(in.f, out.f, N);
}

__global__ void stencil_2d(const float *from, float *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    int i = y * width + x;
    to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
}

LAUNCH("stencil 2-D")
{
    stencil_2d<<<dim3(4, 16), dim3(32, 8)>>>(in.f, out.f, 125, 125);
}
