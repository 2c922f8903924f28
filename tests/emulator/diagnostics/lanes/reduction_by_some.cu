// inactive lane
/* __reduce_add_sync names lanes that do not take part. */
#include <device_arrays.h>

__global__ void sum(unsigned *out, const unsigned *x, int n)
{
    __shared__ unsigned sums[32];
    int t = threadIdx.x;
    if (t < n)
        sums[t] = __reduce_add_sync(0xffffffff, x[t]); // HERE
    else
        sums[t] = 7;
    __syncwarp();
    out[t] = sums[31 - t];
}

int main()
{
    unsigned *x = filled<unsigned>(32, 0), *out = unwritten<unsigned>(32);
    sum<<<1, 32>>>(out, x, 24);
    return cudaDeviceSynchronize();
}
