// divergent barrier: PTX allows that
/* All threads come to a barrier, but to two of them. */
#include <device_arrays.h>

__global__ void shift(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    if (t < 32) {
        __syncthreads(); // HERE
        out[t] = tile[t + 32] + 1;
    } else {
        tile[t] *= 2;
        __syncthreads();
        out[t] = tile[t - 32];
    }
}

int main()
{
    int *p = filled<int>(128, 0);
    shift<<<1, 64>>>(p, p + 64);
    return cudaDeviceSynchronize();
}
