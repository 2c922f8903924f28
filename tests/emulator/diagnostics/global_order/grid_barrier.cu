// nothing
/* A cooperative launch: all blocks meet between two steps. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void steps(float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        if (i > 0 && i < n - 1) b[i] = (a[i - 1] + a[i + 1]) / 2;
        cg::this_grid().sync();
        if (i > 0 && i < n - 1) a[i] = (b[i - 1] + b[i + 1]) / 2;
        cg::this_grid().sync();
    }
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, 1024 * sizeof *a);
    cudaMalloc(&b, 1024 * sizeof *b);
    cudaMemset(a, 0, 1024 * sizeof *a);
    cudaMemset(b, 0, 1024 * sizeof *b);
    int n = 1024;
    void *arguments[] = {&a, &b, &n};
    cudaLaunchCooperativeKernel((void *)steps, 8, 128, arguments, 0, 0);
    return cudaDeviceSynchronize();
}
