// RIGHT: rows by tiles of 16 threads of cooperative groups, which stride over the rows; columns in
// one stage, 32 x 32 threads
#include "311_layernorm/layernorm.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define LANES 16

typedef cg::thread_block_tile<LANES> tile;

__device__ static float total(tile t, float value)
{
    for (int i = LANES / 2; i > 0; i >>= 1) value += t.shfl_xor(value, i);
    return value;
}

__global__ static void rows_forward(float *y, float *mean, float *rstd, const float *x,
                                    const float *gamma, const float *beta, long rows, int cols,
                                    float eps)
{
    tile t = cg::tiled_partition<LANES>(cg::this_thread_block());
    const int at_once = blockDim.x / LANES;
    for (long row = (long)blockIdx.x * at_once + threadIdx.x / LANES; row < rows;
         row += (long)gridDim.x * at_once) {
        const float *from = x + row * cols, *end = from + cols;
        float shift = from[0], sum = 0.0f, squares = 0.0f; /* the first element is not far off */
        for (const float *p = from + t.thread_rank(); p < end; p += LANES) sum += *p - shift;
        const float m = shift + total(t, sum) / cols;
        for (const float *p = from + t.thread_rank(); p < end; p += LANES) {
            const float d = *p - m;
            squares = fmaf(d, d, squares);
        }
        const float s = rsqrtf(total(t, squares) / cols + eps);
        for (int c = t.thread_rank(); c < cols; c += LANES)
            y[row * cols + c] = fmaf((from[c] - m) * s, gamma[c], beta[c]);
        if (t.thread_rank() == 0) {
            mean[row] = m;
            rstd[row] = s;
        }
    }
}

__global__ static void rows_backward(float *grad_x, const float *grad_y, const float *x,
                                     const float *gamma, const float *mean, const float *rstd,
                                     long rows, int cols)
{
    tile t = cg::tiled_partition<LANES>(cg::this_thread_block());
    const int at_once = blockDim.x / LANES;
    for (long row = (long)blockIdx.x * at_once + threadIdx.x / LANES; row < rows;
         row += (long)gridDim.x * at_once) {
        const long base = row * cols;
        float a = 0.0f, b = 0.0f;
        for (int c = t.thread_rank(); c < cols; c += LANES) {
            const float up = gamma[c] * grad_y[base + c];
            a += up;
            b += up * (x[base + c] - mean[row]);
        }
        a = total(t, a) / cols;
        b = total(t, b) / cols * rstd[row] * rstd[row];
        for (int c = t.thread_rank(); c < cols; c += LANES) {
            const float up = gamma[c] * grad_y[base + c];
            grad_x[base + c] = (up - a - (x[base + c] - mean[row]) * b) * rstd[row];
        }
    }
}

__global__ static void columns_backward(float *grad_gamma, float *grad_beta, const float *grad_y,
                                        const float *x, const float *mean, const float *rstd,
                                        long rows, int cols)
{
    __shared__ float g[32][33], b[32][33];
    const int c = blockIdx.x * 32 + threadIdx.x;
    float to_gamma = 0.0f, to_beta = 0.0f;
    if (c < cols) {
        for (long row = threadIdx.y; row < rows; row += 32) {
            const float up = grad_y[row * cols + c];
            to_beta += up;
            to_gamma += up * ((x[row * cols + c] - mean[row]) * rstd[row]);
        }
    }
    g[threadIdx.x][threadIdx.y] = to_gamma;
    b[threadIdx.x][threadIdx.y] = to_beta;
    __syncthreads();
    /* Turned: a warp has the 32 parts of one column. */
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    to_gamma = g[threadIdx.y][threadIdx.x];
    to_beta = b[threadIdx.y][threadIdx.x];
    for (int i = 16; i > 0; i >>= 1) {
        to_gamma += warp.shfl_down(to_gamma, i);
        to_beta += warp.shfl_down(to_beta, i);
    }
    const int column = blockIdx.x * 32 + threadIdx.y;
    if (threadIdx.x == 0 && column < cols) {
        grad_gamma[column] = to_gamma;
        grad_beta[column] = to_beta;
    }
}

static int grid_of(int rows)
{
    return rows < 8 * 4096 ? (rows + 7) / 8 : 4096;
}

cudaError_t layernorm_forward(float *y, float *mean, float *rstd, const float *x,
                              const float *gamma, const float *beta, int rows, int cols, float eps,
                              cudaStream_t stream)
{
    if (rows > 0 && cols > 0)
        rows_forward<<<grid_of(rows), 8 * LANES, 0, stream>>>(y, mean, rstd, x, gamma, beta, rows,
                                                              cols, eps);
    return cudaGetLastError();
}

cudaError_t layernorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *gamma,
                               const float *mean, const float *rstd, int rows, int cols,
                               cudaStream_t stream)
{
    if (cols > 0)
        columns_backward<<<(cols + 31) / 32, dim3(32, 32), 0, stream>>>(
            grad_gamma, grad_beta, grad_y, x, mean, rstd, rows, cols);
    if (rows > 0 && cols > 0)
        rows_backward<<<grid_of(rows), 8 * LANES, 0, stream>>>(grad_x, grad_y, x, gamma, mean, rstd,
                                                               rows, cols);
    return cudaGetLastError();
}
