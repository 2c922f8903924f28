// nothing
/* Who gets a slot by atomicCAS may write what belongs to it. */
#include <cuda_runtime.h>

__global__ void insert(int *keys, int *values, int slots)
{
    int key = blockIdx.x * blockDim.x + threadIdx.x + 1;
    for (int at = key * 31 % slots;; at = (at + 1) % slots) {
        if (atomicCAS(&keys[at], 0, key) == 0) {
            values[at] = key;
            return;
        }
    }
}

int main()
{
    int *keys, *values;
    cudaMalloc(&keys, 4096 * sizeof *keys);
    cudaMalloc(&values, 4096 * sizeof *values);
    cudaMemset(keys, 0, 4096 * sizeof *keys);
    insert<<<8, 256>>>(keys, values, 4096);
    return cudaDeviceSynchronize();
}
