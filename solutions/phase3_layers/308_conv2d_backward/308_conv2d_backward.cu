/*
 * 308_conv2d_backward.cu: the three gradients of a convolution.
 *
 * The idea: y[i] = sum over taps of w * x[i * stride - pad + tap], so that a pixel of x contributes
 * to every window it lies under, and a weight to every output of its filter. What was shared in the
 * forward pass is summed in the backward pass, and the thread or block that stores a gradient also
 * sums it:
 *
 *     grad_x     a thread per pixel: which windows is it under? At tap r the window begins at
 *                row + pad - r, which must be a multiple of the stride.
 *     grad_w     a block per weight: over all images and outputs, grad_y times the pixel
 *                that this weight met there. 802,816 products for each weight of a batch of 64
 *                images of 112 x 112, and no other block adds to it: no atomics, one order.
 *     grad_bias  a block per filter: the sum of its planes of grad_y.
 *
 * What it costs: as in 306 every load serves one multiplication. Both large gradients are matrix
 * products too, grad_x = w^T * grad_y by way of col2im, grad_w = grad_y * columns^T (110), and
 * tiles do for them what 307 does for the forward pass.
 */
#include "308_conv2d_backward/conv2d_backward.h"
#include "not_implemented.h"

/* SOLUTION: the sizes of a convolution, as one argument for the kernels (about 4 lines). */
typedef struct conv {
    int batch, in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad;
} conv;
/* END SOLUTION */

/* SOLUTION: grad_pixel: the sum over one filter's plane of grad_y, of weight times gradient, for
   the windows that the pixel (row, col) lies under (about 18 lines). */
/** grad_y [out_h x out_w], w [kernel_h x kernel_w], row and col counted from the padding's corner
 */
__device__ static float grad_pixel(const float *grad_y, const float *w, int row, int col, conv c)
{
    float sum = 0.0f;
    for (int r = 0; r < c.kernel_h; r++) {
        int i = (row - r) / c.stride; /* the output at whose tap r this row is */
        if (row < r || i * c.stride != row - r || i >= c.out_h) continue;
        for (int s = 0; s < c.kernel_w; s++) {
            int j = (col - s) / c.stride;
            if (col < s || j * c.stride != col - s || j >= c.out_w) continue;
            sum += w[r * c.kernel_w + s] * grad_y[i * c.out_w + j];
        }
    }
    return sum;
}
/* END SOLUTION */

/* SOLUTION: grad_x_kernel: a block per plane of x, a thread per pixel: grad_pixel of all filters
   (about 16 lines). */
__global__ static void grad_x_kernel(float *grad_x, const float *grad_y, const float *w, conv c)
{
    int image = blockIdx.x / c.in_channels, channel = blockIdx.x % c.in_channels;
    int taps = c.kernel_h * c.kernel_w, outputs = c.out_h * c.out_w;
    grad_x += (size_t)blockIdx.x * c.in_h * c.in_w;
    grad_y += (size_t)image * c.out_channels * outputs;

    for (int p = threadIdx.x; p < c.in_h * c.in_w; p += blockDim.x) {
        int row = p / c.in_w + c.pad, col = p % c.in_w + c.pad;
        float sum = 0.0f;
        for (int o = 0; o < c.out_channels; o++) {
            const float *weights = w + ((size_t)o * c.in_channels + channel) * taps;
            sum += grad_pixel(grad_y + (size_t)o * outputs, weights, row, col, c);
        }
        grad_x[p] = sum;
    }
}
/* END SOLUTION */

/* SOLUTION: BLOCK, and block_sum: the sum of one value per thread, for thread 0 (about 12 lines).
 */
#define BLOCK 256

__device__ static float block_sum(float value)
{
    __shared__ float values[BLOCK];
    int t = threadIdx.x;
    values[t] = value;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads(); /* the level above is complete */
        if (t < half) values[t] += values[t + half];
    }
    return values[0]; /* thread 0 wrote it */
}
/* END SOLUTION */

/* SOLUTION: grad_w_kernel: a block per weight; its threads share the outputs of all images (about
   22 lines). */
__global__ static void grad_w_kernel(float *grad_w, const float *grad_y, const float *x, conv c)
{
    int taps = c.kernel_h * c.kernel_w, tap = blockIdx.x % taps;
    int channel = blockIdx.x / taps % c.in_channels, filter = blockIdx.x / taps / c.in_channels;
    int down = tap / c.kernel_w - c.pad, right = tap % c.kernel_w - c.pad;
    int outputs = c.out_h * c.out_w;

    float sum = 0.0f;
    for (int b = 0; b < c.batch; b++) {
        const float *plane = x + ((size_t)b * c.in_channels + channel) * c.in_h * c.in_w;
        const float *grad = grad_y + ((size_t)b * c.out_channels + filter) * outputs;
        for (int p = threadIdx.x; p < outputs; p += BLOCK) {
            int row = p / c.out_w * c.stride + down, col = p % c.out_w * c.stride + right;
            if (row < 0 || row >= c.in_h || col < 0 || col >= c.in_w) continue;
            sum += grad[p] * plane[row * c.in_w + col];
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) grad_w[blockIdx.x] = sum;
}
/* END SOLUTION */

/* SOLUTION: grad_bias_kernel: a block per filter (about 12 lines). */
__global__ static void grad_bias_kernel(float *grad_bias, const float *grad_y, conv c)
{
    int outputs = c.out_h * c.out_w;
    float sum = 0.0f;
    for (int b = 0; b < c.batch; b++) {
        const float *grad = grad_y + ((size_t)b * c.out_channels + blockIdx.x) * outputs;
        for (int p = threadIdx.x; p < outputs; p += BLOCK) sum += grad[p];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) grad_bias[blockIdx.x] = sum;
}
/* END SOLUTION */

cudaError_t conv2d_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_channels, int in_h,
                            int in_w, int out_channels, int kernel_h, int kernel_w, int stride,
                            int pad, cudaStream_t stream)
{
    /* SOLUTION: the sizes; a launch for each gradient that is wanted, unless it is empty (about 14
       lines). */
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    conv c = {batch, in_channels, in_h,     in_w,   out_channels, out_h,
              out_w, kernel_h,    kernel_w, stride, pad};
    int planes = batch * in_channels, weights = out_channels * in_channels * kernel_h * kernel_w;
    if (grad_x != NULL && planes > 0)
        grad_x_kernel<<<planes, 256, 0, stream>>>(grad_x, grad_y, w, c);
    if (grad_w != NULL && weights > 0)
        grad_w_kernel<<<weights, BLOCK, 0, stream>>>(grad_w, grad_y, x, c);
    if (grad_bias != NULL && out_channels > 0)
        grad_bias_kernel<<<out_channels, BLOCK, 0, stream>>>(grad_bias, grad_y, c);
    /* END SOLUTION */
    return cudaGetLastError();
}
