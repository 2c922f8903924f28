// nothing
// FLAGS: -arch=sm_90a
/* The thread that stores waits for what the block needs: that its memory has been read. */
#include "../tensor/hopper.h"

__global__ void give(float *out)
{
    __shared__ __align__(128) float tile[2][64];
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncthreads();
        tile[i % 2][threadIdx.x] = i;
        fence_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            bulk_store(out + 64 * i, tile[i % 2], sizeof tile[0]);
            bulk_commit();
        }
    }
    if (threadIdx.x == 0) bulk_wait_read();
}

int main()
{
    give<<<1, 64>>>((float *)zeros(4 * 64 * sizeof(float)));
    return cudaDeviceSynchronize();
}
