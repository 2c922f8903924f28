// nothing
/* A barrier in a branch that all threads of a block take, or none. */
#include <device_arrays.h>

__global__ void shift(int *out, const int *in, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (n > 0) {
        tile[t] = in[t];
        __syncthreads();
        out[t] = tile[63 - t];
    } else {
        tile[t] = 1;
        __syncthreads();
        out[t] = tile[t ^ 1];
    }
}

int main()
{
    int *p = filled<int>(128, 0);
    shift<<<1, 64>>>(p, p + 64, 1);
    return cudaDeviceSynchronize();
}
