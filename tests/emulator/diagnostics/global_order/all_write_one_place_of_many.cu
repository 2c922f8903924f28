// nothing
/* Many threads mark many places, some of them twice, with the same mark. */
#include <device_arrays.h>

__global__ void mark(int *marks, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    marks[i * 7 % n] = 1;
    marks[i * 5 % n] = 1;
}

int main()
{
    int *marks = filled<int>(512, 0);
    mark<<<32, 256>>>(marks, 512);
    return cudaDeviceSynchronize();
}
