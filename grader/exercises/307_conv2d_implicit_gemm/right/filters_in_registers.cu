// RIGHT: tiles of 32 pixels and 32 taps, fetched by windows found anew in each step; a thread has 4
// filters of one pixel
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"

#define SIDE 32
#define MINE 4 /* 32 x 8 threads */

struct geometry {
    int channels, h, w, filters, out_h, out_w, kernel_h, kernel_w, stride, pad, taps, pixels;
};

__device__ static float look_up(const float *x, int tap, int pixel, geometry g)
{
    if (tap >= g.taps || pixel >= g.pixels) return 0.0f;
    int area = g.kernel_h * g.kernel_w, plane = g.out_h * g.out_w, place = pixel % plane;
    int row = place / g.out_w * g.stride + tap % area / g.kernel_w - g.pad;
    int col = place % g.out_w * g.stride + tap % g.kernel_w - g.pad;
    if ((unsigned)row >= (unsigned)g.h || (unsigned)col >= (unsigned)g.w) return 0.0f;
    size_t channel = (size_t)(pixel / plane) * g.channels + tap / area;
    return x[(channel * g.h + row) * g.w + col];
}

__global__ static void conv_kernel(float *y, const float *x, const float *w, const float *bias,
                                   geometry g)
{
    __shared__ float weights[SIDE][SIDE], columns[SIDE][SIDE]; /* [filter][tap], [tap][pixel] */
    int lane = threadIdx.x, pixel = blockIdx.x * SIDE + lane, first = blockIdx.y * SIDE;
    float sum[MINE] = {0.0f};
    for (int k = 0; k < g.taps; k += SIDE) {
        for (int i = threadIdx.y; i < SIDE; i += SIDE / MINE) {
            bool inside = first + i < g.filters && k + lane < g.taps;
            weights[i][lane] = inside ? w[(size_t)(first + i) * g.taps + k + lane] : 0.0f;
            columns[i][lane] = look_up(x, k + i, pixel, g);
        }
        __syncthreads();
        for (int i = 0; i < SIDE; i++) {
            float value = columns[i][lane];
            for (int f = 0; f < MINE; f++) {
                sum[f] = fmaf(weights[MINE * threadIdx.y + f][i], value, sum[f]);
            }
        }
        __syncthreads();
    }
    int plane = g.out_h * g.out_w;
    for (int f = 0; f < MINE && pixel < g.pixels; f++) {
        int filter = first + MINE * threadIdx.y + f;
        if (filter >= g.filters) break;
        size_t at = (size_t)(pixel / plane) * g.filters + filter;
        y[at * plane + pixel % plane] = bias ? sum[f] + bias[filter] : sum[f];
    }
}

cudaError_t conv2d_implicit_gemm(float *y, const float *x, const float *w, const float *bias,
                                 int batch, int in_channels, int in_h, int in_w, int out_channels,
                                 int kernel_h, int kernel_w, int stride, int pad,
                                 cudaStream_t stream)
{
    geometry g = {in_channels, in_h,     in_w,   out_channels, 0, 0,
                  kernel_h,    kernel_w, stride, pad,          0, 0};
    g.out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    g.out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    g.taps = in_channels * kernel_h * kernel_w;
    g.pixels = batch * g.out_h * g.out_w;
    dim3 grid((g.pixels + SIDE - 1) / SIDE, (out_channels + SIDE - 1) / SIDE);
    if (g.pixels == 0 || out_channels == 0) return cudaSuccess;
    conv_kernel<<<grid, dim3(SIDE, SIDE / MINE), 0, stream>>>(y, x, w, bias, g);
    return cudaGetLastError();
}
