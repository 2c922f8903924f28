// race
/* Each thread writes the place that another one has not read yet. */
#include <cuda_runtime.h>

__global__ void transpose(int *a, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    a[x * n + y] = a[y * n + x] + 1; // HERE
}

int main()
{
    int *a;
    cudaMalloc(&a, 4096 * sizeof *a);
    cudaMemset(a, 0, 4096 * sizeof *a);
    transpose<<<dim3(4, 4), dim3(16, 16)>>>(a, 64);
    return cudaDeviceSynchronize();
}
