// race
/* Red-black in stripes: a cell's neighbour above has the same colour. */
#include <device_arrays.h>

__global__ void relax(int *a, int n)
{
    int x = blockIdx.x * 16 + threadIdx.x + 1, y = blockIdx.y * 16 + threadIdx.y + 1;
    if (x % 2 == 0) a[y * n + x] += a[(y - 1) * n + x] + a[y * n + x - 1]; // HERE
}

int main()
{
    int *a = filled<int>(4356, 1);
    relax<<<dim3(4, 4), dim3(16, 16)>>>(a, 66);
    return cudaDeviceSynchronize();
}
