// uninitialised read
/* Nobody has marked any vertex, and the kernel asks which are. */
#include <device_arrays.h>

__global__ void count(int *found, const int *marked)
{
    if (marked[threadIdx.x]) atomicAdd(found, 1); // HERE
}

int main()
{
    int *marked = unwritten<int>(64), *found = filled<int>(1, 0);
    count<<<1, 64>>>(found, marked);
    return cudaDeviceSynchronize();
}
