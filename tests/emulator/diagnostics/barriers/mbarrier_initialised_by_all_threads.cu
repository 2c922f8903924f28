// misuse: let one thread initialise it
// FLAGS: -arch=sm_90a
/* Every thread initialises the mbarrier: before any of them uses it, and yet it is live already. */
#include "../tensor/hopper.h"

__global__ void copy(bf16 *c, const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) bf16 a[M * K];
    __shared__ uint64_t full;
    barrier_init(&full, 1); // HERE
    barrier_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_expect(&full, sizeof a);
        tma_load(a, &map, &full, 0, 0);
    }
    barrier_wait(&full, 0);
    c[threadIdx.x] = a[threadIdx.x];
}

int main()
{
    copy<<<1, 128>>>((bf16 *)zeros(256), describe(zeros(M * K * 2), M, K, M));
    return cudaDeviceSynchronize();
}
