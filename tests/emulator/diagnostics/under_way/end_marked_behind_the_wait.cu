// nothing
// FLAGS: -arch=sm_90a
/* The last element gets another value when the copy of all of them is there. */
#include "../tensor/hopper.h"

__global__ void mark(float *out)
{
    __shared__ __align__(128) float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out, tile, sizeof tile);
        bulk_commit();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        out[63] = -1;
    }
}

int main()
{
    mark<<<1, 64>>>((float *)zeros(64 * sizeof(float)));
    return cudaDeviceSynchronize();
}
