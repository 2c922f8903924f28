// race: reads what thread 0 of block 1 wrote
// FLAGS: -arch=sm_90
/* An mbarrier of the first block says to it that the value is there. Another block reads it, too. */
#include "cluster.h"

__global__ void tell(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank();
    __shared__ int value;
    __shared__ __align__(8) unsigned long long there;
    const unsigned here = (unsigned)__cvta_generic_to_shared(&there);
    if (rank == 0 && t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                     "fence.mbarrier_init.release.cluster;" ::"r"(here)
                     : "memory");
    cluster.sync();
    if (rank == 1 && t == 0) {
        unsigned far;
        *cluster.map_shared_rank(&value, 0) = 7;
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(far) : "r"(here));
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(far)
                     : "memory");
    }
    if (rank == 0) {
        asm volatile("{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.acquire.cluster.shared::cta."
                     "b64 p, [%0], 0;\n@!p bra again;\n}" ::"r"(here)
                     : "memory");
        out[t] = value;
    }
    if (rank == 2) out[2 * THREADS + t] = *cluster.map_shared_rank(&value, 0); // HERE
    cluster.sync();
}

int main()
{
    return run(tell, 4);
}
