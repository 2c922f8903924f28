/*
 * The frozen baseline of 302: bias_backward with one thread a column. Coalesced, since neighbours
 * read neighbours, and almost alone on the chip: there are only as many threads as columns.
 */
#include <cuda_runtime.h>

__global__ static void thread_per_column_kernel(float *grad_bias, const float *grad_y, int rows,
                                                int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0.0f;
    for (size_t row = 0; row < rows; row++) sum += grad_y[row * cols + col];
    grad_bias[col] = sum;
}

extern "C" cudaError_t baseline_bias_backward(float *grad_bias, const float *grad_y, int rows,
                                              int cols, cudaStream_t stream)
{
    thread_per_column_kernel<<<(cols + 255) / 256, 256, 0, stream>>>(grad_bias, grad_y, rows, cols);
    return cudaGetLastError();
}
