// out of bounds: of block 4 of a cluster of 4 blocks
// FLAGS: -arch=sm_90
/* The last block has no next one. */
#include "cluster.h"

__global__ void neighbour(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    own[t] = t;
    cluster.sync();
    out[rank * THREADS + t] = cluster.map_shared_rank(own, rank + 1)[t]; // HERE
    cluster.sync();
}

int main()
{
    return run(neighbour, 4);
}
