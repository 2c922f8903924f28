// endless loop
/* More keys than slots: the last ones look for a free slot for ever. */
#include <cuda_runtime.h>

__global__ void insert(int *keys, int slots)
{
    int key = blockIdx.x * blockDim.x + threadIdx.x + 1;
    for (int at = key * 31 % slots;; at = (at + 1) % slots) // HERE
        if (atomicCAS(&keys[at], 0, key) == 0) return;      // HERE
}

int main()
{
    int *keys;
    cudaMalloc(&keys, 1024 * sizeof *keys);
    cudaMemset(keys, 0, 1024 * sizeof *keys);
    insert<<<8, 256>>>(keys, 1024);
    return cudaDeviceSynchronize();
}
