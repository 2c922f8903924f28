// nothing
/* Events say what comes first; what one stream gave back the pool may lend to another one. */
#include <cuda_runtime.h>

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

int main()
{
    cudaStream_t one, other;
    cudaEvent_t event;
    int *p, *q;
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    cudaEventCreate(&event);
    cudaMallocAsync((void **)&p, 64 * sizeof *p, one);
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(other, event, 0);
    fill<<<1, 64, 0, other>>>(p, 1);
    cudaEventRecord(event, other);
    cudaStreamWaitEvent(one, event, 0);
    cudaFreeAsync(p, one);
    cudaMallocAsync((void **)&q, 64 * sizeof *q, other);
    fill<<<1, 64, 0, other>>>(q, 2);
    cudaFreeAsync(q, other);
    return cudaDeviceSynchronize();
}
