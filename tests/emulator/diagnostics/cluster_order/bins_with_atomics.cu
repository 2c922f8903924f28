// nothing
// FLAGS: -arch=sm_90
/* All blocks count in the bins of all, its own one too. */
#include "../cluster/cluster.h"

__global__ void count(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int bins[8];
    if (t < 8) bins[t] = 0;
    cluster.sync();
    for (int i = 0; i < 10; i++) atomicAdd(cluster.map_shared_rank(bins, (t + i) % blocks) + t % 8, 1);
    atomicAdd(bins + t % 8, 1);
    cluster.sync();
    if (t < 8) out[rank * THREADS + t] = bins[t];
}

int main()
{
    return run(count, 4);
}
