// prints: cudaSuccess cudaSuccess cudaSuccess
#include <stdio.h>
__global__ void fill(int *p)
{
    p[threadIdx.x] = threadIdx.x;
}
int main()
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t a, k;
    cudaMemAllocNodeParams m = {};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = 256;
    cudaGraphCreate(&g, 0);
    cudaGraphAddMemAllocNode(&a, g, NULL, 0, &m);
    int *p = (int *)m.dptr;
    void *args[] = {&p};
    cudaKernelNodeParams kp = {};
    kp.func = (void *)fill;
    kp.gridDim = dim3(1);
    kp.blockDim = dim3(64);
    kp.kernelParams = args;
    cudaGraphAddKernelNode(&k, g, &a, 1, &kp);
    cudaGraphInstantiate(&x, g, 0);
    cudaError_t one = cudaGraphLaunch(x, 0);
    cudaFreeAsync(p, 0);
    cudaError_t two = cudaGraphLaunch(x, 0), freed = cudaFree(p);
    printf("%s %s %s\n", cudaGetErrorName(one), cudaGetErrorName(two), cudaGetErrorName(freed));
    cudaGraphExecDestroy(x);
    cudaGraphDestroy(g);
    return 0;
}
