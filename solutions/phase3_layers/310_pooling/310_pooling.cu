/*
 * 310_pooling.cu: the largest of a window, the mean of a plane, and their gradients.
 *
 * The idea: pooling computes nothing, it moves memory, and the forward pass is 306 without weights:
 * a thread per output, columns fastest, here with a block for each plane. It also writes down
 * *which* element was the largest, because only that one determines the output: in the backward
 * pass its gradient is the sum of the gradients of all windows that it won.
 *
 * Windows overlap (3 x 3, stride 2), so threads per output that add to grad_x would meet there:
 * they need atomics, in an order that is not fixed. Threads per *input* never meet: each looks up
 * the few windows that can hold its element, adds up those that it won, always in the same order,
 * and writes once, zeros too.
 *
 * The mean of a plane is a row sum of h * w elements (208): a warp per plane.
 *
 * What it costs: argmax is as large as y and used in training only, but always written. Forward
 * reads every element of x up to four times with windows of 3 x 3 and stride 2; neighbours share
 * them in the L1 cache.
 */
#include "310_pooling/pooling.h"
#include "not_implemented.h"
#include <math.h>

/* SOLUTION: the sizes, as one argument for the kernels (about 3 lines). */
typedef struct pool {
    int in_h, in_w, out_h, out_w, size, stride, pad;
} pool;
/* END SOLUTION */

/* SOLUTION: maxpool_forward_kernel, a block of 32 x 8 threads per plane, x along the columns: the
   part of each window that lies in the image; the first of the largest (about 27 lines). */
__global__ static void maxpool_forward_kernel(float *y, int *argmax, const float *x, pool p)
{
    x += (size_t)blockIdx.x * p.in_h * p.in_w;
    y += (size_t)blockIdx.x * p.out_h * p.out_w;
    argmax += (size_t)blockIdx.x * p.out_h * p.out_w;

    for (int row = threadIdx.y; row < p.out_h; row += blockDim.y) {
        int top = max(row * p.stride - p.pad, 0);
        int bottom = min(row * p.stride - p.pad + p.size, p.in_h);
        for (int col = threadIdx.x; col < p.out_w; col += blockDim.x) {
            int left = max(col * p.stride - p.pad, 0);
            int right = min(col * p.stride - p.pad + p.size, p.in_w);
            float largest = -INFINITY;
            int where = top * p.in_w + left;
            for (int r = top; r < bottom; r++) {
                for (int c = left; c < right; c++) {
                    float value = x[r * p.in_w + c];
                    if (value > largest || (isnan(value) && !isnan(largest))) {
                        largest = value;
                        where = r * p.in_w + c;
                    }
                }
            }
            y[row * p.out_w + col] = largest;
            argmax[row * p.out_w + col] = where;
        }
    }
}
/* END SOLUTION */

/* SOLUTION: first_window, the first that reaches as far as `place`; maxpool_backward_kernel: a
   thread per input looks at the windows that hold it and adds grad_y of those that it won (about 29
   lines).
 */
/** @param place row or column, counted from the padding's corner */
__device__ static int first_window(int place, pool p)
{
    return place < p.size ? 0 : (place - p.size) / p.stride + 1;
}

__global__ static void maxpool_backward_kernel(float *grad_x, const float *grad_y,
                                               const int *argmax, pool p)
{
    grad_x += (size_t)blockIdx.x * p.in_h * p.in_w;
    grad_y += (size_t)blockIdx.x * p.out_h * p.out_w;
    argmax += (size_t)blockIdx.x * p.out_h * p.out_w;

    for (int row = threadIdx.y; row < p.in_h; row += blockDim.y) {
        int first_row = first_window(row + p.pad, p);
        int last_row = min((row + p.pad) / p.stride, p.out_h - 1);
        for (int col = threadIdx.x; col < p.in_w; col += blockDim.x) {
            int first_col = first_window(col + p.pad, p), here = row * p.in_w + col;
            int last_col = min((col + p.pad) / p.stride, p.out_w - 1);
            float sum = 0.0f;
            for (int r = first_row; r <= last_row; r++) {
                for (int c = first_col; c <= last_col; c++) {
                    if (argmax[r * p.out_w + c] == here) sum += grad_y[r * p.out_w + c];
                }
            }
            grad_x[here] = sum;
        }
    }
}
/* END SOLUTION */

/* SOLUTION: avgpool_forward_kernel, a warp per plane; avgpool_backward_kernel, a thread per element
   (about 18 lines). */
__global__ static void avgpool_forward_kernel(float *y, const float *x, int planes, int pixels)
{
    int plane = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (plane >= planes) return; /* the whole warp */

    float sum = 0.0f;
    for (int i = lane; i < pixels; i += 32) sum += x[(size_t)plane * pixels + i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[plane] = sum / pixels;
}

__global__ static void avgpool_backward_kernel(float *grad_x, const float *grad_y, size_t inputs,
                                               int pixels)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < inputs) grad_x[i] = grad_y[i / pixels] / pixels;
}
/* END SOLUTION */

/* SOLUTION: pool_of: the sizes, with out_h and out_w (about 6 lines). */
static pool pool_of(int in_h, int in_w, int kernel_size, int stride, int pad)
{
    int out_h = (in_h + 2 * pad - kernel_size) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_size) / stride + 1;
    return pool{in_h, in_w, out_h, out_w, kernel_size, stride, pad};
}
/* END SOLUTION */

cudaError_t maxpool2d_forward(float *y, int *argmax, const float *x, int batch, int channels,
                              int in_h, int in_w, int kernel_size, int stride, int pad,
                              cudaStream_t stream)
{
    /* SOLUTION: a block per plane, unless there is none (about 3 lines). */
    pool p = pool_of(in_h, in_w, kernel_size, stride, pad);
    if (batch * channels == 0) return cudaSuccess; /* an empty grid is a launch error */
    maxpool_forward_kernel<<<batch * channels, dim3(32, 8), 0, stream>>>(y, argmax, x, p);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t maxpool2d_backward(float *grad_x, const float *grad_y, const int *argmax, int batch,
                               int channels, int in_h, int in_w, int kernel_size, int stride,
                               int pad, cudaStream_t stream)
{
    /* SOLUTION: likewise (about 3 lines). */
    pool p = pool_of(in_h, in_w, kernel_size, stride, pad);
    if (batch * channels == 0) return cudaSuccess;
    maxpool_backward_kernel<<<batch * channels, dim3(32, 8), 0, stream>>>(grad_x, grad_y, argmax,
                                                                          p);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t global_avgpool_forward(float *y, const float *x, int batch, int channels, int h, int w,
                                   cudaStream_t stream)
{
    /* SOLUTION: 8 warps a block, a plane each (about 3 lines). */
    int planes = batch * channels;
    if (planes == 0) return cudaSuccess;
    avgpool_forward_kernel<<<(planes + 7) / 8, 256, 0, stream>>>(y, x, planes, h * w);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t global_avgpool_backward(float *grad_x, const float *grad_y, int batch, int channels,
                                    int h, int w, cudaStream_t stream)
{
    /* SOLUTION: a thread per element of grad_x (about 4 lines). */
    size_t inputs = (size_t)batch * channels * h * w;
    if (inputs == 0) return cudaSuccess;
    avgpool_backward_kernel<<<(inputs + 255) / 256, 256, 0, stream>>>(grad_x, grad_y, inputs,
                                                                      h * w);
    /* END SOLUTION */
    return cudaGetLastError();
}
