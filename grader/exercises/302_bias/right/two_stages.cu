// RIGHT: forward by modulo; backward in two stages over chunks of rows, through memory of the
// stream
#include "302_bias/bias.h"

#define CHUNK 256 /* rows that one thread sums */

__global__ static void forward_kernel(float *y, const float *x, const float *bias, size_t size,
                                      int cols)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) {
        y[i] = x[i] + bias[i % cols];
    }
}

/* out[chunk][col] = the sum of CHUNK rows of in, or of what is left. */
__global__ static void chunk_kernel(float *out, const float *in, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    size_t first = (size_t)blockIdx.y * CHUNK;
    size_t end = first + CHUNK < rows ? first + CHUNK : rows;
    float sum = 0.0f;
    for (size_t row = first; row < end; row++) sum += in[row * cols + col];
    out[(size_t)blockIdx.y * cols + col] = sum;
}

static void sum_chunks(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    int chunks = rows == 0 ? 1 : (rows + CHUNK - 1) / CHUNK;
    dim3 grid((cols + 63) / 64, chunks);
    chunk_kernel<<<grid, 64, 0, stream>>>(out, in, rows, cols);
}

cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream)
{
    size_t size = (size_t)rows * cols;
    if (size > 0) forward_kernel<<<512, 256, 0, stream>>>(y, x, bias, size, cols);
    return cudaGetLastError();
}

cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream)
{
    if (cols == 0) return cudaSuccess;
    if (rows <= CHUNK) {
        sum_chunks(grad_bias, grad_y, rows, cols, stream);
        return cudaGetLastError();
    }
    int chunks = (rows + CHUNK - 1) / CHUNK;
    float *partial;
    cudaError_t error =
        cudaMallocAsync((void **)&partial, (size_t)chunks * cols * sizeof(float), stream);
    if (error != cudaSuccess) return error;
    sum_chunks(partial, grad_y, rows, cols, stream);
    error = cudaGetLastError();
    cudaError_t deeper = bias_backward(grad_bias, partial, chunks, cols, stream);
    cudaFreeAsync(partial, stream);
    return error != cudaSuccess ? error : deeper;
}
