// nothing
/* Atomic operations need no barrier among each other. */
#include <device_arrays.h>

__global__ void places(int *place, const int *x)
{
    __shared__ int next;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    if (x[threadIdx.x] >= 0) place[threadIdx.x] = atomicAdd(&next, 1);
    place[threadIdx.x] += atomicMax(&next, 0);
}

int main()
{
    int *x = filled<int>(128, 0), *place = unwritten<int>(128);
    places<<<1, 128>>>(place, x);
    return cudaDeviceSynchronize();
}
