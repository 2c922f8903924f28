// nothing
/* Tiles of eight lanes, of which only some have work. */
#include <cooperative_groups.h>
#include <device_arrays.h>

namespace cg = cooperative_groups;

__global__ void sums(int *out, const int *x, int tiles)
{
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    int number = threadIdx.x / 8;
    if (number >= tiles) return;
    int v = x[threadIdx.x];
    for (int d = 4; d > 0; d /= 2) v += tile.shfl_xor(v, d);
    if (tile.thread_rank() == 0) out[number] = v;
}

int main()
{
    int *x = filled<int>(64, 0), *out = unwritten<int>(8);
    sums<<<1, 64>>>(out, x, 5);
    return cudaDeviceSynchronize();
}
