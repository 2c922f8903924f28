// endless loop
/* All blocks wait for the last one, which has no room before one of them ends. */
#include <device_arrays.h>

__global__ void steps(int *arrived, int *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x]++;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) continue; // HERE
    }
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x]++;
}

int main()
{
    int *x = filled<int>(16384, 0), *arrived = filled<int>(1, 0);
    steps<<<256, 64>>>(arrived, x);
    return cudaDeviceSynchronize();
}
