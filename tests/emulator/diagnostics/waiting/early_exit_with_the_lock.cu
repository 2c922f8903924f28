// endless loop
/* Who finds the table full returns and keeps the lock. */
#include <device_arrays.h>

__device__ int lock, used;

__global__ void insert(int *table, int room)
{
    if (threadIdx.x % 32 != 0) return;
    while (atomicCAS(&lock, 0, 1) != 0) continue; // HERE
    __threadfence();
    int at = *(volatile int *)&used;
    if (at == room) return;
    table[at] = threadIdx.x;
    *(volatile int *)&used = at + 1;
    __threadfence();
    atomicExch(&lock, 0);
}

int main()
{
    int *table = unwritten<int>(4);
    insert<<<1, 256>>>(table, 4);
    return cudaDeviceSynchronize();
}
