// RIGHT: 32 x 32 tiles, four outputs per thread, tiles always stored the way they will be read
#include "212_matmul_transposed/matmul_transposed.h"
#include "302_bias/bias.h"
#include "303_linear/linear.h"

/* c = a * b; element (i, p) of a is a[i * ai + p * ap], element (p, j) of b is b[p * bp + j * bj].
 * 32 x 8 threads; thread (x, y) owns rows y, y + 8, y + 16, y + 24 of column x. */
__global__ static void product_kernel(float *c, const float *a, size_t ai, size_t ap,
                                      const float *b, size_t bp, size_t bj, int m, int n, int k)
{
    __shared__ float at[32][33], bt[32][33];
    int x = threadIdx.x, row = blockIdx.y * 32, col = blockIdx.x * 32;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < k; p += 32) {
        for (int y = threadIdx.y; y < 32; y += 8) {
            int r = ap == 1 ? y : x, s = ap == 1 ? x : y; /* s along the row in memory */
            at[r][s] = row + r < m && p + s < k ? a[(row + r) * ai + (p + s) * ap] : 0.0f;
            r = bj == 1 ? y : x, s = bj == 1 ? x : y;
            bt[r][s] = p + r < k && col + s < n ? b[(p + r) * bp + (col + s) * bj] : 0.0f;
        }
        __syncthreads();
        for (int q = 0; q < 32; q++) {
            float right = bt[q][x];
            for (int i = 0; i < 4; i++) sum[i] += at[threadIdx.y + 8 * i][q] * right;
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        int r = row + threadIdx.y + 8 * i;
        if (r < m && col + x < n) c[(size_t)r * n + col + x] = sum[i];
    }
}

static void product(float *c, const float *a, size_t ai, size_t ap, const float *b, size_t bp,
                    size_t bj, int m, int n, int k, cudaStream_t stream)
{
    if (m == 0 || n == 0) return;
    dim3 block(32, 8), grid((n + 31) / 32, (m + 31) / 32);
    product_kernel<<<grid, block, 0, stream>>>(c, a, ai, ap, b, bp, bj, m, n, k);
}

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in, int out, cudaStream_t stream)
{
    product(y, x, in, 1, w, 1, in, batch, out, in, stream);
    return bias ? bias_forward(y, y, bias, batch, out, stream) : cudaGetLastError();
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in, int out,
                            cudaStream_t stream)
{
    if (grad_x) product(grad_x, grad_y, out, 1, w, in, 1, batch, in, out, stream);
    if (grad_w) product(grad_w, grad_y, 1, out, x, in, 1, out, in, batch, stream);
    return grad_bias ? bias_backward(grad_bias, grad_y, batch, out, stream) : cudaGetLastError();
}
