// nothing
// FLAGS: -arch=sm_90
/* Between arriving and waiting a block works on what nobody reads. */
#include "../cluster/cluster.h"

__global__ void split(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS], mine[THREADS];
    own[t] = rank + t;
    cluster.barrier_arrive();
    mine[t] = t;
    __syncthreads();
    const int before = mine[63 - t];
    cluster.barrier_wait();
    out[rank * THREADS + t] = before + cluster.map_shared_rank(own, rank ^ 1)[63 - t];
    cluster.sync();
}

int main()
{
    return run(split, 4);
}
