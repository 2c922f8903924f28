// prints: 523776
#include <stdio.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void reduce(const int *in, int *out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int sum = 0;
    for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n;
         i += gridDim.x * block.size())
        sum += in[i];
    sum = cg::reduce(tile, sum, cg::plus<int>());
    if (tile.thread_rank() == 0) atomicAdd(out, sum);
}
int main()
{
    const int n = 1024;
    int h[n], *in, *out, sum = 0;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof(int));
    cudaMemset(out, 0, sizeof(int));
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    reduce<<<4, 128>>>(in, out, n);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%d\n", sum);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
