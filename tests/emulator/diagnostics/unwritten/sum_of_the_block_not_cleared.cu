// uninitialised read
/* Shared memory holds what the last block left there, not zeros. */
#include <device_arrays.h>

__global__ void sum(int *out, const int *x)
{
    __shared__ int total;
    atomicAdd(&total, x[blockIdx.x * blockDim.x + threadIdx.x]); // HERE
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = total;
}

int main()
{
    int *x = filled<int>(256, 0), *out = unwritten<int>(4);
    sum<<<4, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
