/*
 * Frozen: softmax with a thread per row. Right, and uncoalesced: the lanes of a warp read 32
 * different rows, and there are only as many threads as rows.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>

__global__ static void softmax_row_per_thread_kernel(float *y, const float *x, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += (size_t)row * cols;
    y += (size_t)row * cols;

    float max = -INFINITY;
    for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
    float sum = 0.0f;
    for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
    for (int c = 0; c < cols; c++) y[c] = max == -INFINITY ? 0.0f : expf(x[c] - max) / sum;
}

extern "C" cudaError_t baseline_softmax_forward(float *y, const float *x, int rows, int cols,
                                                cudaStream_t stream)
{
    softmax_row_per_thread_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(y, x, rows, cols);
    return cudaGetLastError();
}
