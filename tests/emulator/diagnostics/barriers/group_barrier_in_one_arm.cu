// divergent barrier
/* The group is the block, but only its leaders come. */
#include <cooperative_groups.h>
#include <device_arrays.h>

namespace cg = cooperative_groups;

__global__ void work(int *x)
{
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() % 32 == 0) {
        x[block.thread_rank()]++;
        block.sync(); // HERE
    }
    x[block.thread_rank()]++;
}

int main()
{
    int *x = filled<int>(64, 0);
    work<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
