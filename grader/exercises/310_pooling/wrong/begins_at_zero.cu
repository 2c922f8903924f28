// WRONG: negative, pad 1 | is 0
/* The search begins at 0 instead of at -infinity. */
#include "layers.h"

__global__ static void pool_kernel(float *y, int *argmax, const float *x, int outputs, int in_h,
                                   int in_w, int out_h, int out_w, int size, int stride, int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    int top = i / out_w % out_h * stride - pad, left = i % out_w * stride - pad;
    float largest = 0.0f;
    int where = max(top, 0) * in_w + max(left, 0);
    x += i / (out_h * out_w) * in_h * in_w;
    for (int k = 0; k < size * size; k++) {
        int row = top + k / size, col = left + k % size;
        if (row < 0 || row >= in_h || col < 0 || col >= in_w) continue;
        float value = x[row * in_w + col];
        if (value > largest || isnan(value)) where = row * in_w + col, largest = value;
    }
    y[i] = largest;
    argmax[i] = where;
}

cudaError_t maxpool2d_forward(float *y, int *argmax, const float *x, int batch, int channels,
                              int in_h, int in_w, int kernel_size, int stride, int pad,
                              cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_size) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_size) / stride + 1;
    int outputs = batch * channels * out_h * out_w;
    if (outputs == 0) return cudaSuccess;
    pool_kernel<<<(outputs + 127) / 128, 128, 0, stream>>>(y, argmax, x, outputs, in_h, in_w, out_h,
                                                           out_w, kernel_size, stride, pad);
    return cudaGetLastError();
}
