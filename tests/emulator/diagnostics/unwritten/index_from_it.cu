// uninitialised read
/* The permutation was never made. */
#include <cuda_runtime.h>

__global__ void permute(float *to, const float *from, const int *order)
{
    to[order[threadIdx.x]] = from[threadIdx.x]; // HERE
}

int main()
{
    float *a, *b;
    int *order;
    cudaMalloc(&a, 64 * sizeof *a);
    cudaMalloc(&b, 64 * sizeof *b);
    cudaMalloc(&order, 64 * sizeof *order);
    cudaMemset(a, 0, 64 * sizeof *a);
    permute<<<1, 64>>>(b, a, order);
    return cudaDeviceSynchronize();
}
