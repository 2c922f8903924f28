// nothing
/* Atomic operations need no barrier among each other. */
#include <cuda_runtime.h>

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
    int *x, *place;
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMalloc(&place, 128 * sizeof *place);
    cudaMemset(x, 0, 128 * sizeof *x);
    places<<<1, 128>>>(place, x);
    return cudaDeviceSynchronize();
}
