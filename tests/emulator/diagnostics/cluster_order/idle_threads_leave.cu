// nothing
// FLAGS: -arch=sm_90
/* Threads without work return before any barrier; who has ended is not waited for. */
#include "../cluster/cluster.h"

__global__ void tail(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    if (t >= 40) return;
    own[t] = rank + t;
    cluster.sync();
    out[rank * THREADS + t] = cluster.map_shared_rank(own, rank ^ 1)[39 - t];
    cluster.sync();
}

int main()
{
    return run(tail, 4);
}
