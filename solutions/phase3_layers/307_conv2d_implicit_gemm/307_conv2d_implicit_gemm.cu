/*
 * 307_conv2d_implicit_gemm.cu: convolution as a matrix product, one factor of which is never
 * stored.
 *
 * The idea: 110 wrote the windows of the image into `columns`, 9 times as large as the image, and
 * multiplied. A tiled product (211) copies its factors tile by tile into shared memory anyway. So
 * let that copy do the work of im2col: element (f, p) of columns is looked up in x at the moment
 * when its tile is filled, and only y is ever written to global memory.
 *
 *     y[filters x pixels] = w[filters x taps] * columns[taps x pixels]
 *
 * pixels are those of all images of the batch, so that a batch of small images fills the GPU as
 * well as one large image. A thread always fetches for the same pixel: it finds the corner of its
 * window once, before the loop over the taps.
 *
 * Each thread holds 4 x 4 outputs in registers: in each step it reads 4 + 4 numbers from shared
 * memory for 16 multiply-adds. With one output per thread (211) it would read two numbers for one.
 *
 * What it costs: two divisions per fetched element to find row and column of a tap, 16 registers of
 * sums, and tiles that are partly empty: 49 pixels of a 7 x 7 image in a tile of 64 when the batch
 * is 1.
 */
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"
#include "not_implemented.h"

/* SOLUTION: FILTERS and PIXELS of a block's tile of y, TAPS of a step, EACH x EACH outputs per
   thread; the sizes of a convolution (about 8 lines). */
#define FILTERS 64
#define PIXELS  64
#define TAPS    16
#define EACH    4 /* 16 x 16 threads */

typedef struct conv {
    int in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad;
    int taps;   /* in_channels * kernel_h * kernel_w */
    int pixels; /* of the outputs of all images */
} conv;
/* END SOLUTION */

/* SOLUTION: window_of: from the number of a pixel to its image in x and the corner of its window
   (about 12 lines). */
/** Where the window of an output pixel lies; x is NULL past the last pixel. */
typedef struct window {
    const float *x; /* the image */
    int top, left;
} window;

__device__ static window window_of(const float *x, int pixel, conv c)
{
    if (pixel >= c.pixels) return window{NULL, 0, 0};
    int image = pixel / (c.out_h * c.out_w), place = pixel % (c.out_h * c.out_w);
    return window{x + (size_t)image * c.in_channels * c.in_h * c.in_w,
                  place / c.out_w * c.stride - c.pad, place % c.out_w * c.stride - c.pad};
}
/* END SOLUTION */

/* SOLUTION: column_element: element (tap, pixel) of the columns; 0 in the padding and outside of
   the matrix (about 9 lines). */
__device__ static float column_element(window v, int tap, conv c)
{
    if (v.x == NULL || tap >= c.taps) return 0.0f;
    int s = tap % c.kernel_w, r = tap / c.kernel_w;
    int channel = r / c.kernel_h;
    int row = v.top + r - channel * c.kernel_h, col = v.left + s;
    bool inside = row >= 0 && row < c.in_h && col >= 0 && col < c.in_w;
    return inside ? v.x[((size_t)channel * c.in_h + row) * c.in_w + col] : 0.0f;
}
/* END SOLUTION */

/* SOLUTION: multiply: one step: the thread's EACH x EACH sums, from TAPS rows of both tiles (about
   14 lines). */
__device__ static void multiply(float sum[EACH][EACH], float w_tile[TAPS][FILTERS + 1],
                                float x_tile[TAPS][PIXELS])
{
    for (int k = 0; k < TAPS; k++) {
        float left[EACH], right[EACH];
        for (int i = 0; i < EACH; i++) left[i] = w_tile[k][threadIdx.y + 16 * i];
        for (int j = 0; j < EACH; j++) right[j] = x_tile[k][threadIdx.x + 16 * j];
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH; j++) sum[i][j] += left[i] * right[j];
        }
    }
}
/* END SOLUTION */

/* SOLUTION: store: add the bias, and write the outputs that lie in y (about 16 lines). */
__device__ static void store(float *y, float sum[EACH][EACH], const float *bias, conv c)
{
    int place = c.out_h * c.out_w;
    for (int j = 0; j < EACH; j++) {
        int pixel = blockIdx.x * PIXELS + threadIdx.x + 16 * j;
        if (pixel >= c.pixels) return;
        size_t at = (size_t)(pixel / place) * c.out_channels * place + pixel % place;
        for (int i = 0; i < EACH; i++) {
            int filter = blockIdx.y * FILTERS + threadIdx.y + 16 * i;
            if (filter >= c.out_channels) break;
            y[at + (size_t)filter * place] = sum[i][j] + (bias != NULL ? bias[filter] : 0.0f);
        }
    }
}
/* END SOLUTION */

/* SOLUTION: implicit_gemm_kernel: for TAPS at a time: fill both tiles, barrier, multiply, barrier;
   then store (about 25 lines). */
__global__ static void implicit_gemm_kernel(float *y, const float *x, const float *w,
                                            const float *bias, conv c)
{
    __shared__ float w_tile[TAPS][FILTERS + 1]; /* [tap][filter]: stored down a column, see below */
    __shared__ float x_tile[TAPS][PIXELS];
    int t = threadIdx.y * 16 + threadIdx.x;
    int pixel = t % PIXELS; /* of the tile: this thread's in every step */
    window v = window_of(x, blockIdx.x * PIXELS + pixel, c);
    float sum[EACH][EACH] = {{0.0f}};

    for (int first = 0; first < c.taps; first += TAPS) {
        /* 16 lanes follow a row of w; one more column keeps their stores in different banks. */
        for (int f = t / TAPS; f < FILTERS; f += 256 / TAPS) {
            int filter = blockIdx.y * FILTERS + f, tap = first + t % TAPS;
            bool inside = filter < c.out_channels && tap < c.taps;
            w_tile[t % TAPS][f] = inside ? w[(size_t)filter * c.taps + tap] : 0.0f;
        }
        for (int k = t / PIXELS; k < TAPS; k += 256 / PIXELS) {
            x_tile[k][pixel] = column_element(v, first + k, c);
        }
        __syncthreads(); /* both tiles are complete before any thread reads them */
        multiply(sum, w_tile, x_tile);
        __syncthreads(); /* all threads have read before the next step overwrites them */
    }
    store(y, sum, bias, c);
}
/* END SOLUTION */

cudaError_t conv2d_implicit_gemm(float *y, const float *x, const float *w, const float *bias,
                                 int batch, int in_channels, int in_h, int in_w, int out_channels,
                                 int kernel_h, int kernel_w, int stride, int pad,
                                 cudaStream_t stream)
{
    /* SOLUTION: the sizes, and a block per tile of y, pixels along x of the grid (about 12 lines).
     */
    conv c = {in_channels, in_h, in_w, out_channels, 0, 0, kernel_h, kernel_w, stride, pad, 0, 0};
    c.out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    c.out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    c.taps = in_channels * kernel_h * kernel_w;
    c.pixels = batch * c.out_h * c.out_w;
    if (c.pixels == 0 || out_channels == 0) return cudaSuccess; /* an empty grid is an error */
    dim3 block(16, 16),
        grid((c.pixels + PIXELS - 1) / PIXELS, (out_channels + FILTERS - 1) / FILTERS);
    implicit_gemm_kernel<<<grid, block, 0, stream>>>(y, x, w, bias, c);
    /* END SOLUTION */
    return cudaGetLastError();
}
