// race
/* The count is read before all threads have added to it. */
#include <device_arrays.h>

__global__ void compact(int *out, const int *x)
{
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    if (t < 96 && x[t] == 0) atomicAdd(&count, 1);
    if (t == 127) *out = count; // HERE
}

int main()
{
    int *x = filled<int>(128, 0), *out = unwritten<int>(1);
    compact<<<1, 128>>>(out, x);
    return cudaDeviceSynchronize();
}
