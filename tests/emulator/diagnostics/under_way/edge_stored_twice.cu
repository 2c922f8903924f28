// nothing
// FLAGS: -arch=sm_90a
/* The last two tiles overlap, so that both are whole; where they do, both hold the same. */
#include "../tensor/hopper.h"

__global__ void fill(float *out, int n)
{
    __shared__ __align__(128) float tile[64];
    const int first = min(64 * (int)blockIdx.x, n - 64);
    tile[threadIdx.x] = first + threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out + first, tile, sizeof tile);
        bulk_commit();
        bulk_wait_read();
    }
}

int main()
{
    fill<<<4, 64>>>((float *)zeros(240 * sizeof(float)), 240);
    return cudaDeviceSynchronize();
}
