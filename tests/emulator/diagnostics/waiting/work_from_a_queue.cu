// nothing
/* Blocks take work until there is none left. */
#include <device_arrays.h>

__device__ int next_item;

__global__ void work(int *x, int items)
{
    __shared__ int item;
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(&next_item, 1);
        __syncthreads();
        if (item >= items) return;
        x[item * 32 + threadIdx.x % 32] = item;
        __syncthreads();
    }
}

int main()
{
    int *x = unwritten<int>(640);
    work<<<8, 32>>>(x, 20);
    return cudaDeviceSynchronize();
}
