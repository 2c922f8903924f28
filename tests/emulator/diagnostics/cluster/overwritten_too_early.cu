// race: with no barrier of the cluster in between
// FLAGS: -arch=sm_90
/* The next round overwrites what another block still reads. */
#include "cluster.h"

__global__ void rounds(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int own[THREADS];
    for (int round = 0; round < 3; round++) {
        own[t] = rank * t + round; // HERE
        cluster.sync();
        out[rank * THREADS + t] += cluster.map_shared_rank(own, (rank + 1) % blocks)[t]; // HERE
    }
    cluster.sync();
}

int main()
{
    return run(rounds, 4);
}
