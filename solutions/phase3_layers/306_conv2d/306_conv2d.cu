/*
 * 306_conv2d.cu: convolution by its definition, one thread per output.
 *
 * The idea: an output needs its filter and the window of the image under it, and no other output,
 * so there are as many independent tasks as outputs: 802,816 for the first layer of ResNet-18. A
 * thread finds out from its number which image, filter, row and column it is. Columns run fastest,
 * as in memory: the 32 lanes of a warp hold 32 neighbouring windows. At each element of the window
 * they read 32 neighbours of x (a line, or two with stride 2) and the same element of w (one
 * broadcast).
 *
 * What it costs: neighbouring windows overlap. With a kernel of 3 x 3 every pixel is loaded nine
 * times by each of the filters, two loads for each multiply-add, and only the cache keeps these
 * loads from memory. 307 puts both factors into shared memory.
 */
#include "306_conv2d/conv2d.h"
#include "not_implemented.h"

/* SOLUTION: the sizes of a convolution, as one argument for the kernel (about 4 lines). */
typedef struct conv {
    int in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad;
} conv;
/* END SOLUTION */

/* SOLUTION: dot_window: one filter times the window of one image whose corner is (top, left),
   leaving out what is outside (about 16 lines). */
/** x [in_channels x in_h x in_w], w [in_channels x kernel_h x kernel_w] */
__device__ static float dot_window(const float *x, const float *w, conv c, int top, int left)
{
    float sum = 0.0f;
    for (int channel = 0; channel < c.in_channels; channel++) {
        for (int r = 0; r < c.kernel_h; r++) {
            int row = top + r;
            for (int s = 0; s < c.kernel_w; s++, w++) {
                int col = left + s;
                if (row < 0 || row >= c.in_h || col < 0 || col >= c.in_w) continue;
                sum += *w * x[((size_t)channel * c.in_h + row) * c.in_w + col];
            }
        }
    }
    return sum;
}
/* END SOLUTION */

/* SOLUTION: conv2d_kernel: from the number of the output to its column, row, filter and image; then
   dot_window and the bias (about 16 lines). */
__global__ static void conv2d_kernel(float *y, const float *x, const float *w, const float *bias,
                                     conv c, size_t outputs)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;

    int col = i % c.out_w, row = i / c.out_w % c.out_h;
    size_t plane = i / c.out_w / c.out_h;
    size_t filter = plane % c.out_channels, image = plane / c.out_channels;

    x += image * c.in_channels * c.in_h * c.in_w;
    w += filter * c.in_channels * c.kernel_h * c.kernel_w;
    float sum = dot_window(x, w, c, row * c.stride - c.pad, col * c.stride - c.pad);
    y[i] = bias != NULL ? sum + bias[filter] : sum;
}
/* END SOLUTION */

cudaError_t conv2d_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_channels, int in_h, int in_w, int out_channels, int kernel_h,
                           int kernel_w, int stride, int pad, cudaStream_t stream)
{
    /* SOLUTION: out_h and out_w, the number of outputs, a thread for each (about 8 lines). */
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    conv c = {in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad};
    size_t outputs = (size_t)batch * out_channels * out_h * out_w;
    if (outputs == 0) return cudaSuccess; /* an empty grid is a launch error */
    conv2d_kernel<<<(outputs + 255) / 256, 256, 0, stream>>>(y, x, w, bias, c, outputs);
    /* END SOLUTION */
    return cudaGetLastError();
}
