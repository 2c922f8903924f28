// WRONG: backward 2x4x10x9 by 3, stride 1, pad 1 | should be
/* Each window stores its gradient; where windows overlap, one of them remains. */
#include "layers.h"

__global__ static void grad_kernel(float *grad_x, const float *grad_y, const int *argmax,
                                   int outputs, int of_plane, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    grad_x[(size_t)(i / of_plane) * pixels + argmax[i]] = grad_y[i];
}

cudaError_t maxpool2d_backward(float *grad_x, const float *grad_y, const int *argmax, int batch,
                               int channels, int in_h, int in_w, int kernel_size, int stride,
                               int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_size) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_size) / stride + 1,
        outputs = batch * channels * out_h * out_w;
    if (outputs == 0) return cudaSuccess;
    cudaMemsetAsync(grad_x, 0, (size_t)batch * channels * in_h * in_w * sizeof(float), stream);
    grad_kernel<<<(outputs + 127) / 128, 128, 0, stream>>>(grad_x, grad_y, argmax, outputs,
                                                           out_h * out_w, in_h * in_w);
    return cudaGetLastError();
}
