// race
/* Each thread writes the place that another one has not read yet. */
#include <device_arrays.h>

__global__ void transpose(int *a, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    a[x * n + y] = a[y * n + x] + 1; // HERE
}

int main()
{
    int *a = filled<int>(4096, 0);
    transpose<<<dim3(4, 4), dim3(16, 16)>>>(a, 64);
    return cudaDeviceSynchronize();
}
