// nothing
// FLAGS: -arch=sm_90a
/* A cluster of 16 blocks, allowed. */
#include <cuda_runtime.h>

__global__ void ranks(int *c)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    c[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

/* `blocks` of them in clusters of `size`, each with so many bytes of shared memory. */
static int launch(int *c, int blocks, int size, size_t bytes)
{
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = size;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = 32;
    config.dynamicSmemBytes = bytes;
    config.attrs = &cluster;
    config.numAttrs = 1;
    int fit = 0;
    if (cudaOccupancyMaxActiveClusters(&fit, ranks, &config) != cudaSuccess || !fit)
        cudaGetLastError(); /* the launch tells why */
    cudaLaunchKernelEx(&config, ranks, c);
    return cudaDeviceSynchronize();
}

int main()
{
    int *c;
    if (cudaMalloc(&c, 32 * 32 * sizeof *c) != cudaSuccess) return 1;
    if (cudaFuncSetAttribute(ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess) return 1;
    return launch(c, 32, 16, 128);
}
