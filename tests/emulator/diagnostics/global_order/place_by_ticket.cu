// nothing
/* Each thread writes the place that its ticket names. */
#include <cuda_runtime.h>

__global__ void compact(int *to, int *count, const int *x)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (v == 0) to[atomicAdd(count, 1)] = v + 1;
}

int main()
{
    int *x, *to, *count;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMalloc(&to, 2048 * sizeof *to);
    cudaMalloc(&count, 1 * sizeof *count);
    cudaMemset(x, 0, 2048 * sizeof *x);
    cudaMemset(count, 0, 1 * sizeof *count);
    compact<<<8, 256>>>(to, count, x);
    return cudaDeviceSynchronize();
}
