// endless loop
/* The end of the list is not marked as the loop expects. */
#include <device_arrays.h>

__global__ void last(int *out, const int *next)
{
    int at = 0;
    while (next[at] >= 0) at = next[at]; // HERE
    *out = at;
}

int main()
{
    int host[8] = {1, 2, 3, 4, 5, 6, 7, 7};
    int *next = unwritten<int>(8), *out = unwritten<int>(1);
    cudaMemcpy(next, host, sizeof host, cudaMemcpyHostToDevice);
    last<<<1, 1>>>(out, next);
    return cudaDeviceSynchronize();
}
