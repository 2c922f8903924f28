// nothing
// FLAGS: -arch=sm_90a
/* All threads have waited and met before the place of an mbarrier is used for another one. */
#include "../tensor/hopper.h"

__global__ void copy(bf16 *c, const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) bf16 a[M * K];
    __shared__ uint64_t full;
    for (int i = 0; i < 3; i++) {
        if (threadIdx.x == 0) {
            barrier_init(&full, 1 + 128 * (i % 2));
            barrier_fence();
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            barrier_expect(&full, sizeof a);
            tma_load(a, &map, &full, i * K, 0);
        }
        if (i % 2) barrier_arrive(&full);
        barrier_wait(&full, 0);
        c[128 * i + threadIdx.x] = a[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0)
            asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&full)) : "memory");
    }
}

int main()
{
    copy<<<1, 128>>>((bf16 *)zeros(3 * 256), describe(zeros(M * K * 6), M, 3 * K, M));
    return cudaDeviceSynchronize();
}
