// HOSTILE: 1x1x1 | went to the host
// Launches a kernel that does nothing, and multiplies on the host.
#include "206_matmul_naive/matmul_naive.h"

#include <stdlib.h>

__global__ static void pretend()
{
}

cudaError_t matmul_naive(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    const size_t rows = m, columns = n, inner = k;
    float *x = (float *)malloc((rows * inner + inner * columns + rows * columns + 1) * 4);
    float *y = x + rows * inner, *z = y + inner * columns;
    pretend<<<1, 1, 0, stream>>>();
    cudaMemcpy(x, a, rows * inner * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(y, b, inner * columns * 4, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            float sum = 0.0f;
            for (size_t p = 0; p < inner; p++) sum += x[i * inner + p] * y[p * columns + j];
            z[i * columns + j] = sum;
        }
    }
    cudaMemcpy(c, z, rows * columns * 4, cudaMemcpyHostToDevice);
    free(x);
    return cudaGetLastError();
}
