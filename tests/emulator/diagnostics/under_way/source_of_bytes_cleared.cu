// race: has to wait for the mbarrier
// FLAGS: -arch=sm_90a
/* A queue's entry is marked as taken before the bytes of the entry have come. */
#include "../tensor/hopper.h"

__global__ void take(int *queue)
{
    __shared__ __align__(128) int entry[32];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, sizeof entry);
        bulk_load(entry, queue, sizeof entry, &full); // HERE
        queue[0] = -1;
    }
    __syncthreads();
    barrier_wait(&full, 0);
    if (threadIdx.x < 32) queue[32 + threadIdx.x] = entry[threadIdx.x];
}

int main()
{
    take<<<1, 64>>>((int *)zeros(64 * sizeof(int)));
    return cudaDeviceSynchronize();
}
