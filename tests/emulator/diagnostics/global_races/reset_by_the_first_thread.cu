// race
/* One thread clears the counters that other blocks already use. */
#include <device_arrays.h>

__global__ void count(int *bins, const int *x)
{
    if (blockIdx.x == 0 && threadIdx.x < 16) bins[threadIdx.x] = 7;
    __syncthreads();
    atomicAdd(&bins[x[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1); // HERE
}

int main()
{
    int *x = filled<int>(2048, 0), *bins = filled<int>(16, 0);
    count<<<8, 256>>>(bins, x);
    return cudaDeviceSynchronize();
}
