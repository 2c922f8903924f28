// WRONG: average backward 2x5x7x6 | should be
/* The gradient of a mean is not divided by how many it was the mean of. */
#include "layers.h"

__global__ static void grad_kernel(float *grad_x, const float *grad_y, int inputs, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < inputs) grad_x[i] = grad_y[i / pixels];
}

cudaError_t global_avgpool_backward(float *grad_x, const float *grad_y, int batch, int channels,
                                    int h, int w, cudaStream_t stream)
{
    int inputs = batch * channels * h * w;
    if (inputs > 0)
        grad_kernel<<<(inputs + 127) / 128, 128, 0, stream>>>(grad_x, grad_y, inputs, h * w);
    return cudaGetLastError();
}
