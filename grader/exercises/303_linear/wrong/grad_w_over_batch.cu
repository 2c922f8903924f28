// WRONG: backward_17x33x65 | divided once too often
/* grad_w divided by the batch, which the gradient of the mean loss has done already. */
#include "layers.h"

/* c[m x n] = sum over p of a(i, p) * b(p, j); the strides say how a and b lie in memory. */
__global__ static void product(float *c, const float *a, int a_row, int a_col, const float *b,
                               int b_row, int b_col, int m, int n, int k, float factor)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0.0f;
    for (int p = 0; p < k; p++)
        sum += a[(size_t)i * a_row + (size_t)p * a_col] * b[(size_t)p * b_row + (size_t)j * b_col];
    c[(size_t)i * n + j] = sum * factor;
}

static void multiply(float *c, const float *a, int a_row, int a_col, const float *b, int b_row,
                     int b_col, int m, int n, int k, float factor, cudaStream_t stream)
{
    if (m == 0 || n == 0) return;
    dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
    product<<<grid, block, 0, stream>>>(c, a, a_row, a_col, b, b_row, b_col, m, n, k, factor);
}

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream)
{
    int in = in_features, out = out_features;
    multiply(y, x, in, 1, w, 1, in, batch, out, in, 1.0f, stream);
    if (bias != NULL) return bias_forward(y, y, bias, batch, out, stream);
    return cudaGetLastError();
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream)
{
    int in = in_features, out = out_features;
    if (grad_x != NULL) multiply(grad_x, grad_y, out, 1, w, in, 1, batch, in, out, 1.0f, stream);
    if (grad_w != NULL)
        multiply(grad_w, grad_y, 1, out, x, in, 1, out, in, batch, 1.0f / batch, stream);
    if (grad_bias != NULL) return bias_backward(grad_bias, grad_y, batch, out, stream);
    return cudaGetLastError();
}
