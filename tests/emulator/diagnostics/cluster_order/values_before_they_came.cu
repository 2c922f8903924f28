// race: no thread has waited
// FLAGS: -arch=sm_90a
/* The values are read as if a barrier of the cluster said that they have come. */
#include "../tensor/hopper.h"

__device__ static inline uint32_t in_block(const void *p, unsigned rank)
{
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(p)), "r"(rank));
    return there;
}

__device__ static inline void store_async(uint32_t to, int x, int y, uint32_t barrier)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.s32 [%0], {%1, %2}, [%3];"
                 ::"r"(to), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

__global__ void __cluster_dims__(2) swap(int *out)
{
    __shared__ int2 came[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x, rank = blockIdx.x;
    if (t == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, sizeof came);
    }
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    store_async(in_block(&came[t], rank ^ 1), t, rank, in_block(&full, rank ^ 1));
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    out[rank * 64 + t] = came[63 - t].x; // HERE
    barrier_wait(&full, 0);
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

int main()
{
    swap<<<2, 64>>>((int *)zeros(512));
    return cudaDeviceSynchronize();
}
