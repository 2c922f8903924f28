/*
 * Frozen: the eight functions as they are handed out.
 */
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <mma.h>
#include <stdlib.h>

#define BLUR_REACH 4
#define MODEL_SIDE 16
#define THREADS    256 /* of a block */
#define LANES      32
#define ALL        0xffffffffu

static unsigned parts(size_t n, size_t part)
{
    return (unsigned)((n + part - 1) / part);
}

/* ---- dot_product ----------------------------------------------------------------------------- */

__global__ static void dot_kernel(float *out, const float *a, const float *b, size_t n)
{
    __shared__ float of_warp[THREADS / LANES];
    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < n; i += THREADS) sum += a[i] * b[i];
    for (int d = LANES / 2; d > 0; d /= 2) sum += __shfl_down_sync(ALL, sum, d);
    if (threadIdx.x % LANES == 0) of_warp[threadIdx.x / LANES] = sum;
    __syncthreads(); /* the sums of all warps are there */
    if (threadIdx.x != 0) return;
    for (int w = 1; w < THREADS / LANES; w++) sum += of_warp[w];
    *out = sum;
}

extern "C" cudaError_t baseline_dot_product(float *out, const float *a, const float *b, size_t n,
                                            cudaStream_t stream)
{
    dot_kernel<<<1, THREADS, 0, stream>>>(out, a, b, n);
    return cudaGetLastError();
}

/* ---- finish ---------------------------------------------------------------------------------- */

__global__ static void scale_kernel(float *y, const float *x, size_t n, float scale, float shift)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = scale * x[i] + shift;
}

__global__ static void clip_kernel(float *y, size_t n)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = y[i] < 0.0f ? 0.0f : y[i];
}

__global__ static void add_kernel(float *y, const float *residual, size_t n)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] += residual[i];
}

extern "C" cudaError_t baseline_finish(float *y, const float *x, const float *residual, size_t n,
                                       float scale, float shift, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    scale_kernel<<<parts(n, THREADS), THREADS, 0, stream>>>(y, x, n, scale, shift);
    clip_kernel<<<parts(n, THREADS), THREADS, 0, stream>>>(y, n);
    add_kernel<<<parts(n, THREADS), THREADS, 0, stream>>>(y, residual, n);
    return cudaGetLastError();
}

/* ---- turn ------------------------------------------------------------------------------------ */

#define TILE      32
#define TILE_ROWS 8 /* threads of a block, downwards */

__global__ static void turn_kernel(float *y, const float *x, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    const unsigned across = (cols - 1) / TILE + 1;
    const int top = blockIdx.x / across * TILE, left = blockIdx.x % across * TILE;
    for (int j = threadIdx.y; j < TILE; j += TILE_ROWS) {
        const int row = top + j, col = left + threadIdx.x;
        if (row < rows && col < cols) tile[j][threadIdx.x] = x[(size_t)row * cols + col];
    }
    __syncthreads(); /* the tile is complete */
    for (int j = threadIdx.y; j < TILE; j += TILE_ROWS) {
        const int row = top + threadIdx.x, col = left + j;
        if (row < rows && col < cols) y[(size_t)col * rows + row] = tile[threadIdx.x][j];
    }
}

extern "C" cudaError_t baseline_turn(float *y, const float *x, int rows, int cols,
                                     cudaStream_t stream)
{
    const unsigned blocks = parts(rows, TILE) * parts(cols, TILE);
    if (blocks > 0) turn_kernel<<<blocks, dim3(TILE, TILE_ROWS), 0, stream>>>(y, x, rows, cols);
    return cudaGetLastError();
}

/* ---- polynomial ------------------------------------------------------------------------------ */

__global__ static void polynomial_kernel(float *y, const float *x, size_t n,
                                         const float *coefficients, int terms)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    const float at = x[i];
    float sum = 0.0f;
    for (int k = 0; k < terms; k++) {
        float power = 1.0f;
#pragma unroll 1
        for (int j = 0; j < k; j++) power *= at;
        sum += coefficients[k] * power;
    }
    y[i] = sum;
}

extern "C" cudaError_t baseline_polynomial(float *y, const float *x, size_t n,
                                           const float *coefficients, int terms,
                                           cudaStream_t stream)
{
    if (n > 0)
        polynomial_kernel<<<parts(n, THREADS), THREADS, 0, stream>>>(y, x, n, coefficients, terms);
    return cudaGetLastError();
}

/* ---- fetch_left ------------------------------------------------------------------------------ */

extern "C" cudaError_t baseline_fetch_left(float *h_out, const float *x, int rows, int cols,
                                           int width, cudaStream_t stream)
{
    if (rows == 0 || width == 0) return cudaSuccess;
    const size_t bytes = (size_t)rows * cols * sizeof(float);
    float *h_x = (float *)malloc(bytes);
    if (h_x == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMemcpyAsync(h_x, x, bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    for (size_t i = 0; error == cudaSuccess && i < (size_t)rows * width; i++)
        h_out[i] = h_x[i / width * cols + i % width];
    free(h_x);
    return error;
}

/* ---- blur ------------------------------------------------------------------------------------ */

#define WINDOW (2 * BLUR_REACH + 1)
#define TALL   1 /* rows of y per thread */

/* blockIdx.x counts stretches of TALL rows, blockIdx.y stretches of THREADS columns. */
__global__ static void blur_kernel(float *y, const float *x, int rows, int cols)
{
    const int col = blockIdx.y * THREADS + threadIdx.x, top = blockIdx.x * TALL;
    if (col >= cols) return;
    const float *at = x + (size_t)top * cols + col;
    float sum = 0.0f;
    int count = 0;
#pragma unroll
    for (int j = -BLUR_REACH; j <= BLUR_REACH; j++) {
        if (top + j < 0 || top + j >= rows) continue;
        sum += at[(ptrdiff_t)j * cols];
        count++;
    }
    y[(size_t)top * cols + col] = sum / count;
}

extern "C" cudaError_t baseline_blur(float *y, const float *x, int rows, int cols,
                                     cudaStream_t stream)
{
    const dim3 blocks(parts(rows, TALL), parts(cols, THREADS));
    if (rows > 0 && cols > 0) blur_kernel<<<blocks, THREADS, 0, stream>>>(y, x, rows, cols);
    return cudaGetLastError();
}

/* ---- average_models -------------------------------------------------------------------------- */

#define MODEL  (MODEL_SIDE * MODEL_SIDE) /* elements */
#define WARPS  4                         /* of a block */
#define GROUPS 8                         /* of MODEL_SIDE rows of x, per warp */
#define STAGED 16                        /* models in shared memory at a time */

using namespace nvcuda::wmma;
typedef fragment<matrix_a, MODEL_SIDE, MODEL_SIDE, MODEL_SIDE, __half, row_major> x_fragment;
typedef fragment<matrix_b, MODEL_SIDE, MODEL_SIDE, MODEL_SIDE, __half, row_major> w_fragment;
typedef fragment<accumulator, MODEL_SIDE, MODEL_SIDE, MODEL_SIDE, float> y_fragment;

/* count elements, and zeros behind them up to `room`; by all threads of the block. */
__device__ static void stage(__half *to, const __half *from, size_t count, int room)
{
    for (int i = threadIdx.x; i < room; i += WARPS * LANES)
        to[i] = i < count ? from[i] : __half(0.0f);
}

__global__ static void average_models_kernel(float *y, const __half *x, const __half *w, int n,
                                             int models)
{
    __shared__ __align__(32) __half x_part[WARPS][GROUPS][MODEL], w_part[STAGED][MODEL];
    __shared__ __align__(32) float y_part[WARPS][MODEL];
    const int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const size_t begin = (size_t)blockIdx.x * WARPS * GROUPS * MODEL, end = (size_t)n * MODEL_SIDE;
    stage(x_part[0][0], x + begin, end - begin, WARPS * GROUPS * MODEL);
    __syncthreads(); /* x is there */

    x_fragment of_x[GROUPS];
    y_fragment sum[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        load_matrix_sync(of_x[g], x_part[warp][g], MODEL_SIDE);
        fill_fragment(sum[g], 0.0f);
    }
    w_fragment of_w;
    for (int m = 0; m < models; m += STAGED) {
        const int count = min(models - m, STAGED);
        __syncthreads(); /* the models before were read by all */
        stage(w_part[0], w + (size_t)m * MODEL, count * MODEL, count * MODEL);
        __syncthreads(); /* these are there */
        for (int j = 0; j < count; j++) {
            load_matrix_sync(of_w, w_part[j], MODEL_SIDE);
            for (int g = 0; g < GROUPS; g++) mma_sync(sum[g], of_x[g], of_w, sum[g]);
        }
    }
    const float factor = 1.0f / models;
    for (int g = 0; g < GROUPS; g++) {
        const size_t at = begin + (warp * GROUPS + g) * MODEL;
        __syncwarp(); /* the lanes have stored the group before */
        store_matrix_sync(y_part[warp], sum[g], MODEL_SIDE, mem_row_major);
        __syncwarp(); /* the group is there */
        for (int i = lane; i < MODEL; i += LANES)
            if (at + i < end) y[at + i] = factor * y_part[warp][i];
    }
}

extern "C" cudaError_t baseline_average_models(float *y, const __half *x, const __half *w, int n,
                                               int models, cudaStream_t stream)
{
    const unsigned blocks = parts(n, WARPS * GROUPS * MODEL_SIDE);
    if (blocks > 0) average_models_kernel<<<blocks, WARPS * LANES, 0, stream>>>(y, x, w, n, models);
    return cudaGetLastError();
}
