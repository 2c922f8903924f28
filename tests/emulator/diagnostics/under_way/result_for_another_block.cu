// nothing
// FLAGS: -arch=sm_90a
/* Each block stores its half, waits until it is there, and after a barrier of the grid adds the other one's. */
#include "../tensor/hopper.h"
#include <cooperative_groups.h>

__global__ void exchange(float *sum, float *half)
{
    __shared__ __align__(128) float tile[64];
    tile[threadIdx.x] = blockIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(half + 64 * blockIdx.x, tile, sizeof tile);
        bulk_commit();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        fence_async();
    }
    cooperative_groups::this_grid().sync();
    sum[64 * blockIdx.x + threadIdx.x] = tile[threadIdx.x] + half[64 * (1 - blockIdx.x) + threadIdx.x];
}

int main()
{
    float *sum = (float *)zeros(128 * sizeof(float)), *half = (float *)zeros(128 * sizeof(float));
    void *arguments[] = {&sum, &half};
    cudaLaunchCooperativeKernel((void *)exchange, 2, 64, arguments, 0, 0);
    return cudaDeviceSynchronize();
}
