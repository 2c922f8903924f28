// failed assert
// FLAGS: -arch=sm_90a
/* With .read the wait says that the tile may be filled again, not that the old result has been replaced, or that it
 * has not. */
#include "../tensor/hopper.h"
#include <assert.h>

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
        assert(out[63] == 0); // HERE
    }
}

int main()
{
    turn<<<1, 64>>>((float *)zeros(64 * sizeof(float)));
    return cudaDeviceSynchronize();
}
