// out of bounds
/* The last block has 24 threads too many. */
#include <cuda_runtime.h>

__global__ void add(float *c, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i]; // HERE
}

int main()
{
    float *a, *b, *c;
    cudaMalloc(&a, 1000 * sizeof *a);
    cudaMalloc(&b, 1000 * sizeof *b);
    cudaMalloc(&c, 1000 * sizeof *c);
    cudaMemset(a, 0, 1000 * sizeof *a);
    cudaMemset(b, 0, 1000 * sizeof *b);
    add<<<4, 256>>>(c, a, b);
    return cudaDeviceSynchronize();
}
