// race
/* Several elements have the same key, and the last one wins. */
#include <cuda_runtime.h>

__global__ void scatter(int *to, const int *key)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[key[i] % 64] = i; // HERE
}

int main()
{
    int *key, *to;
    cudaMalloc(&key, 2048 * sizeof *key);
    cudaMalloc(&to, 64 * sizeof *to);
    cudaMemset(key, 0, 2048 * sizeof *key);
    scatter<<<8, 256>>>(to, key);
    return cudaDeviceSynchronize();
}
