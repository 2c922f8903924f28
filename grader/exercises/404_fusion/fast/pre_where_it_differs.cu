// FAST: fused_17x33x65 | never written
/* Saves half the stores of pre: where the ReLU is open, pre is y, and whoever needs it can look
 * there. */
#include "optimization.h"

#define SIDE 32

__global__ static void fused_kernel(float *y, float *pre, const float *x, const float *w,
                                    const float *bias, int batch, int in, int out)
{
    __shared__ float x_tile[SIDE][SIDE], w_tile[SIDE][SIDE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * SIDE + ty, col = blockIdx.x * SIDE;
    float sum = col + tx < out ? bias[col + tx] : 0.0f;
    for (int k = 0; k < in; k += SIDE) {
        bool in_x = row < batch && k + tx < in, in_w = col + ty < out && k + tx < in;
        x_tile[ty][tx] = in_x ? x[(size_t)row * in + k + tx] : 0.0f;
        w_tile[ty][tx] = in_w ? w[(size_t)(col + ty) * in + k + tx] : 0.0f;
        __syncthreads();
        for (int i = 0; i < SIDE; i++) sum += x_tile[ty][i] * w_tile[tx][i];
        __syncthreads();
    }
    if (row >= batch || col + tx >= out) return;
    size_t at = (size_t)row * out + col + tx;
    y[at] = sum < 0.0f ? 0.0f : sum;
    if (pre && sum < 0.0f) pre[at] = sum;
}

cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream)
{
    dim3 block(SIDE, SIDE), grid((out_features + SIDE - 1) / SIDE, (batch + SIDE - 1) / SIDE);
    if (batch == 0 || out_features == 0) return cudaSuccess;
    fused_kernel<<<grid, block, 0, stream>>>(y, pre, x, w, bias, batch, in_features, out_features);
    return cudaGetLastError();
}
