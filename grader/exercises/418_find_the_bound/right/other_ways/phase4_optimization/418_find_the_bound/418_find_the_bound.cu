/* The eight functions, each mended in another way than the solution's. */
#include "418_find_the_bound/find_the_bound.h"

#include <mma.h>

static unsigned up(size_t n, size_t part)
{
    return (unsigned)((n + part - 1) / part);
}

/* A stretch of 2,048 per block, two sums per thread, an atomic per warp. */
__global__ static void dot_stretch(float *out, const float *a, const float *b, size_t n)
{
    const size_t begin = blockIdx.x * (size_t)2048;
    float even = 0.0f, odd = 0.0f;
    for (size_t i = begin + threadIdx.x; i < n && i < begin + 2048; i += 256) {
        even += a[i] * b[i];
        if (i + 128 < n && i + 128 < begin + 2048) odd += a[i + 128] * b[i + 128];
    }
    even += odd;
    for (int d = 1; d < 32; d *= 2) even += __shfl_xor_sync(0xffffffffu, even, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, even);
}

cudaError_t dot_product(float *out, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(out, 0, sizeof(float), stream);
    if (error != cudaSuccess) return error;
    if (n > 0) dot_stretch<<<up(n, 2048), 128, 0, stream>>>(out, a, b, n);
    return cudaGetLastError();
}

__global__ static void finish_all(float *y, const float *x, const float *residual, size_t n,
                                  float scale, float shift)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float z = fmaf(scale, x[i], shift);
        if (z < 0.0f) z = 0.0f;
        y[i] = residual[i] + z;
    }
}

cudaError_t finish(float *y, const float *x, const float *residual, size_t n, float scale,
                   float shift, cudaStream_t stream)
{
    if (n > 0) finish_all<<<up(n, 1024), 512, 0, stream>>>(y, x, residual, n, scale, shift);
    return cudaGetLastError();
}

/* Not padded: element (r, c) of the tile is at r, c ^ r. */
__global__ static void turn_swizzled(float *y, const float *x, int rows, int cols, unsigned across)
{
    __shared__ float tile[32 * 32];
    const int left = blockIdx.x % across * 32, top = blockIdx.x / across * 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int r = warp; r < 32 && top + r < rows; r += 4)
        if (left + lane < cols)
            tile[32 * r + (lane ^ r)] = x[(size_t)(top + r) * cols + left + lane];
    __syncthreads();
    for (int c = warp; c < 32 && left + c < cols; c += 4)
        if (top + lane < rows)
            y[(size_t)(left + c) * rows + top + lane] = tile[32 * lane + (c ^ lane)];
}

cudaError_t turn(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    const unsigned across = up(cols, 32), down = up(rows, 32);
    if (rows > 0 && cols > 0)
        turn_swizzled<<<across * down, 128, 0, stream>>>(y, x, rows, cols, across);
    return cudaGetLastError();
}

__global__ static void bias_of_row(float *y, const float *bias, int cols)
{
    y += (size_t)blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] += bias[c];
}

cudaError_t add_bias(float *y, const float *bias, int rows, int cols, cudaStream_t stream)
{
    if (rows > 0 && cols > 0) bias_of_row<<<rows, 128, 0, stream>>>(y, bias, cols);
    return cudaGetLastError();
}

/* Even and odd terms apart: two chains, half as long. */
__global__ static void polynomial_halves(float *y, const float *x, size_t n, const float *c,
                                         int terms)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float at = x[i], square = at * at;
    float even = 0.0f, odd = 0.0f;
    for (int k = (terms - 1) / 2; k >= 0; k--) {
        even = fmaf(even, square, c[2 * k]);
        odd = fmaf(odd, square, 2 * k + 1 < terms ? c[2 * k + 1] : 0.0f);
    }
    y[i] = fmaf(odd, at, even);
}

cudaError_t polynomial(float *y, const float *x, size_t n, const float *coefficients, int terms,
                       cudaStream_t stream)
{
    if (n > 0) polynomial_halves<<<up(n, 128), 128, 0, stream>>>(y, x, n, coefficients, terms);
    return cudaGetLastError();
}

/* Packed on the device, then one copy without gaps. */
__global__ static void pack(float *packed, const float *x, int cols, int width, size_t n)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) packed[i] = x[i / width * cols + i % width];
}

cudaError_t fetch_left(float *h_out, const float *x, int rows, int cols, int width,
                       cudaStream_t stream)
{
    const size_t n = (size_t)rows * width;
    float *packed;
    if (n == 0) return cudaSuccess;
    cudaError_t error = cudaMallocAsync(&packed, n * sizeof(float), stream);
    if (error != cudaSuccess) return error;
    pack<<<up(n, 256), 256, 0, stream>>>(packed, x, cols, width, n);
    error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(h_out, packed, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    const cudaError_t freed = cudaFreeAsync(packed, stream), waited = cudaStreamSynchronize(stream);
    return error != cudaSuccess ? error : freed != cudaSuccess ? freed : waited;
}

/* 64 rows of 32 columns in shared memory, with the rows around them. */
__global__ static void blur_tile(float *y, const float *x, int rows, int cols, unsigned across)
{
    enum { HIGH = 64, AROUND = HIGH + 2 * BLUR_REACH };
    __shared__ float tile[AROUND][32];
    const int col = blockIdx.x % across * 32 + threadIdx.x, top = blockIdx.x / across * HIGH;
    for (int r = threadIdx.y; r < AROUND; r += blockDim.y) {
        const int row = top + r - BLUR_REACH;
        const bool inside = row >= 0 && row < rows && col < cols;
        tile[r][threadIdx.x] = inside ? x[(size_t)row * cols + col] : 0.0f;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < HIGH && top + r < rows && col < cols; r += blockDim.y) {
        float sum = 0.0f;
        int count = 0;
        for (int q = r; q <= r + 2 * BLUR_REACH; q++) {
            const int row = top + q - BLUR_REACH;
            sum += tile[q][threadIdx.x];
            count += row >= 0 && row < rows;
        }
        y[(size_t)(top + r) * cols + col] = sum / count;
    }
}

cudaError_t blur(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    const unsigned across = up(cols, 32), down = up(rows, 64);
    if (rows > 0 && cols > 0)
        blur_tile<<<across * down, dim3(32, 8), 0, stream>>>(y, x, rows, cols, across);
    return cudaGetLastError();
}

/* The mean of the models is made in shared memory, by all threads. */
__global__ static void mean_model(float *y, const __half *x, const __half *w, int n, int models)
{
    using namespace nvcuda;
    __shared__ __align__(32) __half mean[256], part[8][256];
    __shared__ __align__(32) float product[8][256];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float total = 0.0f;
    for (int m = 0; m < models; m++) total += __half2float(w[(size_t)m * 256 + threadIdx.x]);
    mean[threadIdx.x] = __float2half(total / models);
    const size_t begin = (blockIdx.x * (size_t)8 + warp) * 256, end = (size_t)n * 16;
    for (int i = lane; i < 256; i += 32)
        part[warp][i] = begin + i < end ? x[begin + i] : __float2half(0.0f);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> of_x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> of_w;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    if (begin >= end) return;
    wmma::load_matrix_sync(of_x, part[warp], 16);
    wmma::load_matrix_sync(of_w, mean, 16);
    wmma::mma_sync(sum, of_x, of_w, sum);
    wmma::store_matrix_sync(product[warp], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256 && begin + i < end; i += 32) y[begin + i] = product[warp][i];
}

cudaError_t average_models(float *y, const __half *x, const __half *w, int n, int models,
                           cudaStream_t stream)
{
    if (n > 0) mean_model<<<up(n, 128), 256, 0, stream>>>(y, x, w, n, models);
    return cudaGetLastError();
}
