// nothing
/* Many threads mark many places, some of them twice, with the same mark. */
#include <cuda_runtime.h>

__global__ void mark(int *marks, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    marks[i * 7 % n] = 1;
    marks[i * 5 % n] = 1;
}

int main()
{
    int *marks;
    cudaMalloc(&marks, 512 * sizeof *marks);
    cudaMemset(marks, 0, 512 * sizeof *marks);
    mark<<<32, 256>>>(marks, 512);
    return cudaDeviceSynchronize();
}
