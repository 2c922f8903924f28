// nothing
/* The sum is cleared by a kernel, and by the first thread of another. */
#include <device_arrays.h>

__global__ void clear(int *total)
{
    *total = 0;
}

__global__ void sum(int *total, const int *x)
{
    __shared__ int mine;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    atomicAdd(&mine, x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, mine);
}

int main()
{
    int *x = filled<int>(64, 0), *total = unwritten<int>(1);
    clear<<<1, 1>>>(total);
    sum<<<4, 64>>>(total, x);
    return cudaDeviceSynchronize();
}
