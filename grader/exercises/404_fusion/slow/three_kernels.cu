// SLOW: bytes stored | counted 3.00
// Product, bias and ReLU in kernels of their own: every output goes through memory three times.
#include "optimization.h"

#define TILE 16

__device__ static void load_tile(float (*tile)[TILE + 1], const float *matrix, int rows, int cols,
                                 int row, int col)
{
    row += threadIdx.y;
    col += threadIdx.x;
    bool inside = row < rows && col < cols;
    tile[threadIdx.y][threadIdx.x] = inside ? matrix[(size_t)row * cols + col] : 0.0f;
}

__global__ static void linear_kernel(float *y, const float *x, const float *w, int batch,
                                     int in_features, int out_features)
{
    __shared__ float x_tile[TILE][TILE + 1], w_tile[TILE][TILE + 1];
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    float sum = 0.0f;
    for (int k = 0; k < in_features; k += TILE) {
        load_tile(x_tile, x, batch, in_features, row, k);
        load_tile(w_tile, w, out_features, in_features, col, k);
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += x_tile[threadIdx.y][i] * w_tile[threadIdx.x][i];
        __syncthreads();
    }
    row += threadIdx.y;
    col += threadIdx.x;
    if (row < batch && col < out_features) y[(size_t)row * out_features + col] = sum;
}

__global__ static void bias_kernel(float *y, const float *bias, int batch, int cols)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < batch && col < cols) y[(size_t)row * cols + col] += bias[col];
}

__global__ static void relu_kernel(float *y, const float *x, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] < 0.0f ? 0.0f : x[i];
}

cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream)
{
    if (batch == 0 || out_features == 0) return cudaSuccess;
    float *z = pre ? pre : y;
    size_t n = (size_t)batch * out_features;
    dim3 tile(TILE, TILE), tiles((out_features + TILE - 1) / TILE, (batch + TILE - 1) / TILE);
    dim3 block(32, 8), grid((out_features + 31) / 32, (batch + 7) / 8);
    linear_kernel<<<tiles, tile, 0, stream>>>(z, x, w, batch, in_features, out_features);
    bias_kernel<<<grid, block, 0, stream>>>(z, bias, batch, out_features);
    relu_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(y, z, n);
    return cudaGetLastError();
}

typedef struct sizes {
    int channels, h, w, filters, out_h, out_w, kernel_h, kernel_w, stride, pad;
} sizes;

/* Output i: its filter times its window. */
__device__ static float product(const float *x, const float *w, int i, sizes z)
{
    int place = i % (z.out_h * z.out_w), plane = i / (z.out_h * z.out_w);
    int top = place / z.out_w * z.stride - z.pad, left = place % z.out_w * z.stride - z.pad;
    x += (size_t)(plane / z.filters) * z.channels * z.h * z.w;
    w += (size_t)(plane % z.filters) * z.channels * z.kernel_h * z.kernel_w;
    float sum = 0.0f;
    for (int c = 0; c < z.channels; c++, x += z.h * z.w) {
        for (int r = top; r < top + z.kernel_h; r++) {
            for (int s = left; s < left + z.kernel_w; s++, w++) {
                if (r >= 0 && r < z.h && s >= 0 && s < z.w) sum += *w * x[r * z.w + s];
            }
        }
    }
    return sum;
}

__global__ static void fused_kernel(float *y, const float *x, const float *w, const float *mean,
                                    const float *var, const float *gamma, const float *beta,
                                    const float *residual, sizes z, int size, float eps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int c = i / (z.out_h * z.out_w) % z.filters;
    float unit = (product(x, w, i, z) - mean[c]) / sqrtf(var[c] + eps);
    float value = unit * gamma[c] + beta[c];
    if (residual) value += residual[i];
    y[i] = value < 0.0f ? 0.0f : value;
}

cudaError_t conv_bn_relu(float *y, const float *x, const float *w, const float *mean,
                         const float *var, const float *gamma, const float *beta,
                         const float *residual, int batch, int in_channels, int in_h, int in_w,
                         int out_channels, int kernel_h, int kernel_w, int stride, int pad,
                         float eps, cudaStream_t stream)
{
    sizes z = {in_channels, in_h, in_w, out_channels, 0, 0, kernel_h, kernel_w, stride, pad};
    z.out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    z.out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    int size = batch * out_channels * z.out_h * z.out_w;
    if (size == 0) return cudaSuccess;
    fused_kernel<<<(size + 127) / 128, 128, 0, stream>>>(y, x, w, mean, var, gamma, beta, residual,
                                                         z, size, eps);
    return cudaGetLastError();
}
