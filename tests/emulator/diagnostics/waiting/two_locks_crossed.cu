// endless loop
/* One takes the left lock first, the other one the right one. */
#include <device_arrays.h>

__device__ int locks[2];

__global__ void move(int *x)
{
    int first = threadIdx.x / 32, second = 1 - first;
    bool takes = threadIdx.x % 32 == 0;
    if (takes)
        while (atomicCAS(&locks[first], 0, 1) != 0) continue;
    __syncthreads();
    if (takes)
        while (atomicCAS(&locks[second], 0, 1) != 0) continue; // HERE
    __threadfence();
    if (takes) atomicAdd(x, 1);
    if (takes) atomicExch(&locks[first], 0);
    if (takes) atomicExch(&locks[second], 0);
}

int main()
{
    int *x = filled<int>(1, 0);
    move<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
