// out of bounds: past the end of the 256-byte shared array own
// FLAGS: -arch=sm_90
/* An index too large, in the memory of another block. */
#include "cluster.h"

__global__ void neighbour(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    own[t] = t;
    cluster.sync();
    out[rank * THREADS + t] = cluster.map_shared_rank(own, rank ^ 1)[t + 1]; // HERE
    cluster.sync();
}

int main()
{
    return run(neighbour, 4);
}
