// uninitialised read
/* Nobody has marked any vertex, and the kernel asks which are. */
#include <cuda_runtime.h>

__global__ void count(int *found, const int *marked)
{
    if (marked[threadIdx.x]) atomicAdd(found, 1); // HERE
}

int main()
{
    int *marked, *found;
    cudaMalloc(&marked, 64 * sizeof *marked);
    cudaMalloc(&found, 1 * sizeof *found);
    cudaMemset(found, 0, 1 * sizeof *found);
    count<<<1, 64>>>(found, marked);
    return cudaDeviceSynchronize();
}
