// RIGHT: a block per row and 4 bytes at a time: a thread keeps every blockDim.x-th element, up to
// 32 of them, in registers; more are read again
#include "405_row_kernels/row_kernels.h"
#include <math.h>

#define OWN 32 /* floats a thread keeps */

enum { MAXIMUM, ADD };

template <int HOW> __device__ float both(float a, float b)
{
    return HOW == MAXIMUM ? fmaxf(a, b) : a + b;
}

template <int HOW> __device__ float block_wide(float v)
{
    __shared__ float slot[33];
    for (int d = 16; d; d >>= 1) v = both<HOW>(v, __shfl_down_sync(0xffffffff, v, d));
    if ((threadIdx.x & 31) == 0) slot[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x >> 5; w++) v = both<HOW>(v, slot[w]);
        slot[32] = v;
    }
    __syncthreads();
    v = slot[32];
    __syncthreads();
    return v;
}

struct row {
    const float *x;
    int cols;
    float own[OWN];
};

__device__ void open_row(row &r, const float *x, int cols)
{
    r.x = x;
    r.cols = cols;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        int c = threadIdx.x + i * blockDim.x;
        if (c < cols) r.own[i] = x[c];
    }
}

/* visit(column, value) for each element of this thread. */
template <class visitor> __device__ void each(const row &r, visitor visit)
{
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        int c = threadIdx.x + i * blockDim.x;
        if (c < r.cols) visit(c, r.own[i]);
    }
    for (int c = threadIdx.x + OWN * blockDim.x; c < r.cols; c += blockDim.x) visit(c, r.x[c]);
}

__global__ void __launch_bounds__(1024) softmax(float *out, const float *in, int cols)
{
    row r;
    open_row(r, in + (size_t)blockIdx.x * cols, cols);
    float *y = out + (size_t)blockIdx.x * cols, top = -INFINITY, sum = 0;
    each(r, [&](int, float v) { top = fmaxf(top, v); });
    top = block_wide<MAXIMUM>(top);
    if (isinf(top) && top < 0) top = 0;
    each(r, [&](int, float v) { sum += expf(v - top); });
    sum = block_wide<ADD>(sum);
    float weight = sum == 0 ? 0 : 1 / sum;
    each(r, [&](int c, float v) { y[c] = expf(v - top) * weight; });
}

__global__ void __launch_bounds__(1024) norm(float *out, const float *in, const float *gamma,
                                             const float *beta, int cols, float eps)
{
    row r;
    open_row(r, in + (size_t)blockIdx.x * cols, cols);
    float *y = out + (size_t)blockIdx.x * cols, mean = 0, squares = 0;
    if (beta) {
        each(r, [&](int, float v) { mean += v; });
        mean = block_wide<ADD>(mean) / cols;
    }
    each(r, [&](int, float v) { squares += (v - mean) * (v - mean); });
    float scale = 1 / sqrtf(block_wide<ADD>(squares) / cols + eps);
    each(r, [&](int c, float v) { y[c] = (v - mean) * scale * gamma[c] + (beta ? beta[c] : 0); });
}

static int threads_for(int cols)
{
    return cols <= 256 ? 32 : cols <= 4096 ? 128 : cols <= 8192 ? 256 : 1024;
}

cudaError_t softmax_rows(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    if (!rows || !cols) return cudaSuccess;
    softmax<<<rows, threads_for(cols), 0, stream>>>(y, x, cols);
    return cudaGetLastError();
}

cudaError_t layernorm_rows(float *y, const float *x, const float *gamma, const float *beta,
                           int rows, int cols, float eps, cudaStream_t stream)
{
    if (!rows || !cols) return cudaSuccess;
    norm<<<rows, threads_for(cols), 0, stream>>>(y, x, gamma, beta, cols, eps);
    return cudaGetLastError();
}

cudaError_t rmsnorm_rows(float *y, const float *x, const float *gamma, int rows, int cols,
                         float eps, cudaStream_t stream)
{
    if (!rows || !cols) return cudaSuccess;
    norm<<<rows, threads_for(cols), 0, stream>>>(y, x, gamma, NULL, cols, eps);
    return cudaGetLastError();
}
