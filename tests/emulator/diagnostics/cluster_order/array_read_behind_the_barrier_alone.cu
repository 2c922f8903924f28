// race: no thread has waited
// FLAGS: -arch=sm_90a
/* A barrier of the cluster says that all have issued their copies, not that these have come. */
#include "../tensor/hopper.h"

__device__ static inline uint32_t in_block(const void *p, unsigned rank)
{
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(p)), "r"(rank));
    return there;
}

__device__ static inline void cluster_sync()
{
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

__device__ static inline void add_array(uint32_t to, const void *from, int bytes, uint32_t barrier)
{
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], %2, [%3];"
                 ::"r"(to), "r"(at(from)), "r"(bytes), "r"(barrier)
                 : "memory");
}

__global__ void __cluster_dims__(4) sums(int *out)
{
    __shared__ __align__(128) int mine[64], sum[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x, rank = blockIdx.x;
    mine[t] = rank;
    sum[t] = 0;
    if (t == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, 4 * sizeof sum);
    }
    fence_async();
    cluster_sync();
    if (t < 4) add_array(in_block(sum, t), mine, sizeof mine, in_block(&full, t));
    cluster_sync();
    out[rank * 64 + t] = sum[t]; // HERE
    barrier_wait(&full, 0);
    cluster_sync();
}

int main()
{
    sums<<<4, 64>>>((int *)zeros(4 * 64 * sizeof(int)));
    return cudaDeviceSynchronize();
}
