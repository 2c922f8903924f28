// endless loop: does not change
// FLAGS: -arch=sm_90
/* All blocks of the cluster wait for the flag 1, and the first sets another one. */
#include "cluster.h"

__global__ void ring(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int rank = cluster.block_rank();
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    cluster.sync();
    if (threadIdx.x == 0) {
        if (rank == 0) atomicExch(cluster.map_shared_rank(&flag, 1), 2);
        while (atomicAdd(&flag, 0) != 1) {} // HERE
        atomicExch(cluster.map_shared_rank(&flag, (rank + 1) % 4), 1);
        out[rank] = 1;
    }
    cluster.sync();
}

int main()
{
    return run(ring, 4);
}
