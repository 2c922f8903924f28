// race
// FLAGS: -arch=sm_90a
/* The next tile is fetched into the one that other warps still read: nobody says that they are done. */
#include "hopper.h"

__global__ void sum(float *out, const float *in)
{
    __shared__ __align__(128) float tile[256];
    __shared__ uint64_t full;
    float x = 0;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_fence();
    }
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x == 0) {
            barrier_expect(&full, sizeof tile);
            bulk_load(tile, in + 256 * i, sizeof tile, &full); // HERE
        }
        barrier_wait(&full, i % 2);
        x += tile[threadIdx.x];
    }
    out[threadIdx.x] = x;
}

int main()
{
    sum<<<1, 256>>>((float *)zeros(1024), (const float *)zeros(4096));
    return cudaDeviceSynchronize();
}
