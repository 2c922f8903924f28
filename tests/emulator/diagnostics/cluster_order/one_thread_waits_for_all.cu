// nothing
// FLAGS: -arch=sm_90
/* What one thread has waited for, its block knows behind __syncthreads(). */
#include "../cluster/cluster.h"

__global__ void some(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    own[t] = rank + t;
    cluster.barrier_arrive();
    if (t < 32) cluster.barrier_wait();
    __syncthreads();
    out[rank * THREADS + t] = cluster.map_shared_rank(own, rank ^ 1)[t];
    if (t >= 32) cluster.barrier_wait();
    cluster.sync();
}

int main()
{
    return run(some, 4);
}
