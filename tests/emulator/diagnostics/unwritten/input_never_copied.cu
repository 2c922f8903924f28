// uninitialised read
/* The second input was allocated and forgotten. */
#include <cuda_runtime.h>

__global__ void add(float *c, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i]; // HERE
}

int main()
{
    float *a, *b, *c;
    cudaMalloc(&a, 512 * sizeof *a);
    cudaMalloc(&b, 512 * sizeof *b);
    cudaMalloc(&c, 512 * sizeof *c);
    cudaMemset(a, 0, 512 * sizeof *a);
    add<<<2, 256>>>(c, a, b);
    return cudaDeviceSynchronize();
}
