// misuse: waits for 0 more arrivals
// FLAGS: -arch=sm_90a
/* Two tiles for one mbarrier, and each copy arrives; it was initialised for one arrival. */
#include "../tensor/hopper.h"

__global__ void sum(bf16 *c, const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) bf16 a[2][M * K];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        for (int i = 0; i < 2; i++) {
            barrier_expect(&full, sizeof a[i]); // HERE
            tma_load(a[i], &map, &full, i * K, 0);
        }
    }
    __syncthreads();
    barrier_wait(&full, 0);
    c[threadIdx.x] = a[0][threadIdx.x] + a[1][threadIdx.x];
}

int main()
{
    sum<<<1, 128>>>((bf16 *)zeros(256), describe(zeros(M * K * 4), M, 2 * K, M));
    return cudaDeviceSynchronize();
}
