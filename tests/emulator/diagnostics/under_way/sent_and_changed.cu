// race: was changed while it was under way
// FLAGS: -arch=sm_90a
/* Numbers go to the other block, and are changed when the copy has been issued. */
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

__device__ static inline void send(uint32_t to, const void *from, int bytes, uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     to), "r"(at(from)), "r"(bytes), "r"(barrier)
                 : "memory");
}

__global__ void __cluster_dims__(2) rounds(int *out)
{
    __shared__ __align__(128) int mine[64], got[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x, rank = blockIdx.x;
    mine[t] = 100 * rank + t;
    if (t == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, sizeof got);
    }
    fence_async();
    cluster_sync();
    if (t == 0) send(in_block(got, rank ^ 1), mine, sizeof mine, in_block(&full, rank ^ 1)); // HERE
    __syncthreads();
    mine[t] = -1;
    barrier_wait(&full, 0);
    out[rank * 64 + t] = got[t] + mine[t];
    cluster_sync();
}

int main()
{
    rounds<<<2, 64>>>((int *)zeros(128 * sizeof(int)));
    return cudaDeviceSynchronize();
}
