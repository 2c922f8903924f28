// out of bounds
/* The first element has none on its left. */
#include <cuda_runtime.h>

__global__ void smooth(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 0.5f * (from[i - 1] + from[i]); // HERE
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, 500 * sizeof *a);
    cudaMalloc(&b, 500 * sizeof *b);
    cudaMemset(a, 0, 500 * sizeof *a);
    smooth<<<2, 256>>>(b, a, 500);
    return cudaDeviceSynchronize();
}
