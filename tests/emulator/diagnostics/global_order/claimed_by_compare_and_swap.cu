// nothing
/* Who gets a slot by atomicCAS may write what belongs to it. */
#include <device_arrays.h>

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
    int *keys = filled<int>(4096, 0), *values = unwritten<int>(4096);
    insert<<<8, 256>>>(keys, values, 4096);
    return cudaDeviceSynchronize();
}
