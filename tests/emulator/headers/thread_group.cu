/* thread_group.cu: a function that takes any group of threads. */
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__device__ int place(cg::thread_group g)
{
    g.sync();
    return 100 * (int)g.size() + (int)g.thread_rank();
}

__global__ void places(int *out)
{
    __shared__ cg::block_tile_memory<64> memory;
    cg::thread_block block = cg::this_thread_block(memory);
    int t = threadIdx.x;
    out[t] = place(block);
    out[64 + t] = place(cg::tiled_partition<16>(block));
    out[128 + t] = place(cg::tiled_partition(block, 8));
}

CASE(of_a_block_and_of_lanes)
{
    int *out = device_array<int>(192);
    places<<<1, 64>>>(out);
    SYNC();
    auto h_out = to_host(out, 192);
    CHECK(h_out[40] == 6440 && h_out[64 + 40] == 1608 && h_out[128 + 45] == 805);
}
