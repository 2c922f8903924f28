// SLOW: bytes moved, times fewer than linear_forward | counted 3.89
// No tiles, a warp per output and shuffles, strides in a struct, bias in the product.
#include "layers.h"

/** A matrix in memory: element (i, j) is data[i * row + j * col]. Its transpose swaps the two. */
typedef struct view {
    const float *data;
    size_t row, col;
} view;

/* c = a * b (+ bias along the rows), a warp per element of c; warps walk over c in one long line.
 */
__global__ static void dot_kernel(float *c, view a, view b, const float *bias, int m, int n, int k)
{
    size_t warps = (size_t)gridDim.x * (blockDim.x / 32);
    size_t first = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    for (size_t e = first; e < (size_t)m * n; e += warps) {
        size_t i = e / n, j = e % n;
        float sum = 0.0f;
        for (int p = lane; p < k; p += 32)
            sum = fmaf(a.data[i * a.row + p * a.col], b.data[p * b.row + j * b.col], sum);
        for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
        if (lane == 0) c[e] = bias ? sum + bias[j] : sum;
    }
}

static void multiply(float *c, view a, view b, const float *bias, int m, int n, int k,
                     cudaStream_t stream)
{
    size_t blocks = ((size_t)m * n + 7) / 8;
    if (blocks == 0) return;
    if (blocks > 4096) blocks = 4096;
    dot_kernel<<<(unsigned)blocks, 256, 0, stream>>>(c, a, b, bias, m, n, k);
}

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream)
{
    size_t in = in_features;
    view a = {x, in, 1}, w_transposed = {w, 1, in};
    multiply(y, a, w_transposed, bias, batch, out_features, in_features, stream);
    return cudaGetLastError();
}

__global__ static void column_sum_kernel(float *sums, const float *a, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) sum += a[(size_t)row * cols + col];
    sums[col] = sum;
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream)
{
    size_t in = in_features, out = out_features;
    view g = {grad_y, out, 1}, g_transposed = {grad_y, 1, out}, vx = {x, in, 1}, vw = {w, in, 1};
    if (grad_x) multiply(grad_x, g, vw, NULL, batch, in_features, out_features, stream);
    if (grad_w) multiply(grad_w, g_transposed, vx, NULL, out_features, in_features, batch, stream);
    if (grad_bias && out_features > 0)
        column_sum_kernel<<<(out_features + 127) / 128, 128, 0, stream>>>(grad_bias, grad_y, batch,
                                                                          out_features);
    return cudaGetLastError();
}
