// failed assert
// FLAGS: -arch=sm_90a
/* A queue's entry is marked as taken before the bytes of the entry have come. */
#include "../tensor/hopper.h"
#include <assert.h>

__global__ void take(int *queue)
{
    __shared__ __align__(128) int entry[32];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, sizeof entry);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         at(entry)),
                     "l"(queue), "r"((int)sizeof entry), "r"(at(&full))
                     : "memory");
        queue[0] = -1;
    }
    __syncthreads();
    barrier_wait(&full, 0);
    if (threadIdx.x == 0) assert(entry[0] == 0); // HERE
}

int main()
{
    take<<<1, 64>>>((int *)zeros(32 * sizeof(int)));
    return cudaDeviceSynchronize();
}
