// prints: 7
// FLAGS: -DALONE
#include <stdio.h>
__global__ void set(int *p, int v)
{
    p[threadIdx.x] = v;
}
int main()
{
    int *p, h;
    cudaMalloc(&p, 32 * sizeof(int));
    // clang-format off
    set << <dim3(1), dim3(32) >> > (p, 7);
    // clang-format on
    cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(p);
    return 0;
}
