// uninitialised read
/* C += A * B, and nobody has set C. */
#include <cuda_runtime.h>

__global__ void matmul(float *c, const float *a, const float *b, int n)
{
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] += sum; // HERE
}

int main()
{
    float *a, *b, *c;
    cudaMalloc(&a, 256 * sizeof *a);
    cudaMalloc(&b, 256 * sizeof *b);
    cudaMalloc(&c, 256 * sizeof *c);
    cudaMemset(a, 0, 256 * sizeof *a);
    cudaMemset(b, 0, 256 * sizeof *b);
    matmul<<<1, dim3(16, 16)>>>(c, a, b, 16);
    return cudaDeviceSynchronize();
}
