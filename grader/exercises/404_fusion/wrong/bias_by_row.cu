// WRONG: fused_17x33x65 | the bias is that of the row
/* The bias of the row instead of the column; a square layer does not even read out of bounds. */
#include "optimization.h"

__global__ static void fused_kernel(float *y, float *pre, const float *x, const float *w,
                                    const float *bias, int batch, int in_features, int out_features)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= batch || col >= out_features) return;
    float sum = 0.0f;
    for (int k = 0; k < in_features; k++)
        sum += x[(size_t)row * in_features + k] * w[(size_t)col * in_features + k];
    size_t i = (size_t)row * out_features + col;
    float z = sum + bias[row];
    if (pre != NULL) pre[i] = z;
    y[i] = fmaxf(z, 0.0f);
}

cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream)
{
    if (batch == 0 || out_features == 0) return cudaSuccess;
    dim3 block(32, 8), grid((out_features + 31) / 32, (batch + 7) / 8);
    fused_kernel<<<grid, block, 0, stream>>>(y, pre, x, w, bias, batch, in_features, out_features);
    return cudaGetLastError();
}
