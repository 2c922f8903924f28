// race: with no barrier of the cluster in between
// FLAGS: -arch=sm_90
/* All blocks count in the bins of one of them, with nothing atomic. */
#include "cluster.h"

__global__ void count(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int bins[THREADS];
    bins[t] = 0;
    cluster.sync();
    cluster.map_shared_rank(bins, 0)[t] += rank; // HERE
    cluster.sync();
    if (rank == 0) out[t] = bins[t];
}

int main()
{
    return run(count, 4);
}
