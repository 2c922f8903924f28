// nothing
// FLAGS: -arch=sm_90
/* One block copies for all, and waits for all before the next copy. */
#include "../cluster/cluster.h"

__device__ int numbers[THREADS];

__device__ static unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* To the same place of all four blocks. */
__device__ static void copy_for_all(int *to, unsigned long long *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
                 "multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(at(to)),
                 "l"(numbers), "r"(at(barrier)), "h"((short)15) : "memory");
}

__global__ void rounds(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank();
    __shared__ __align__(128) int s[THREADS];
    __shared__ __align__(8) unsigned long long full;
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                     "fence.mbarrier_init.release.cluster;" ::"r"(at(&full)) : "memory");
    cluster.sync();
    for (int round = 0; round < 2; round++) {
        if (t == 0)
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at(&full))
                         : "memory");
        if (t == 0 && rank == 0) copy_for_all(s, &full);
        asm volatile("{\n.reg .pred over;\nagain: mbarrier.try_wait.parity.shared::cta.b64 over, "
                     "[%0], %1;\n@!over bra again;\n}" ::"r"(at(&full)), "r"(round) : "memory");
        out[rank * THREADS + t] += s[t];
        cluster.sync();
    }
    cluster.sync();
}

int main()
{
    return run(rounds, 4);
}
