// nothing
// FLAGS: -arch=sm_90
/* All blocks add to a sum in the first one's memory, and all read it, the first block too. */
#include "../cluster/cluster.h"

__global__ void add(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank();
    __shared__ int sum;
    if (rank == 0 && t == 0) sum = 0;
    cluster.sync();
    if (t == 0) atomicAdd(cluster.map_shared_rank(&sum, 0), 1 + rank);
    cluster.sync();
    out[rank * THREADS + t] = *cluster.map_shared_rank(&sum, 0);
    cluster.sync();
}

int main()
{
    return run(add, 4);
}
