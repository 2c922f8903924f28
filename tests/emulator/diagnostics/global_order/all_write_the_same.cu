// nothing
/* Whoever finds something writes the same number. */
#include <cuda_runtime.h>

__global__ void find(int *found, const int *x, int wanted)
{
    if (x[blockIdx.x * blockDim.x + threadIdx.x] == wanted) *found = 1;
}

int main()
{
    int *x, *found;
    cudaMalloc(&x, 8192 * sizeof *x);
    cudaMalloc(&found, 1 * sizeof *found);
    cudaMemset(x, 0, 8192 * sizeof *x);
    cudaMemset(found, 0, 1 * sizeof *found);
    find<<<32, 256>>>(found, x, 0);
    return cudaDeviceSynchronize();
}
