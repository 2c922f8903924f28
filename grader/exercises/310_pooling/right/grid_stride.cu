// RIGHT: grids that stride; backward gathers by walking over all places in a window; means by one
// thread a plane
#include "310_pooling/pooling.h"

#define EACH(i, n)                                                                                 \
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                        \
         i += (size_t)gridDim.x * blockDim.x)

struct geometry {
    int h, w, out_h, out_w, size, stride, pad;
};

static geometry geometry_of(int h, int w, int size, int stride, int pad)
{
    geometry g = {h, w, 0, 0, size, stride, pad};
    g.out_h = (h + 2 * pad - size) / stride + 1;
    g.out_w = (w + 2 * pad - size) / stride + 1;
    return g;
}

static unsigned blocks_for(size_t n)
{
    return (unsigned)(n < 1024 * 128 ? (n + 127) / 128 : 1024);
}

__device__ static bool beats(float a, float b)
{
    return a > b || (isnan(a) && !isnan(b));
}

__global__ static void forward_kernel(float *y, int *argmax, const float *x, geometry g, size_t n)
{
    EACH(i, n)
    {
        const float *plane = x + i / (g.out_h * g.out_w) * g.h * g.w;
        int top = i / g.out_w % g.out_h * g.stride - g.pad, left = i % g.out_w * g.stride - g.pad;
        int at = max(top, 0) * g.w + max(left, 0), width = min(left + g.size, g.w) - max(left, 0);
        int best = at, height = min(top + g.size, g.h) - max(top, 0);
        float most = plane[at];
        for (int k = 1; k < width * height; k++) {
            int next = at + k / width * g.w + k % width;
            float value = plane[next];
            if (beats(value, most)) most = value, best = next;
        }
        y[i] = most;
        argmax[i] = best;
    }
}

__global__ static void backward_kernel(float *grad_x, const float *grad_y, const int *argmax,
                                       geometry g, size_t n)
{
    EACH(i, n)
    {
        int here = i % (g.h * g.w), row = here / g.w + g.pad, col = here % g.w + g.pad;
        size_t plane = i / (g.h * g.w) * g.out_h * g.out_w;
        float sum = 0.0f;
        for (int k = 0; k < g.size * g.size; k++) {
            int down = row - k / g.size, right = col - k % g.size; /* corner of the window */
            if (down < 0 || right < 0 || down % g.stride || right % g.stride) continue;
            down /= g.stride, right /= g.stride;
            if (down >= g.out_h || right >= g.out_w) continue;
            size_t window = plane + down * g.out_w + right;
            if (argmax[window] == here) sum += grad_y[window];
        }
        grad_x[i] = sum;
    }
}

__global__ static void mean_kernel(float *y, const float *x, size_t n, int pixels)
{
    EACH(i, n)
    {
        double sum = 0.0;
        for (int p = 0; p < pixels; p++) sum += x[i * pixels + p];
        y[i] = (float)(sum / pixels);
    }
}

__global__ static void spread_kernel(float *grad_x, const float *grad_y, size_t n, int pixels)
{
    EACH(i, n) grad_x[i] = __fdividef(grad_y[i / pixels], (float)pixels);
}

cudaError_t maxpool2d_forward(float *y, int *argmax, const float *x, int batch, int channels,
                              int in_h, int in_w, int kernel_size, int stride, int pad,
                              cudaStream_t stream)
{
    geometry g = geometry_of(in_h, in_w, kernel_size, stride, pad);
    size_t n = (size_t)batch * channels * g.out_h * g.out_w;
    if (n) forward_kernel<<<blocks_for(n), 128, 0, stream>>>(y, argmax, x, g, n);
    return cudaGetLastError();
}

cudaError_t maxpool2d_backward(float *grad_x, const float *grad_y, const int *argmax, int batch,
                               int channels, int in_h, int in_w, int kernel_size, int stride,
                               int pad, cudaStream_t stream)
{
    geometry g = geometry_of(in_h, in_w, kernel_size, stride, pad);
    size_t n = (size_t)batch * channels * in_h * in_w;
    if (n) backward_kernel<<<blocks_for(n), 128, 0, stream>>>(grad_x, grad_y, argmax, g, n);
    return cudaGetLastError();
}

cudaError_t global_avgpool_forward(float *y, const float *x, int batch, int channels, int h, int w,
                                   cudaStream_t stream)
{
    size_t n = (size_t)batch * channels;
    if (n) mean_kernel<<<blocks_for(n), 128, 0, stream>>>(y, x, n, h * w);
    return cudaGetLastError();
}

cudaError_t global_avgpool_backward(float *grad_x, const float *grad_y, int batch, int channels,
                                    int h, int w, cudaStream_t stream)
{
    size_t n = (size_t)batch * channels * h * w;
    if (n) spread_kernel<<<blocks_for(n), 128, 0, stream>>>(grad_x, grad_y, n, h * w);
    return cudaGetLastError();
}
