// race: write cluster.sync() after the last access
// FLAGS: -arch=sm_90
/* A block ends while another still reads its memory. */
#include "cluster.h"

__global__ void neighbour(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    own[t] = rank * t;
    cluster.sync();
    const int *next = cluster.map_shared_rank(own, (rank + 1) % blocks);
    out[rank * THREADS + t] = next[t]; // HERE
}

int main()
{
    return run(neighbour, 4);
}
