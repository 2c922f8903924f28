// race: orders the threads of one block only
// FLAGS: -arch=sm_90
/* __syncthreads() where the whole cluster must wait. */
#include "cluster.h"

__global__ void neighbour(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    cluster.sync();
    own[t] = rank * t;
    __syncthreads();
    const int *next = cluster.map_shared_rank(own, (rank + 1) % blocks);
    out[rank * THREADS + t] = next[t]; // HERE
    cluster.sync();
}

int main()
{
    return run(neighbour, 4);
}
