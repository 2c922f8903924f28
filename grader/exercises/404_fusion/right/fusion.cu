// RIGHT: a block per row of x and 64 outputs, x in dynamic shared memory, w by warps, shuffles | nvcc
// A warp has 32 pixels of 8 filters, whose weights it scales as it folds and hands round, nothing
// shared; a row of residual and layer normalization is a warp's, and lies in its registers
#include "212_matmul_transposed/matmul_transposed.h"
#include "404_fusion/fusion.h"

#define CHUNK 256 /* features of x in shared memory at a time */

/* 256 threads: warp s of 8 computes outputs s, s + 8, ... of the 64 of this block; grid.x is the
 * rows. */
__global__ static void fused_kernel(float *y, float *pre, const float *x, const float *w,
                                    const float *bias, int in_features, int out_features)
{
    extern __shared__ float chunk[]; /* [CHUNK] of row blockIdx.x of x */
    size_t row = blockIdx.x;
    int first = blockIdx.y * 64, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum[8] = {0.0f};
    for (int k = 0; k < in_features; k += CHUNK) {
        int length = min(CHUNK, in_features - k);
        for (int i = threadIdx.x; i < length; i += blockDim.x)
            chunk[i] = x[row * in_features + k + i];
        __syncthreads();
        for (int o = 0; o < 8; o++) {
            int col = first + warp + 8 * o;
            if (col >= out_features) break;
            const float *weights = w + (size_t)col * in_features + k;
            for (int i = lane; i < length; i += 32) sum[o] = fmaf(chunk[i], weights[i], sum[o]);
        }
        __syncthreads();
    }
    for (int o = 0; o < 8; o++) {
        int col = first + warp + 8 * o;
        for (int d = 16; d > 0; d /= 2) sum[o] += __shfl_xor_sync(0xffffffffu, sum[o], d);
        if (lane != 0 || col >= out_features) continue;
        float z = sum[o] + bias[col];
        if (pre) pre[row * out_features + col] = z;
        y[row * out_features + col] = z > 0.0f || isnan(z) ? z : 0.0f;
    }
}

cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream)
{
    dim3 grid(batch, (out_features + 63) / 64);
    if (batch > 0 && out_features > 0)
        fused_kernel<<<grid, 256, CHUNK * sizeof(float), stream>>>(y, pre, x, w, bias, in_features,
                                                                   out_features);
    return cudaGetLastError();
}

#define MINE 8 /* filters of a warp */

struct geometry {
    int channels, h, w, filters, out_h, out_w, kernel_h, kernel_w, stride, pad, taps;
    size_t pixels;
};

__device__ static float look_up(const float *x, int tap, size_t pixel, geometry g)
{
    if (pixel >= g.pixels) return 0.0f;
    int col = pixel % g.out_w * g.stride - g.pad + tap % g.kernel_w;
    int row = pixel / g.out_w % g.out_h * g.stride - g.pad + tap / g.kernel_w % g.kernel_h;
    if (col < 0 || col >= g.w || row < 0 || row >= g.h) return 0.0f;
    size_t plane = pixel / g.out_w / g.out_h * g.channels + tap / g.kernel_w / g.kernel_h;
    return x[(plane * g.h + row) * g.w + col];
}

__global__ static void conv_kernel(float *y, const float *x, const float *w, const float *mean,
                                   const float *var, const float *gamma, const float *beta,
                                   const float *residual, geometry g, float eps)
{
    int lane = threadIdx.x % 32, first = blockIdx.y * MINE, filters = min(MINE, g.filters - first);
    size_t pixel = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum[MINE] = {0.0f}, factor = 0.0f, shift = 0.0f; /* of filter first + lane */
    if (lane < filters) {
        factor = gamma[first + lane] * (1.0f / sqrtf(var[first + lane] + eps));
        shift = fmaf(-mean[first + lane], factor, beta[first + lane]);
    }
    for (int k = 0; k < g.taps; k += 32) {
        float weight[MINE] = {0.0f}; /* that of tap k + lane */
        for (int f = 0; f < filters; f++) {
            float scale = __shfl_sync(0xffffffffu, factor, f);
            if (k + lane < g.taps) weight[f] = w[(size_t)(first + f) * g.taps + k + lane] * scale;
        }
        for (int i = 0; i < min(32, g.taps - k); i++) {
            float value = look_up(x, k + i, pixel, g);
            for (int f = 0; f < MINE; f++) {
                sum[f] = fmaf(__shfl_sync(0xffffffffu, weight[f], i), value, sum[f]);
            }
        }
    }
    size_t plane = (size_t)g.out_h * g.out_w;
    for (int f = 0; f < filters; f++) {
        float z = sum[f] + __shfl_sync(0xffffffffu, shift, f);
        size_t at = (pixel / plane * g.filters + first + f) * plane + pixel % plane;
        if (pixel >= g.pixels) continue;
        if (residual) z += residual[at];
        y[at] = z > 0.0f || isnan(z) ? z : 0.0f;
    }
}

cudaError_t conv_bn_relu(float *y, const float *x, const float *w, const float *mean,
                         const float *var, const float *gamma, const float *beta,
                         const float *residual, int batch, int in_channels, int in_h, int in_w,
                         int out_channels, int kernel_h, int kernel_w, int stride, int pad,
                         float eps, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    geometry g = {in_channels,
                  in_h,
                  in_w,
                  out_channels,
                  out_h,
                  out_w,
                  kernel_h,
                  kernel_w,
                  stride,
                  pad,
                  in_channels * kernel_h * kernel_w,
                  (size_t)batch * out_h * out_w};
    dim3 grid((unsigned)((g.pixels + 127) / 128), (out_channels + MINE - 1) / MINE);
    if (g.pixels > 0)
        conv_kernel<<<grid, 128, 0, stream>>>(y, x, w, mean, var, gamma, beta, residual, g, eps);
    return cudaGetLastError();
}

#define HELD 16 /* columns of a lane that stay in registers */

__device__ static float of_all_lanes(float value)
{
    for (int d = 1; d < 32; d *= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
    return value;
}

__global__ static void rows_kernel(float *y, float *sum, float *mean, float *rstd, const float *x,
                                   const float *residual, const float *gamma, const float *beta,
                                   int rows, int cols, float eps)
{
    const int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const size_t at = (size_t)row * cols;
    float held[HELD], total = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int c = lane + 32 * i;
        held[i] = c < cols ? x[at + c] + residual[at + c] : 0.0f;
        if (sum && c < cols) sum[at + c] = held[i];
        total += held[i];
    }
    for (int c = lane + 32 * HELD; c < cols; c += 32) {
        const float s = x[at + c] + residual[at + c];
        if (sum) sum[at + c] = s;
        total += s;
    }
    const float m = of_all_lanes(total) / cols;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        held[i] -= m;
        if (lane + 32 * i < cols) squares = fmaf(held[i], held[i], squares);
    }
    for (int c = lane + 32 * HELD; c < cols; c += 32) {
        const float distance = x[at + c] + residual[at + c] - m;
        squares = fmaf(distance, distance, squares);
    }
    const float r = rsqrtf(of_all_lanes(squares) / cols + eps);
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int c = lane + 32 * i;
        if (c < cols) y[at + c] = fmaf(held[i] * r, gamma[c], beta[c]);
    }
    for (int c = lane + 32 * HELD; c < cols; c += 32)
        y[at + c] = fmaf((x[at + c] + residual[at + c] - m) * r, gamma[c], beta[c]);
    if (lane == 0) mean[row] = m, rstd[row] = r;
}

cudaError_t residual_layernorm_forward(float *y, float *sum, float *mean, float *rstd,
                                       const float *x, const float *residual, const float *gamma,
                                       const float *beta, int rows, int cols, float eps,
                                       cudaStream_t stream)
{
    if (rows > 0 && cols > 0)
        rows_kernel<<<(rows + 7) / 8, dim3(32, 8), 0, stream>>>(y, sum, mean, rstd, x, residual,
                                                                gamma, beta, rows, cols, eps);
    return cudaGetLastError();
}
