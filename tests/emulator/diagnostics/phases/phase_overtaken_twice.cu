// deadlock: other threads went on and ended the phase before, too
// FLAGS: -arch=sm_90a
/* Of two warps that wait, the slow one does not take part in the arrivals: when it looks, two phases are over. */
#include "../tensor/hopper.h"

__global__ void rounds(int *c)
{
    __shared__ uint64_t done, slow;
    if (threadIdx.x == 0) {
        barrier_init(&done, 32);
        barrier_init(&slow, 32);
        barrier_fence();
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < 2; i++) {
            barrier_arrive(&done);
            barrier_wait(&done, i);
        }
        barrier_arrive(&slow);
    } else {
        barrier_wait(&slow, 0);
        barrier_wait(&done, 0); // HERE
    }
    c[threadIdx.x] = threadIdx.x;
}

int main()
{
    rounds<<<1, 64>>>((int *)zeros(256));
    return cudaDeviceSynchronize();
}
