// nothing
/* Each thread writes the place that its ticket names. */
#include <device_arrays.h>

__global__ void compact(int *to, int *count, const int *x)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (v == 0) to[atomicAdd(count, 1)] = v + 1;
}

int main()
{
    int *x = filled<int>(2048, 0), *to = unwritten<int>(2048), *count = filled<int>(1, 0);
    compact<<<8, 256>>>(to, count, x);
    return cudaDeviceSynchronize();
}
