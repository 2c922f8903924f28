// race: with .read it waits only until
// FLAGS: -arch=sm_90a
/* With .read the wait says that the tile may be filled again, not that the result is there. */
#include "../tensor/hopper.h"

__global__ void turn(float *out, const float *in)
{
    __shared__ __align__(128) float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out, tile, sizeof tile);
        bulk_commit();
        bulk_wait_read();
    }
    __syncthreads();
    out[64 + threadIdx.x] = out[63 - threadIdx.x]; // HERE
}

int main()
{
    float *out;
    cudaMalloc(&out, 128 * sizeof *out);
    turn<<<1, 64>>>(out, (const float *)zeros(64 * sizeof(float)));
    return cudaDeviceSynchronize();
}
