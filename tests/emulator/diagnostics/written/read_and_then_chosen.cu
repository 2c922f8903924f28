// nothing
/* Every thread reads the tile, those above n drop what they have read. */
#include <device_arrays.h>

__global__ void shift(int *out, const int *x, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    int v = tile[63 - t];
    out[t] = 63 - t < n ? v : 0;
}

int main()
{
    int *x = filled<int>(50, 0), *out = unwritten<int>(64);
    shift<<<1, 64>>>(out, x, 50);
    return cudaDeviceSynchronize();
}
