// race: with no barrier of the cluster in between
// FLAGS: -arch=sm_90
/* A relaxed arrival does not publish what was written before it. */
#include "cluster.h"

__global__ void neighbour(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    own[t] = rank * t;
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    out[rank * THREADS + t] = cluster.map_shared_rank(own, (rank + 1) % blocks)[t]; // HERE
    cluster.sync();
}

int main()
{
    return run(neighbour, 4);
}
