// race: may not have begun
// FLAGS: -arch=sm_90
/* The others write into a block that may not have begun. */
#include "cluster.h"

__global__ void exchange(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int from[4];
    if (t < blocks) cluster.map_shared_rank(from, t)[rank] = rank; // HERE
    cluster.sync();
    if (t < blocks) out[rank * THREADS + t] = from[t];
}

int main()
{
    return run(exchange, 4);
}
