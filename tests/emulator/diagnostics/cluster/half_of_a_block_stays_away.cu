// divergent barrier: of a cluster waits at a barrier of the cluster
// FLAGS: -arch=sm_90
/* A barrier of the cluster in a branch that one warp does not take. */
#include "cluster.h"

__global__ void branch(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    own[t] = t;
    if (rank || t < 32) cluster.sync(); // HERE
    __syncthreads();
    out[rank * THREADS + t] = own[63 - t];
}

int main()
{
    return run(branch, 4);
}
