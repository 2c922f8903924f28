// race: with .read it waits only until
// FLAGS: -arch=sm_90a
/* With .read the wait says that the tile may be filled again, not that the old result is gone. */
#include "../tensor/hopper.h"

__global__ void turn(float *out)
{
    __shared__ __align__(128) float tile[64];
    tile[threadIdx.x] = 1;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out, tile, sizeof tile);
        bulk_commit();
        bulk_wait_read();
        out[64] = 2 * out[63]; // HERE
    }
}

int main()
{
    turn<<<1, 64>>>((float *)zeros(65 * sizeof(float)));
    return cudaDeviceSynchronize();
}
