// deadlock
/* The last block has nothing to do and returns; the others wait for it. */
#include <cooperative_groups.h>
#include <device_arrays.h>

namespace cg = cooperative_groups;

__global__ void steps(int *x, int blocks)
{
    if (blockIdx.x >= blocks) return;
    x[blockIdx.x * blockDim.x + threadIdx.x]++;
    cg::this_grid().sync(); // HERE
    x[blockIdx.x * blockDim.x + threadIdx.x]++;
}

int main()
{
    int *x = filled<int>(256, 0);
    int blocks = 3;
    void *arguments[] = {&x, &blocks};
    cudaLaunchCooperativeKernel((void *)steps, 4, 64, arguments, 0, 0);
    return cudaDeviceSynchronize();
}
