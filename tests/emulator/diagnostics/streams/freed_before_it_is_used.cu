// stream race: cudaFreeAsync
/* The memory goes back to the pool while the other stream may still write to it. */
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
    cudaStreamSynchronize(one);
    fill<<<1, 64, 0, other>>>(p, 1);
    cudaFreeAsync(p, one);
    return cudaDeviceSynchronize();
}
