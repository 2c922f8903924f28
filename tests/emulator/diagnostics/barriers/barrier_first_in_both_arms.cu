// divergent barrier: PTX allows that
/* Both arms begin alike, so that a compiler could make one barrier of two. */
#include <cuda_runtime.h>

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
    int *p;
    cudaMalloc(&p, 128 * sizeof *p);
    cudaMemset(p, 0, 128 * sizeof *p);
    shift<<<1, 64>>>(p, p + 64);
    return cudaDeviceSynchronize();
}
