/*
 * The frozen baselines of 312.
 *
 * baseline_embedding_backward has an atomic per element: right, and a queue at every token that is
 * frequent. It leaves grad_positions as it is.
 *
 * baseline_dropout asks Philox for four words per element and takes one of them.
 *
 * baseline_copy moves as many bytes as dropout must, and does nothing to them.
 */
#include <cuda_runtime.h>

__global__ static void scatter_kernel(float *grad_table, const float *grad_y, const int *tokens,
                                      size_t rows, int dim)
{
    size_t stride = (size_t)gridDim.x * blockDim.y;
    for (size_t row = (size_t)blockIdx.x * blockDim.y + threadIdx.y; row < rows; row += stride) {
        for (int col = threadIdx.x; col < dim; col += 32) {
            atomicAdd(&grad_table[(size_t)tokens[row] * dim + col], grad_y[row * dim + col]);
        }
    }
}

extern "C" cudaError_t baseline_embedding_backward(float *grad_table, float *grad_positions,
                                                   const float *grad_y, const int *tokens,
                                                   int batch, int seq, int dim, int vocab,
                                                   cudaStream_t stream)
{
    (void)grad_positions, (void)vocab;
    size_t rows = (size_t)batch * seq, blocks = (rows + 7) / 8;
    unsigned grid = blocks < 8192 ? (unsigned)blocks : 8192;
    if (grid > 0) {
        scatter_kernel<<<grid, dim3(32, 8), 0, stream>>>(grad_table, grad_y, tokens, rows, dim);
    }
    return cudaGetLastError();
}

__device__ static unsigned philox_word(size_t counter, unsigned which, unsigned key0, unsigned key1)
{
    uint4 c = {(unsigned)counter, (unsigned)(counter >> 32), 0, 0};
    for (int round = 0; round < 10; round++, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
        unsigned high0 = __umulhi(0xD2511F53u, c.x), high2 = __umulhi(0xCD9E8D57u, c.z);
        c = make_uint4(high2 ^ c.y ^ key0, 0xCD9E8D57u * c.z, high0 ^ c.w ^ key1,
                       0xD2511F53u * c.x);
    }
    return which == 0 ? c.x : which == 1 ? c.y : which == 2 ? c.z : c.w;
}

__global__ static void dropout_kernel(float *y, const float *x, size_t n, float p,
                                      unsigned long long seed)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned word = philox_word(i / 4, i % 4, (unsigned)seed, (unsigned)(seed >> 32));
    y[i] = word * 0x1p-32 >= p ? x[i] / (1.0f - p) : 0.0f;
}

extern "C" cudaError_t baseline_dropout(float *y, const float *x, size_t n, float p,
                                        unsigned long long seed, cudaStream_t stream)
{
    dropout_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(y, x, n, p, seed);
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_copy(float *y, const float *x, size_t n, float p,
                                     unsigned long long seed, cudaStream_t stream)
{
    (void)p, (void)seed;
    return cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
