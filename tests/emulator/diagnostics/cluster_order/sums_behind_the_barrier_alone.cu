// race: no thread has waited
// FLAGS: -arch=sm_90a
/* The sums are read behind a barrier of the cluster, without a wait for the mbarrier. */
#include "../tensor/hopper.h"

__device__ static inline uint32_t in_block(const void *p, unsigned rank)
{
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(p)), "r"(rank));
    return there;
}

__device__ static inline void add_async(uint32_t to, int x, uint32_t barrier)
{
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
                 ::"r"(to), "r"(x), "r"(barrier)
                 : "memory");
}

__global__ void __cluster_dims__(2) sums(int *out)
{
    __shared__ int sum[8];
    __shared__ uint64_t full;
    const int t = threadIdx.x, rank = blockIdx.x;
    if (t < 8) sum[t] = 0;
    if (t == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, 64 * 4);
    }
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    add_async(in_block(&sum[t % 8], rank ^ 1), t / 8, in_block(&full, rank ^ 1));
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    out[rank * 8 + t % 8] = sum[t % 8]; // HERE
    barrier_wait(&full, 0);
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

int main()
{
    sums<<<2, 64>>>((int *)zeros(64));
    return cudaDeviceSynchronize();
}
