/*
 * 404_fusion.cu: what follows a product is done while its sum is in a register: a linear layer with
 * bias and ReLU, a convolution with batch normalization, residual and ReLU, in one kernel each. And
 * a residual is added while a layer normalization reads its row.
 *
 * The idea: when the tiled matmul has its sums, they are in registers. Unfused, each goes to
 * memory, comes back for the bias, goes, comes back for the ReLU, goes: 20 bytes per output where 4
 * would do. Fused, bias and ReLU happen between the last multiplication and the first store. What
 * the backward pass needs (pre, the input of the ReLU) is stored on the way if the caller wants it.
 *
 * A convolution is such a product too (307): only the load of its second tile differs, and the
 * epilogue. Normalization scales and shifts by numbers that belong to the filter, as the bias does;
 * the residual is read once, at the place where y is stored.
 *
 * Layer normalization needs its row three times, and the row is a sum of two. So the sum is kept in
 * shared memory, where each thread finds again what it wrote; for a longer row, the rest is added
 * again.
 *
 * It saves bytes: 16 per output, for a sum of any length. The product costs 2 operations per output
 * and term, so the gain is large for a short sum and vanishes for a long one. The two launches
 * saved count only for tiny layers.
 *
 * What it costs: a kernel for every combination in use. The product of the linear layer is 2a's
 * tile for warps (404_tile.cuh). The convolution's stays as slow as it was: two shared-memory loads
 * per multiplication. 307 needs fewer, and 507 uses tensor cores.
 */
#include "../../phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"
#include "212_matmul_transposed/matmul_transposed.h"
#include "404_fusion/fusion.h"
#include "404_tile.cuh"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"

/* ---- a linear layer, bias, ReLU -------------------------------------------------------------- */

/** y and pre, a tile of each per block. y, pre: [batch x out_features], pre may be NULL; x: [batch
 *  x in_features]; w: [out_features x in_features]. */
template <int TM, int TN, int GROUPS>
__global__ static void __launch_bounds__(GROUPS *TILE_THREADS, 2 / GROUPS)
    linear_fused_kernel(float *y, float *pre, const float *x, const float *w, const float *bias,
                        int batch, int in_features, int out_features)
{
    extern __shared__ float4 ring[];
    unsigned across = (out_features - 1) / TILE_COLS(TN) + 1; /* tiles side by side in y */
    int row = blockIdx.x / across * TILE_ROWS(TM), col = blockIdx.x % across * TILE_COLS(TN);
    float sum[TM][TN] = {};
    tile_product<GROUPS>(sum, ring, x, w, row, col, batch, out_features, in_features);

    /* TODO: each of the thread's elements of y, from the register: its row and column, bias,
       pre if it is wanted, and a ReLU that keeps NaN (about 16 lines). */
}

/** One block per tile. batch and out_features are not 0. */
template <int TM, int TN, int GROUPS>
static cudaError_t launch_linear(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream)
{
    enum { BYTES = TILE_BYTES(TM, TN, GROUPS), THREADS = GROUPS * TILE_THREADS };
    /* TODO: cover y with tiles along x of the grid, rounding up; launch THREADS threads with
       BYTES of shared memory, which may be more than the default (about 8 lines). */
    NOT_IMPLEMENTED(y, pre, x, w, bias, batch, in_features, out_features, stream);
    return cudaGetLastError();
}

#define MOST_ALONE 160 /* tiles: with more, most multiprocessors have two blocks */

cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream)
{
    /* TODO: nothing without elements of y. Tiles of 16 x 8 sums per thread where there are at
       least 64 of them, else of 4 x 4, for more blocks. Two groups per tile if these are no more
       than MOST_ALONE and each group has 128 of k (about 8 lines). */
    NOT_IMPLEMENTED(y, pre, x, w, bias, batch, in_features, out_features, stream);
    return cudaSuccess;
}

/* ---- a convolution, batch normalization, residual, ReLU -------------------------------------- */

#define TILE 16 /* TILE x TILE threads per block, and as many outputs */

typedef struct conv {
    int in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad;
    int taps;   /* in_channels * kernel_h * kernel_w: the length of a sum */
    int pixels; /* of the outputs of all images */
} conv;

typedef struct batchnorm {
    const float *mean, *var, *gamma, *beta; /* [out_channels] */
    float eps;
} batchnorm;

/** Element `tap` of the window whose corner is (top, left); 0 in the padding and past the last tap.
 *  x: one image, [in_channels x in_h x in_w]. */
__device__ static float window_element(const float *x, int tap, int top, int left, conv c)
{
    /* TODO: find channel, row and column by division, as in 307 (about 4 lines). */
    return {};
}

/** The epilogue: from the sum of a filter to the element of y. */
__device__ static float finish(float sum, int filter, batchnorm n, float residual)
{
    /* TODO: normalize with the filter's parameters, add the residual, ReLU (about 3 lines). */
    return {};
}

/** y [images x out_channels x out_h x out_w], a tile of filters and pixels per block. Thread (x, y)
 *  has filter y and pixel x, whose image, place and window are already known.
 *  w: [out_channels x taps]; residual: as y, or NULL. */
__global__ static void conv_bn_relu_kernel(float *y, const float *x, const float *w, batchnorm n,
                                           const float *residual, conv c)
{
    __shared__ float w_tile[TILE][TILE + 1]; /* [filter][tap] */
    __shared__ float x_tile[TILE][TILE];     /* [tap][pixel] */
    operand filters = row_major(w, c.out_channels, c.taps);
    unsigned across = (c.pixels - 1) / TILE + 1;
    int filter = blockIdx.x / across * TILE;
    int pixel = blockIdx.x % across * TILE + threadIdx.x;
    int plane = c.out_h * c.out_w, image = pixel / plane, place = pixel % plane;
    int top = place / c.out_w * c.stride - c.pad, left = place % c.out_w * c.stride - c.pad;
    x += (size_t)image * c.in_channels * c.in_h * c.in_w;

    /* TODO: the tiled product of filters and windows: load_tile for the filters, and of the
       thread's own window tap k + threadIdx.y; then finish, and one store (about 13 lines). */
}

cudaError_t conv_bn_relu(float *y, const float *x, const float *w, const float *mean,
                         const float *var, const float *gamma, const float *beta,
                         const float *residual, int batch, int in_channels, int in_h, int in_w,
                         int out_channels, int kernel_h, int kernel_w, int stride, int pad,
                         float eps, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    conv c = {in_channels, in_h,     in_w,   out_channels, out_h, out_w,
              kernel_h,    kernel_w, stride, pad,          0,     0};
    c.taps = in_channels * kernel_h * kernel_w;
    c.pixels = batch * out_h * out_w;
    batchnorm n = {mean, var, gamma, beta, eps};
    /* TODO: cover y with tiles, the next of the pixels first; launch unless y is empty (about 4
       lines). */
    NOT_IMPLEMENTED(y, x, w, mean, var, gamma, beta, residual, batch, in_channels, in_h, in_w,
                    out_channels, kernel_h, kernel_w, stride, pad, eps, stream);
    return cudaGetLastError();
}

/* ---- residual, layer normalization ----------------------------------------------------------- */

#define ROW_THREADS 256
#define ROW_KEPT    8192 /* columns of a row that shared memory keeps */

/** The sum of one value per thread, for every thread of the block. */
__device__ static float block_sum(float value)
{
    __shared__ float of_warp[ROW_THREADS / 32];
    /* TODO: the sum of each warp by shuffles; the sums of the warps through of_warp, which an
       earlier call has used too (about 8 lines). */
    return value;
}

/** Column c of the sum x + residual: kept by this same thread, or added again. kept: [ROW_KEPT] */
__device__ static float sum_at(const float *kept, const float *x, const float *residual, int c)
{
    /* TODO: which of the two (1 line). */
    return {};
}

/** A block per row. y, sum, x, residual: [rows x cols], sum may be NULL; mean, rstd: [rows]; gamma,
 *  beta: [cols]. */
__global__ static void residual_layernorm_kernel(float *y, float *sum, float *mean, float *rstd,
                                                 const float *x, const float *residual,
                                                 const float *gamma, const float *beta, int cols,
                                                 float eps)
{
    extern __shared__ float kept[]; /* the first ROW_KEPT columns, or all */
    size_t start = (size_t)blockIdx.x * cols;
    x += start, residual += start, y += start;

    /* TODO: walk along the row three times: add, keep, store if wanted, for the mean; the
       variance from the differences to it; y. One thread stores the statistics (about 19 lines). */
}

cudaError_t residual_layernorm_forward(float *y, float *sum, float *mean, float *rstd,
                                       const float *x, const float *residual, const float *gamma,
                                       const float *beta, int rows, int cols, float eps,
                                       cudaStream_t stream)
{
    /* TODO: a block of ROW_THREADS per row, with shared memory for as much of the row as is
       kept; nothing without rows or columns (about 3 lines). */
    NOT_IMPLEMENTED(y, sum, mean, rstd, x, residual, gamma, beta, rows, cols, eps, stream);
    return cudaGetLastError();
}
