/*
 * The frozen baselines of 310: max pooling with a thread a plane, which walks its windows one after
 * the other, so that neighbouring lanes are a whole plane apart; and copies on the device, 8 bytes
 * of traffic an element of x.
 */
#include <cuda_runtime.h>

__device__ static bool inside(int x, int size)
{
    return x >= 0 && x < size;
}

__global__ static void plane_kernel(float *y, int *argmax, const float *x, int planes, int in_h,
                                    int in_w, int size, int stride, int pad)
{
    int plane = blockIdx.x * blockDim.x + threadIdx.x;
    if (plane >= planes) return;
    int out_h = (in_h + 2 * pad - size) / stride + 1, out_w = (in_w + 2 * pad - size) / stride + 1;
    x += (size_t)plane * in_h * in_w;
    y += (size_t)plane * out_h * out_w;
    argmax += (size_t)plane * out_h * out_w;
    for (int i = 0; i < out_h * out_w; i++) {
        int top = i / out_w * stride - pad, left = i % out_w * stride - pad, where = 0;
        float largest = -INFINITY;
        for (int k = 0; k < size * size; k++) {
            int row = top + k / size, col = left + k % size;
            if (!inside(row, in_h) || !inside(col, in_w)) continue;
            if (!(x[row * in_w + col] > largest)) continue;
            where = row * in_w + col;
            largest = x[where];
        }
        y[i] = largest;
        argmax[i] = where;
    }
}

extern "C" cudaError_t baseline_maxpool2d_by_plane(float *y, int *argmax, const float *x, int batch,
                                                   int channels, int in_h, int in_w,
                                                   int kernel_size, int stride, int pad,
                                                   cudaStream_t stream)
{
    int planes = batch * channels;
    plane_kernel<<<(planes + 63) / 64, 64, 0, stream>>>(y, argmax, x, planes, in_h, in_w,
                                                        kernel_size, stride, pad);
    return cudaGetLastError();
}

/* Two copies as large as y each. */
extern "C" cudaError_t baseline_copy_forward(float *y, int *argmax, const float *x, int batch,
                                             int channels, int in_h, int in_w, int kernel_size,
                                             int stride, int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_size) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_size) / stride + 1;
    size_t bytes = (size_t)batch * channels * out_h * out_w * sizeof(float);
    cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice, stream);
    return cudaMemcpyAsync(argmax, x, bytes, cudaMemcpyDeviceToDevice, stream);
}

/* Of one half of grad_x to the other. */
extern "C" cudaError_t baseline_copy_backward(float *grad_x, const float *grad_y, const int *argmax,
                                              int batch, int channels, int in_h, int in_w,
                                              int kernel_size, int stride, int pad,
                                              cudaStream_t stream)
{
    size_t half = (size_t)batch * channels * in_h * in_w / 2;
    (void)grad_y, (void)argmax, (void)kernel_size, (void)stride, (void)pad;
    return cudaMemcpyAsync(grad_x, grad_x + half, half * sizeof(float), cudaMemcpyDeviceToDevice,
                           stream);
}
