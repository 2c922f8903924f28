// RIGHT: a block per row and Welford's mean and variance in one walk; column sums through memory of
// the stream
#include "311_layernorm/layernorm.h"

#define BLOCK 128
#define CHUNK 64 /* rows whose columns one thread sums */

typedef struct moments {
    float n, mean, m2; /* m2: sum of the squared distances to the mean */
} moments;

__device__ static moments merged(moments a, moments b)
{
    float n = a.n + b.n, delta = b.mean - a.mean;
    if (n == 0.0f) return a;
    a.mean += delta * (b.n / n);
    a.m2 += b.m2 + delta * delta * (a.n * b.n / n);
    a.n = n;
    return a;
}

__global__ static void forward_kernel(float *y, float *mean, float *rstd, const float *x,
                                      const float *gamma, const float *beta, int cols, float eps)
{
    __shared__ moments of[BLOCK];
    const float *in = x + (size_t)blockIdx.x * cols;
    float *out = y + (size_t)blockIdx.x * cols;
    moments mine = {0.0f, 0.0f, 0.0f};
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        float delta = in[c] - mine.mean;
        mine.n += 1.0f;
        mine.mean += delta / mine.n;
        mine.m2 += delta * (in[c] - mine.mean);
    }
    of[threadIdx.x] = mine;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) of[threadIdx.x] = merged(of[threadIdx.x], of[threadIdx.x + half]);
    }
    __syncthreads();
    float m = of[0].mean, r = rsqrtf(of[0].m2 / cols + eps);
    for (int c = threadIdx.x; c < cols; c += BLOCK) out[c] = (in[c] - m) * r * gamma[c] + beta[c];
    if (threadIdx.x == 0) mean[blockIdx.x] = m, rstd[blockIdx.x] = r;
}

__global__ static void grad_x_kernel(float *grad_x, const float *grad_y, const float *x,
                                     const float *gamma, const float *mean, const float *rstd,
                                     int cols)
{
    __shared__ float2 of[BLOCK]; /* sum of g, of g xhat */
    size_t start = (size_t)blockIdx.x * cols;
    float m = mean[blockIdx.x], r = rstd[blockIdx.x];
    float2 sum = make_float2(0.0f, 0.0f);
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        float g = grad_y[start + c] * gamma[c];
        sum.x += g;
        sum.y += g * (x[start + c] - m) * r;
    }
    of[threadIdx.x] = sum;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            of[threadIdx.x].x += of[threadIdx.x + half].x;
            of[threadIdx.x].y += of[threadIdx.x + half].y;
        }
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        float xhat = (x[start + c] - m) * r;
        grad_x[start + c] =
            (grad_y[start + c] * gamma[c] - of[0].x / cols - xhat * of[0].y / cols) * r;
    }
}

/* Row i of `sums` [chunks x 2 cols]: the sums of CHUNK rows for gamma, then those for beta. */
__global__ static void chunk_kernel(float *sums, const float *grad_y, const float *x,
                                    const float *mean, const float *rstd, int rows, int cols)
{
    int c = blockIdx.y * BLOCK + threadIdx.x;
    if (c >= cols) return;
    float gamma = 0.0f, beta = 0.0f;
    for (int i = 0; i < CHUNK; i++) {
        int row = blockIdx.x * CHUNK + i;
        if (row >= rows) break;
        float g = grad_y[(size_t)row * cols + c];
        beta += g;
        gamma += g * (x[(size_t)row * cols + c] - mean[row]) * rstd[row];
    }
    sums[(size_t)blockIdx.x * 2 * cols + c] = gamma;
    sums[(size_t)blockIdx.x * 2 * cols + cols + c] = beta;
}

__global__ static void chunks_kernel(float *grad_gamma, float *grad_beta, const float *sums,
                                     int chunks, int cols)
{
    int c = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < chunks && c < 2 * cols; i++) sum += sums[(size_t)i * 2 * cols + c];
    if (c < cols)
        grad_gamma[c] = sum;
    else if (c < 2 * cols)
        grad_beta[c - cols] = sum;
}

cudaError_t layernorm_forward(float *y, float *mean, float *rstd, const float *x,
                              const float *gamma, const float *beta, int rows, int cols, float eps,
                              cudaStream_t stream)
{
    if ((size_t)rows * cols == 0) return cudaSuccess;
    forward_kernel<<<rows, BLOCK, 0, stream>>>(y, mean, rstd, x, gamma, beta, cols, eps);
    return cudaGetLastError();
}

cudaError_t layernorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *gamma,
                               const float *mean, const float *rstd, int rows, int cols,
                               cudaStream_t stream)
{
    if (cols == 0) return cudaSuccess;
    int chunks = (rows + CHUNK - 1) / CHUNK;
    float *sums = NULL;
    cudaError_t error =
        cudaMallocAsync((void **)&sums, (size_t)(chunks + 1) * 2 * cols * sizeof(float), stream);
    if (error != cudaSuccess) return error;
    if (rows > 0) {
        dim3 grid(chunks, (cols + BLOCK - 1) / BLOCK);
        chunk_kernel<<<grid, BLOCK, 0, stream>>>(sums, grad_y, x, mean, rstd, rows, cols);
        grad_x_kernel<<<rows, BLOCK, 0, stream>>>(grad_x, grad_y, x, gamma, mean, rstd, cols);
    }
    chunks_kernel<<<(2 * cols + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(grad_gamma, grad_beta, sums,
                                                                        chunks, cols);
    error = cudaGetLastError();
    cudaFreeAsync(sums, stream);
    return error;
}
