// nothing
/* Threads above n put the neutral element into the tile. */
#include <device_arrays.h>

__global__ void sum(float *out, const float *x, int n)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = t < n ? x[t] : 0;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) tile[t] += tile[t + d];
        __syncthreads();
    }
    if (t == 0) *out = tile[0];
}

int main()
{
    float *x = filled<float>(200, 0), *out = unwritten<float>(1);
    sum<<<1, 256>>>(out, x, 200);
    return cudaDeviceSynchronize();
}
