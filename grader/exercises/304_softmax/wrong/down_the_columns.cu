// WRONG: forward_17x33 | the softmax of each column, not of each row
/* A thread per column, which goes down the rows: the other softmax. */
#include "layers.h"
#include <math.h>

__global__ static void forward_kernel(float *y, const float *x, int rows, int cols)
{
    size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float max = -INFINITY, sum = 0.0f;
    for (int r = 0; r < rows; r++) max = fmaxf(max, x[r * (size_t)cols + c]);
    for (int r = 0; r < rows; r++) sum += expf(x[r * (size_t)cols + c] - max);
    for (int r = 0; r < rows; r++) {
        size_t i = r * (size_t)cols + c;
        y[i] = max == -INFINITY ? 0.0f : expf(x[i] - max) / sum;
    }
}

__global__ static void backward_kernel(float *grad_x, const float *grad_y, const float *y, int rows,
                                       int cols)
{
    size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float dot = 0.0f;
    for (int r = 0; r < rows; r++) dot += grad_y[r * (size_t)cols + c] * y[r * (size_t)cols + c];
    for (int r = 0; r < rows; r++) {
        size_t i = r * (size_t)cols + c;
        grad_x[i] = y[i] * (grad_y[i] - dot);
    }
}

cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    forward_kernel<<<(cols + 127) / 128, 128, 0, stream>>>(y, x, rows, cols);
    return cudaGetLastError();
}

cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    backward_kernel<<<(cols + 127) / 128, 128, 0, stream>>>(grad_x, grad_y, y, rows, cols);
    return cudaGetLastError();
}
