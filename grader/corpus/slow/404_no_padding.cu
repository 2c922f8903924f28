// SLOW: bank conflicts a request | counted 3.
// The solution without the column more: the threads of a warp read rows that share two banks.
#include "optimization.h"

#define TILE 16

__device__ static void load_tile(float (*tile)[TILE], const float *matrix, int rows, int cols,
                                 int row, int col)
{
    row += threadIdx.y;
    col += threadIdx.x;
    bool inside = row < rows && col < cols;
    tile[threadIdx.y][threadIdx.x] = inside ? matrix[(size_t)row * cols + col] : 0.0f;
}

__global__ static void linear_fused_kernel(float *y, float *pre, const float *x, const float *w,
                                           const float *bias, int batch, int in_features,
                                           int out_features)
{
    __shared__ float x_tile[TILE][TILE];
    __shared__ float w_tile[TILE][TILE];
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
    if (row >= batch || col >= out_features) return;
    size_t i = (size_t)row * out_features + col;
    float z = sum + bias[col];
    if (pre != NULL) pre[i] = z;
    y[i] = z < 0.0f ? 0.0f : z;
}

cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream)
{
    if (batch == 0 || out_features == 0) return cudaSuccess;
    dim3 block(TILE, TILE);
    dim3 grid((out_features + TILE - 1) / TILE, (batch + TILE - 1) / TILE);
    linear_fused_kernel<<<grid, block, 0, stream>>>(y, pre, x, w, bias, batch, in_features,
                                                    out_features);
    return cudaGetLastError();
}
