/*
 * Frozen: the gradients of RMSNorm with a thread per row, and per column for gamma. Right; along a
 * row uncoalesced, down a column almost alone on the chip.
 */
#include <cuda_runtime_api.h>
#include <stddef.h>

__global__ static void rows_kernel(float *grad_x, const float *grad_y, const float *x,
                                   const float *gamma, const float *inv_rms, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    size_t start = (size_t)row * cols;
    float r = inv_rms[row], dot = 0.0f;
    for (int c = 0; c < cols; c++) dot += grad_y[start + c] * gamma[c] * (x[start + c] * r);
    for (int c = 0; c < cols; c++) {
        float xhat = x[start + c] * r;
        grad_x[start + c] = r * (grad_y[start + c] * gamma[c] - xhat * (dot / cols));
    }
}

__global__ static void columns_kernel(float *grad_gamma, const float *grad_y, const float *x,
                                      const float *inv_rms, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++)
        sum += grad_y[(size_t)row * cols + col] * (x[(size_t)row * cols + col] * inv_rms[row]);
    grad_gamma[col] = sum;
}

extern "C" cudaError_t baseline_rmsnorm_backward(float *grad_x, float *grad_gamma,
                                                 const float *grad_y, const float *x,
                                                 const float *gamma, const float *inv_rms, int rows,
                                                 int cols, cudaStream_t stream)
{
    rows_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(grad_x, grad_y, x, gamma, inv_rms, rows, cols);
    columns_kernel<<<(cols + 63) / 64, 64, 0, stream>>>(grad_gamma, grad_y, x, inv_rms, rows, cols);
    return cudaGetLastError();
}
