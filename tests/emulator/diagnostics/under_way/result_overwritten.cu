// race: others write where this bulk copy writes
// FLAGS: -arch=sm_90a
/* The last element gets another value while the copy that brings all of them may still write. */
#include "../tensor/hopper.h"

__global__ void mark(float *out)
{
    __shared__ __align__(128) float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out, tile, sizeof tile); // HERE
        bulk_commit();
        bulk_wait_read();
        out[63] = -1;
    }
}

int main()
{
    mark<<<1, 64>>>((float *)zeros(64 * sizeof(float)));
    return cudaDeviceSynchronize();
}
