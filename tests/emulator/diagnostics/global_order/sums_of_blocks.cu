// nothing
/* Each block adds up for itself, and once to the total. */
#include <device_arrays.h>

__global__ void sum(float *total, const float *x)
{
    __shared__ float mine;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    atomicAdd(&mine, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, mine);
}

int main()
{
    float *x = filled<float>(2048, 0), *total = filled<float>(1, 0);
    sum<<<8, 256>>>(total, x);
    return cudaDeviceSynchronize();
}
