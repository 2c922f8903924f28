// nothing
// FLAGS: -arch=sm_90
/* A barrier of the cluster orders global memory too. */
#include "../cluster/cluster.h"

__global__ void swap(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    out[rank * THREADS + t] = t;
    cluster.sync();
    const int other = out[(rank + 1) % blocks * THREADS + 63 - t];
    cluster.sync();
    out[rank * THREADS + t] = other + 1;
}

int main()
{
    return run(swap, 4);
}
