// SLOW: sectors a request | counted
/* A warp holds 32 filters at one place: each lane reads a row of w of its own. */
#include "layers.h"

__global__ static void conv_kernel(float *y, const float *x, const float *w, const float *bias,
                                   int in_channels, int in_h, int in_w, int out_h, int out_w,
                                   int kernel_h, int kernel_w, int stride, int pad)
{
    int o = threadIdx.x + blockIdx.y * blockDim.x, filters = gridDim.y * blockDim.x, p = blockIdx.x;
    int taps = in_channels * kernel_h * kernel_w;
    x += (size_t)blockIdx.z * in_channels * in_h * in_w;
    float sum = bias ? bias[o] : 0.0f;
    for (int f = 0; f < taps; f++) {
        int row = p / out_w * stride - pad + f / kernel_w % kernel_h;
        int col = p % out_w * stride - pad + f % kernel_w;
        if (row < 0 || row >= in_h || col < 0 || col >= in_w) continue;
        int c = f / kernel_w / kernel_h;
        sum += w[(size_t)o * taps + f] * x[(c * in_h + row) * in_w + col];
    }
    y[(((size_t)blockIdx.z * filters + o) * out_h) * out_w + p] = sum;
}

cudaError_t conv2d_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_channels, int in_h, int in_w, int out_channels, int kernel_h,
                           int kernel_w, int stride, int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1, lanes = 1;
    while (lanes < 32 && out_channels % (2 * lanes) == 0) lanes *= 2;
    for (int first = 0; first < batch; first += 32768) {
        dim3 grid(out_h * out_w, out_channels / lanes,
                  batch - first < 32768 ? batch - first : 32768);
        conv_kernel<<<grid, lanes, 0, stream>>>(y + (size_t)first * out_channels * out_h * out_w,
                                                x + (size_t)first * in_channels * in_h * in_w, w,
                                                bias, in_channels, in_h, in_w, out_h, out_w,
                                                kernel_h, kernel_w, stride, pad);
    }
    return cudaGetLastError();
}
