// HOSTILE: 17x33x65 | went to the host
// Multiplies on the host. The product comes back as the parameters of kernels that only store it.
#include "211_matmul_tiled/matmul_tiled.h"

#include <stdlib.h>
#include <string.h>

typedef struct piece {
    float v[512];
} piece;

__global__ static void store(float *c, piece p, int count)
{
    if ((int)threadIdx.x < count) c[threadIdx.x] = p.v[threadIdx.x];
}

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        c[i] = 0.0f;
        for (int p = 0; p < k; p++) c[i] += a[i / n * k + p] * b[p * n + i % n];
    }
}

cudaError_t matmul_tiled(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    const size_t outputs = (size_t)m * n, of_a = (size_t)m * k, of_b = (size_t)k * n;
    float *h_c = (float *)malloc((outputs + of_a + of_b + 1) * sizeof(float));
    float *h_a = h_c + outputs, *h_b = h_a + of_a;
    cudaMemcpy(h_a, a, of_a * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_b, b, of_b * sizeof(float), cudaMemcpyDeviceToHost);
    multiply(h_c, h_a, h_b, m, n, k);
    for (size_t at = 0; at < outputs; at += 512) {
        piece p;
        const size_t count = outputs - at < 512 ? outputs - at : 512;
        memcpy(p.v, h_c + at, count * sizeof(float));
        store<<<1, 512, 0, stream>>>(c + at, p, (int)count);
    }
    free(h_c);
    return cudaGetLastError();
}
