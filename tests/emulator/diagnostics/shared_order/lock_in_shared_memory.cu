// nothing
/* A lock of the block: who has it may touch what it guards. */
#include <device_arrays.h>

__global__ void count(int *out, const int *x)
{
    __shared__ int lock;
    __shared__ volatile int most;
    if (threadIdx.x == 0) lock = most = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) continue;
        __threadfence_block();
        if (x[threadIdx.x] > most) most = x[threadIdx.x];
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = most;
}

int main()
{
    int *x = filled<int>(256, 1), *out = unwritten<int>(1);
    count<<<1, 256>>>(out, x);
    return cudaDeviceSynchronize();
}
