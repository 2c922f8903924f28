// FAST: forward_17x33x65 | should be
/* Both factors rounded to bfloat16 on their way to shared memory: half the bytes there. */
#include "layers.h"
#include <cuda_bf16.h>

#define TILE 32

typedef __nv_bfloat16 narrow;

/* Element (i, j) of a matrix lies at i * down + j * right. */
__global__ static void product_kernel(float *c, const float *a, size_t a_down, size_t a_right,
                                      const float *b, size_t b_down, size_t b_right, int m, int n,
                                      int k)
{
    __shared__ narrow left[TILE][TILE + 2], right[TILE][TILE + 2];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    float sum = 0.0f;
    for (int p = 0; p < k; p += TILE) {
        bool in_a = row + y < m && p + x < k, in_b = p + y < k && col + x < n;
        left[y][x] = __float2bfloat16(in_a ? a[(row + y) * a_down + (p + x) * a_right] : 0.0f);
        right[y][x] = __float2bfloat16(in_b ? b[(p + y) * b_down + (col + x) * b_right] : 0.0f);
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += __bfloat162float(left[y][i]) * __bfloat162float(right[i][x]);
        __syncthreads();
    }
    if (row + y < m && col + x < n) c[(size_t)(row + y) * n + col + x] = sum;
}

static void product(float *c, const float *a, size_t a_down, size_t a_right, const float *b,
                    size_t b_down, size_t b_right, int m, int n, int k, cudaStream_t stream)
{
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    if (m == 0 || n == 0) return;
    product_kernel<<<grid, block, 0, stream>>>(c, a, a_down, a_right, b, b_down, b_right, m, n, k);
}

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in, int out, cudaStream_t stream)
{
    product(y, x, in, 1, w, 1, in, batch, out, in, stream);
    return bias ? bias_forward(y, y, bias, batch, out, stream) : cudaGetLastError();
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in, int out,
                            cudaStream_t stream)
{
    if (grad_x) product(grad_x, grad_y, out, 1, w, in, 1, batch, in, out, stream);
    if (grad_w) product(grad_w, grad_y, 1, out, x, in, 1, out, in, batch, stream);
    return grad_bias ? bias_backward(grad_bias, grad_y, batch, out, stream) : cudaGetLastError();
}
