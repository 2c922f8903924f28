// nothing
// FLAGS: -arch=sm_90
/* Each block writes its own byte of one word of another. */
#include "../cluster/cluster.h"

__global__ void bytes(int *out)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    __shared__ unsigned char bytes[8];
    if (t < 8) bytes[t] = 0;
    cluster.sync();
    if (t == 0) cluster.map_shared_rank(bytes, 0)[rank] = (unsigned char)(rank + 1);
    cluster.sync();
    if (rank == 0 && t < 8) out[t] = bytes[t];
}

int main()
{
    return run(bytes, 4);
}
