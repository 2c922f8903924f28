// RIGHT: tiles of 32 x 32 by 1024 threads, matrices as strides of either order,
// and the bias where the sum begins
#include "212_matmul_transposed/matmul_transposed.h"
#include "302_bias/bias.h"
#include "303_linear/linear.h"

typedef struct matrix {
    const float *data;
    int rows, cols;
    size_t down, right; /* what one step down, one step to the right adds */
} matrix;

__device__ static float at(matrix m, int row, int col)
{
    bool inside = row < m.rows && col < m.cols;
    return inside ? m.data[row * m.down + col * m.right] : 0.0f;
}

/* Threads that differ in x follow the stored rows, whichever way the matrix is read. */
__device__ static void load(float tile[32][33], matrix m, int row, int col)
{
    const int x = threadIdx.x, y = threadIdx.y;
    if (m.right == 1) {
        tile[y][x] = at(m, row + y, col + x);
    } else {
        tile[x][y] = at(m, row + x, col + y);
    }
}

__global__ static void product_kernel(float *c, matrix a, matrix b, const float *bias)
{
    __shared__ float left[32][33], right[32][33];
    const int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = bias && col < b.cols ? bias[col] : 0.0f;
    for (int k = 0; k < a.cols; k += 32) {
        load(left, a, blockIdx.y * 32, k);
        load(right, b, k, blockIdx.x * 32);
        __syncthreads();
        for (int i = 0; i < 32; i++) sum = fmaf(left[threadIdx.y][i], right[i][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < a.rows && col < b.cols) c[(size_t)row * b.cols + col] = sum;
}

static void multiply(float *c, matrix a, matrix b, const float *bias, cudaStream_t stream)
{
    dim3 grid((b.cols + 31) / 32, (a.rows + 31) / 32), block(32, 32);
    if (a.rows > 0 && b.cols > 0) product_kernel<<<grid, block, 0, stream>>>(c, a, b, bias);
}

static matrix stored(const float *data, int rows, int cols)
{
    matrix m = {data, rows, cols, (size_t)cols, 1};
    return m;
}

static matrix transposed(matrix m)
{
    matrix t = {m.data, m.cols, m.rows, m.right, m.down};
    return t;
}

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream)
{
    matrix weights = stored(w, out_features, in_features);
    multiply(y, stored(x, batch, in_features), transposed(weights), bias, stream);
    return cudaGetLastError();
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream)
{
    matrix g = stored(grad_y, batch, out_features), weights = stored(w, out_features, in_features);
    if (grad_x) multiply(grad_x, g, weights, NULL, stream);
    if (grad_w) multiply(grad_w, transposed(g), stored(x, batch, in_features), NULL, stream);
    cudaError_t error = cudaGetLastError();
    if (error || !grad_bias) return error;
    return bias_backward(grad_bias, grad_y, batch, out_features, stream);
}
