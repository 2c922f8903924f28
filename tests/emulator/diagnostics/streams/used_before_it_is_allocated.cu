// stream race: cudaMallocAsync
/* The other stream may come to the kernel before the first one has come to the allocation. */
#include <cuda_runtime.h>

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value; // HERE
}

int main()
{
    cudaStream_t one, other;
    int *p;
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    cudaMallocAsync((void **)&p, 64 * sizeof *p, one);
    fill<<<1, 64, 0, other>>>(p, 1);
    cudaDeviceSynchronize();
    return cudaFree(p);
}
