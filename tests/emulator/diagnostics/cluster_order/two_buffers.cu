// nothing
// FLAGS: -arch=sm_90
/* Two buffers: one barrier for each round suffices. */
#include "../cluster/cluster.h"

__global__ void ring(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ int s[2][THREADS];
    s[0][t] = rank;
    cluster.sync();
    for (int i = 0; i < 5; i++) {
        cluster.map_shared_rank(s[(i + 1) % 2], (rank + 1) % blocks)[63 - t] = s[i % 2][t] + t;
        cluster.sync();
    }
    out[rank * THREADS + t] = s[1][t];
}

int main()
{
    return run(ring, 4);
}
