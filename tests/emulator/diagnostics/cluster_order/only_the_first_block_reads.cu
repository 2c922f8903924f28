// nothing
// FLAGS: -arch=sm_90
/* One block reads all others, which wait for it; its own stores come behind a barrier. */
#include "../cluster/cluster.h"

__global__ void sum(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    own[t] = rank + t;
    cluster.sync();
    int sum = 0;
    for (int r = 0; rank == 0 && r < blocks; r++) sum += cluster.map_shared_rank(own, r)[t];
    cluster.sync();
    own[t] = sum;
    __syncthreads();
    out[rank * THREADS + t] = own[63 - t];
}

int main()
{
    return run(sum, 4);
}
