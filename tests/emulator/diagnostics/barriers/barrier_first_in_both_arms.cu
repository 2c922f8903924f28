// divergent barrier: PTX allows that
/* Both arms begin alike, so that a compiler could make one barrier of two. */
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
        __syncthreads();
        out[t] = 2 * tile[t - 32];
    }
}

int main()
{
    int *p = filled<int>(128, 0);
    shift<<<1, 64>>>(p, p + 64);
    return cudaDeviceSynchronize();
}
