// missing __syncwarp: overwrites what thread
// FLAGS: -arch=sm_90a
/* The second tile is fetched into the first one's place by a thread that has read its element: the others may not. */
#include "hopper.h"

__global__ void sum(float *out, const float *in)
{
    __shared__ __align__(128) float tile[64];
    __shared__ uint64_t full[2];
    float x = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) barrier_init(&full[i], 1);
        barrier_fence();
    }
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x == 0) {
            barrier_expect(&full[i], sizeof tile);
            bulk_load(tile, in + 64 * i, sizeof tile, &full[i]); // HERE
        }
        barrier_wait(&full[i], 0);
        x += tile[threadIdx.x];
    }
    out[threadIdx.x] = x;
}

int main()
{
    sum<<<1, 64>>>((float *)zeros(256), (const float *)zeros(512));
    return cudaDeviceSynchronize();
}
