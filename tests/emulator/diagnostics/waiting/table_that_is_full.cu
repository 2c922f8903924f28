// endless loop
/* More keys than slots: the last ones look for a free slot for ever. */
#include <device_arrays.h>

__global__ void insert(int *keys, int slots)
{
    int key = blockIdx.x * blockDim.x + threadIdx.x + 1;
    for (int at = key * 31 % slots;; at = (at + 1) % slots) // HERE
        if (atomicCAS(&keys[at], 0, key) == 0) return;      // HERE
}

int main()
{
    int *keys = filled<int>(1024, 0);
    insert<<<8, 256>>>(keys, 1024);
    return cudaDeviceSynchronize();
}
