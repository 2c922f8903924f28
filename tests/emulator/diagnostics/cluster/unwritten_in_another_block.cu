// uninitialised read: of the cluster that nothing has written
// FLAGS: -arch=sm_90
/* Only one block writes what all read. */
#include "cluster.h"

__global__ void gather(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    if (rank == 0) own[t] = t;
    cluster.sync();
    out[rank * THREADS + t] = cluster.map_shared_rank(own, 1 - rank % 2)[t]; // HERE
    cluster.sync();
}

int main()
{
    return run(gather, 4);
}
