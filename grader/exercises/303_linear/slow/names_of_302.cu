// SLOW: bytes moved, times fewer than linear_forward | counted 1.00
// A thread per output, and functions and kernels named like those of 302, which it is linked with.
#include "layers.h"

__global__ void bias_forward_kernel(float *y, const float *x, const float *bias, int rows, int cols)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols) y[i] = x[i] + bias[i % cols];
}

__global__ void bias_backward_kernel(float *grad_bias, const float *grad_y, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) sum += grad_y[(size_t)row * cols + col];
    grad_bias[col] = sum;
}

/* The contract's own name of another exercise: this file's definition is the one it calls. */
cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream)
{
    size_t blocks = ((size_t)rows * cols + 255) / 256;
    if (blocks) bias_forward_kernel<<<blocks, 256, 0, stream>>>(y, x, bias, rows, cols);
    return cudaGetLastError();
}

/* c[i][j] = sum over p of a[i * ai + p * ap] * b[p * bp + j * bj] */
__global__ void product_kernel(float *c, const float *a, int ai, int ap, const float *b, int bp,
                               int bj, int m, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0.0f;
    for (size_t p = 0; p < k; p++) sum += a[(size_t)i * ai + p * ap] * b[p * bp + (size_t)j * bj];
    c[(size_t)i * n + j] = sum;
}

static void product(float *c, const float *a, int ai, int ap, const float *b, int bp, int bj, int m,
                    int n, int k, cudaStream_t stream)
{
    if (m == 0 || n == 0) return;
    dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
    product_kernel<<<grid, block, 0, stream>>>(c, a, ai, ap, b, bp, bj, m, n, k);
}

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream)
{
    product(y, x, in_features, 1, w, 1, in_features, batch, out_features, in_features, stream);
    if (bias) return bias_forward(y, y, bias, batch, out_features, stream);
    return cudaGetLastError();
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream)
{
    if (grad_x) {
        product(grad_x, grad_y, out_features, 1, w, in_features, 1, batch, in_features,
                out_features, stream);
    }
    if (grad_w) {
        product(grad_w, grad_y, 1, out_features, x, in_features, 1, out_features, in_features,
                batch, stream);
    }
    if (grad_bias && out_features > 0) {
        bias_backward_kernel<<<(out_features + 63) / 64, 64, 0, stream>>>(grad_bias, grad_y, batch,
                                                                          out_features);
    }
    return cudaGetLastError();
}
