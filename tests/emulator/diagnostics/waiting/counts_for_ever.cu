// endless loop
/* The loop starts anew where it should end, and each round goes to the bins thread by thread. */
#include <device_arrays.h>

__global__ void count(int *out)
{
    __shared__ int bins[997];
    for (int i = threadIdx.x; i < 997; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (unsigned i = 996; i < 997; i = i ? i - 1 : 996)        // HERE
        atomicAdd(&bins[(i * 17 + threadIdx.x * 31) % 997], 1); // HERE
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}

int main()
{
    int *out = unwritten<int>(256);
    count<<<2, 256>>>(out);
    return cudaDeviceSynchronize();
}
