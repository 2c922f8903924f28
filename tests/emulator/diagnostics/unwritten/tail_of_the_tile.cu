// uninitialised read
/* Threads above n leave their place in the tile as it is, and the sum takes all. */
#include <device_arrays.h>

__global__ void sum(float *out, const float *x, int n)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) tile[t] += tile[t + d]; // HERE
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
