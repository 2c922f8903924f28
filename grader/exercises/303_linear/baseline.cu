/*
 * Frozen: the linear layer as three loops suggest it, one thread per output and no tile. Forward,
 * the lanes of a warp walk down 32 different rows of w at once, 4 useful bytes in every 32-byte
 * sector. Backward, the same loops are coalesced: neighbours are neighbours in w, or in x. The
 * column sums are those of 302.
 */
#include <cuda_runtime_api.h>
#include <stddef.h>

__global__ static void linear_naive_kernel(float *y, const float *x, const float *w,
                                           const float *bias, int batch, int in_features,
                                           int out_features)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= batch || col >= out_features) return;

    float sum = bias ? bias[col] : 0.0f;
    for (int i = 0; i < in_features; i++) {
        sum += x[(size_t)row * in_features + i] * w[(size_t)col * in_features + i];
    }
    y[(size_t)row * out_features + col] = sum;
}

extern "C" cudaError_t baseline_linear_forward(float *y, const float *x, const float *w,
                                               const float *bias, int batch, int in_features,
                                               int out_features, cudaStream_t stream)
{
    dim3 block(32, 8), grid((out_features + 31) / 32, (batch + 7) / 8);
    linear_naive_kernel<<<grid, block, 0, stream>>>(y, x, w, bias, batch, in_features,
                                                    out_features);
    return cudaGetLastError();
}

__global__ static void grad_x_kernel(float *grad_x, const float *grad_y, const float *w, int batch,
                                     int in_features, int out_features)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= batch || col >= in_features) return;

    float sum = 0.0f;
    for (int o = 0; o < out_features; o++) {
        sum += grad_y[(size_t)row * out_features + o] * w[(size_t)o * in_features + col];
    }
    grad_x[(size_t)row * in_features + col] = sum;
}

__global__ static void grad_w_kernel(float *grad_w, const float *grad_y, const float *x, int batch,
                                     int in_features, int out_features)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= out_features || col >= in_features) return;

    float sum = 0.0f;
    for (int r = 0; r < batch; r++) {
        sum += grad_y[(size_t)r * out_features + row] * x[(size_t)r * in_features + col];
    }
    grad_w[(size_t)row * in_features + col] = sum;
}

__global__ static void grad_bias_kernel(float *grad_bias, const float *grad_y, int batch,
                                        int out_features)
{
    __shared__ float sums[32][32];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 32 + x;

    float sum = 0.0f;
    for (int r = y; col < out_features && r < batch; r += 32) {
        sum += grad_y[(size_t)r * out_features + col];
    }
    sums[y][x] = sum;
    for (int half = 16; half > 0; half /= 2) {
        __syncthreads();
        if (y < half) sums[y][x] += sums[y + half][x];
    }
    if (y == 0 && col < out_features) grad_bias[col] = sums[0][x];
}

extern "C" cudaError_t baseline_linear_backward(float *grad_x, float *grad_w, float *grad_bias,
                                                const float *grad_y, const float *x, const float *w,
                                                int batch, int in_features, int out_features,
                                                cudaStream_t stream)
{
    dim3 block(32, 8), rows((in_features + 31) / 32, (batch + 7) / 8);
    dim3 weights((in_features + 31) / 32, (out_features + 7) / 8);
    grad_x_kernel<<<rows, block, 0, stream>>>(grad_x, grad_y, w, batch, in_features, out_features);
    grad_w_kernel<<<weights, block, 0, stream>>>(grad_w, grad_y, x, batch, in_features,
                                                 out_features);
    grad_bias_kernel<<<(out_features + 31) / 32, dim3(32, 32), 0, stream>>>(grad_bias, grad_y,
                                                                            batch, out_features);
    return cudaGetLastError();
}
