// prints: 523776
#include <stdio.h>
#include <cooperative_groups.h>
__global__ void reduce(const int *in, int *partial, int *out)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[grid.thread_rank()]);
    __syncthreads();
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    grid.sync();
    if (grid.thread_rank() == 0)
        for (int i = 0; i < gridDim.x; i++) *out += partial[i];
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
    int *partial;
    cudaMalloc(&partial, 8 * sizeof(int));
    void *args[] = {&in, &partial, &out};
    cudaLaunchCooperativeKernel((void *)reduce, dim3(8), dim3(128), args);
    cudaFree(partial);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%d\n", sum);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
