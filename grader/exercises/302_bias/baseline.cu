/*
 * The frozen baselines of 302.
 *
 * baseline_bias_backward has one thread a column. Coalesced, since neighbours read neighbours, and
 * almost alone on the chip: there are only as many threads as columns.
 *
 * baseline_read reads as many bytes as column sums must, and no more is asked of it. Four loads of
 * 16 bytes are on the way in each thread. rows * cols is a multiple of 4.
 */
#include <cuda_runtime.h>

#define THREADS 256
#define BLOCKS  2048
#define UNROLL  4

__global__ static void thread_per_column_kernel(float *grad_bias, const float *grad_y, int rows,
                                                int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0.0f;
    for (size_t row = 0; row < rows; row++) sum += grad_y[row * cols + col];
    grad_bias[col] = sum;
}

extern "C" cudaError_t baseline_bias_backward(float *grad_bias, const float *grad_y, int rows,
                                              int cols, cudaStream_t stream)
{
    thread_per_column_kernel<<<(cols + 255) / 256, 256, 0, stream>>>(grad_bias, grad_y, rows, cols);
    return cudaGetLastError();
}

__global__ static void read_kernel(float *out, const float4 *in, size_t n4)
{
    float sum = 0.0f;
    size_t stride = (size_t)gridDim.x * THREADS;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n4; i += UNROLL * stride) {
        float4 v[UNROLL];
        for (int u = 0; u < UNROLL; u++) {
            v[u] = i + u * stride < n4 ? in[i + u * stride] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        for (int u = 0; u < UNROLL; u++) sum += (v[u].x + v[u].y) + (v[u].z + v[u].w);
    }
    if (sum == -1.0f) *out = sum; /* never, but the compiler does not know */
}

extern "C" cudaError_t baseline_read(float *grad_bias, const float *grad_y, int rows, int cols,
                                     cudaStream_t stream)
{
    read_kernel<<<BLOCKS, THREADS, 0, stream>>>(grad_bias, (const float4 *)grad_y,
                                                (size_t)rows * cols / 4);
    return cudaGetLastError();
}
