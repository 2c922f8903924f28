// race: updates what thread 0
// FLAGS: -arch=sm_90
/* A relaxed arrival does not publish that an mbarrier is initialised: a fence is missing. */
#include "cluster.h"

__global__ void collect(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int full[4][THREADS];
    __shared__ __align__(8) unsigned long long ready;
    const unsigned here = (unsigned)__cvta_generic_to_shared(&ready);
    if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 192;" ::"r"(here) : "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
    if (rank) {
        unsigned there;
        cluster.map_shared_rank(full[rank], 0)[t] = rank * t;
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(here));
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory"); // HERE
    } else {
        asm volatile("{\n.reg .pred over;\nagain: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%0], 0;\n@!over bra again;\n}" ::"r"(here) : "memory"); // HERE
        out[t] = full[1][t] + full[2][t] + full[3][t];
    }
    cluster.sync();
}

int main()
{
    return run(collect, 4);
}
