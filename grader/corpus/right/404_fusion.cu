// RIGHT: a block per row of x and 64 outputs, x in dynamic shared memory, w by warps, shuffles
#include "optimization.h"

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
