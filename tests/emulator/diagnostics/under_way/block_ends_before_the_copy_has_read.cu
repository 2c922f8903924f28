// race: when the block ends
// FLAGS: -arch=sm_90a
/* Nobody waits until the copy has read the tile, and the block ends. */
#include "../tensor/hopper.h"

__global__ void give(float *out)
{
    __shared__ __align__(128) float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out, tile, sizeof tile); // HERE
        bulk_commit();
    }
}

int main()
{
    give<<<1, 64>>>((float *)zeros(64 * sizeof(float)));
    return cudaDeviceSynchronize();
}
