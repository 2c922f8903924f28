// deadlock: has not waited since
// FLAGS: -arch=sm_90
/* One arrival more than waits. */
#include "cluster.h"

__global__ void twice(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    cluster.barrier_arrive();
    if (rank == blocks - 1) asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); // HERE
    cluster.barrier_wait();
    out[rank * THREADS + t] = 1;
}

int main()
{
    return run(twice, 4);
}
