// race: with no barrier of the cluster in between
// FLAGS: -arch=sm_90
/* Between arriving and waiting nothing of the others is there yet. */
#include "cluster.h"

__global__ void neighbour(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    cluster.sync();
    own[t] = rank * t; // HERE
    cluster.barrier_arrive();
    out[rank * THREADS + t] = cluster.map_shared_rank(own, (rank + 1) % blocks)[t]; // HERE
    cluster.barrier_wait();
    cluster.sync();
}

int main()
{
    return run(neighbour, 4);
}
