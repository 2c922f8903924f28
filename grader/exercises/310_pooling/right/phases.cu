// RIGHT: 2-D blocks over a plane, planes along z; backward from the window's side, one phase for
// each place in the window, so that no two windows of a phase meet
#include "310_pooling/pooling.h"

#define DEEP 4096 /* planes along z of the grid, at most */

__global__ static void forward_kernel(float *y, int *argmax, const float *x, int planes, int in_h,
                                      int in_w, int out_h, int out_w, int size, int stride, int pad)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= out_h || j >= out_w) return;
    for (size_t plane = blockIdx.z; plane < planes; plane += gridDim.z) {
        const float *in = x + plane * in_h * in_w;
        float best = 0.0f;
        int where = -1;
        for (int row = i * stride - pad; row < i * stride - pad + size; row++) {
            for (int col = j * stride - pad; col < j * stride - pad + size; col++) {
                if ((unsigned)row >= (unsigned)in_h || (unsigned)col >= (unsigned)in_w) continue;
                float value = in[row * in_w + col];
                bool takes = where < 0 || (best == best && !(value <= best));
                if (takes) best = value, where = row * in_w + col;
            }
        }
        size_t at = (plane * out_h + i) * out_w + j;
        y[at] = best;
        argmax[at] = where;
    }
}

/* Adds to grad_x where the winner is element (r, s) of its window: those are all different. */
__global__ static void phase_kernel(float *grad_x, const float *grad_y, const int *argmax,
                                    int planes, int in_h, int in_w, int out_h, int out_w,
                                    int stride, int pad, int r, int s)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= out_h || j >= out_w) return;
    int place = (i * stride - pad + r) * in_w + j * stride - pad + s;
    int row = i * stride - pad + r, col = j * stride - pad + s;
    if (row < 0 || row >= in_h || col < 0 || col >= in_w) return;
    for (size_t plane = blockIdx.z; plane < planes; plane += gridDim.z) {
        size_t at = (plane * out_h + i) * out_w + j;
        if (argmax[at] == place) grad_x[plane * in_h * in_w + place] += grad_y[at];
    }
}

static dim3 grid_of(int planes, int out_h, int out_w)
{
    return dim3((out_w + 31) / 32, (out_h + 7) / 8, planes < DEEP ? planes : DEEP);
}

cudaError_t maxpool2d_forward(float *y, int *argmax, const float *x, int batch, int channels,
                              int in_h, int in_w, int kernel_size, int stride, int pad,
                              cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_size) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_size) / stride + 1, planes = batch * channels;
    if (planes == 0) return cudaSuccess;
    forward_kernel<<<grid_of(planes, out_h, out_w), dim3(32, 8), 0, stream>>>(
        y, argmax, x, planes, in_h, in_w, out_h, out_w, kernel_size, stride, pad);
    return cudaGetLastError();
}

cudaError_t maxpool2d_backward(float *grad_x, const float *grad_y, const int *argmax, int batch,
                               int channels, int in_h, int in_w, int kernel_size, int stride,
                               int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_size) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_size) / stride + 1, planes = batch * channels;
    if (planes == 0) return cudaSuccess;
    cudaMemsetAsync(grad_x, 0, (size_t)planes * in_h * in_w * sizeof(float), stream);
    for (int k = 0; k < kernel_size * kernel_size; k++) {
        phase_kernel<<<grid_of(planes, out_h, out_w), dim3(32, 8), 0, stream>>>(
            grad_x, grad_y, argmax, planes, in_h, in_w, out_h, out_w, stride, pad, k / kernel_size,
            k % kernel_size);
    }
    return cudaGetLastError();
}

__global__ static void mean_kernel(float *y, const float *x, int pixels)
{
    __shared__ float sums[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < pixels; i += 64) sum += x[(size_t)blockIdx.x * pixels + i];
    sums[t] = sum;
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) sums[t] += sums[t + half];
    }
    if (t == 0) y[blockIdx.x] = sums[0] * (1.0f / pixels);
}

__global__ static void spread_kernel(float *grad_x, const float *grad_y, int pixels)
{
    float share = grad_y[blockIdx.x] * (1.0f / pixels);
    for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
        grad_x[(size_t)blockIdx.x * pixels + i] = share;
    }
}

cudaError_t global_avgpool_forward(float *y, const float *x, int batch, int channels, int h, int w,
                                   cudaStream_t stream)
{
    if (batch * channels > 0) mean_kernel<<<batch * channels, 64, 0, stream>>>(y, x, h * w);
    return cudaGetLastError();
}

cudaError_t global_avgpool_backward(float *grad_x, const float *grad_y, int batch, int channels,
                                    int h, int w, cudaStream_t stream)
{
    if (batch * channels > 0)
        spread_kernel<<<batch * channels, 64, 0, stream>>>(grad_x, grad_y, h * w);
    return cudaGetLastError();
}
