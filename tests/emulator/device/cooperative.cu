/* cooperative.cu: cooperative groups, from a tile of threads to the whole grid. */
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void tiles(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int t = block.thread_rank(), sum = t, *o = out + t * 5;
    for (int d = warp.size() / 2; d > 0; d /= 2) sum += warp.shfl_down(sum, d);
    o[0] = warp.shfl(sum, 0);
    o[1] = tile.meta_group_rank() * 100 + tile.thread_rank();
    o[2] = cg::reduce(tile, t, cg::plus<int>());
    o[3] = tile.ballot(t % 2);
    o[4] = block.size();
    block.sync();
}

CASE(tiles_of_a_block)
{
    int *out = device_array<int>(64 * 5);
    tiles<<<1, 64>>>(out);
    SYNC();
    std::vector<int> o = to_host(out, 64 * 5);
    for (int t = 0; t < 64; t++) {
        CHECK(o[t * 5] == (t < 32 ? 496 : 496 + 32 * 32));
        CHECK(o[t * 5 + 1] == t / 8 * 100 + t % 8);
        CHECK(o[t * 5 + 2] == t / 8 * 64 + 28);
        CHECK(o[t * 5 + 3] == 0xaa && o[t * 5 + 4] == 64);
    }
}

__global__ void coalesced(int *out)
{
    int t = threadIdx.x;
    out[t] = -1;
    if (t % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        out[t] = active.size() * 100 + active.thread_rank();
    }
}

CASE(coalesced_threads)
{
    int *out = device_array<int>(32);
    coalesced<<<1, 32>>>(out);
    SYNC();
    std::vector<int> o = to_host(out, 32);
    CHECK(o[0] == 1100 && o[3] == 1101 && o[30] == 1110 && o[1] == -1);
}

__global__ void set_one(int *out)
{
    out[0] = 1;
}

CASE(cooperative_launch)
{
    int *out = device_array<int>(1);
    void *args[] = {&out};
    OK(cudaLaunchCooperativeKernel((void *)set_one, dim3(2), dim3(32), args, 0, 0));
    SYNC();
    CHECK(to_host(out, 1)[0] == 1);
    FAILS(cudaLaunchCooperativeKernel((void *)set_one, dim3(10000), dim3(1024), args, 0, 0),
          cudaErrorCooperativeLaunchTooLarge);
}

CASE(launch_by_configuration)
{
    int *out = device_array<int>(1);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1), config.blockDim = dim3(32);
    OK(cudaLaunchKernelEx(&config, set_one, out));
    SYNC();
    void *args[] = {&out};
    OK(cudaLaunchKernel((void *)set_one, dim3(1), dim3(1), args, 0, 0));
    CHECK(to_host(out, 1)[0] == 1);
}
