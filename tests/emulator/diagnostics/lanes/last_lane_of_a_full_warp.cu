// nothing
/* All lanes take part, and the last one keeps its own value. */
#include <device_arrays.h>

__global__ void differences(int *out, const int *x)
{
    int v = x[threadIdx.x], next = __shfl_down_sync(0xffffffff, v, 1);
    out[threadIdx.x] = next - v;
}

int main()
{
    int *x = filled<int>(64, 0), *out = unwritten<int>(64);
    differences<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
