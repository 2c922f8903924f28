// divergent barrier
/* Only one half of the block comes to the barrier. */
#include <cuda_runtime.h>

__global__ void reverse(int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 40) {
        __syncthreads(); // HERE
        s[t] = x[t] + 1;
    }
    x[t] = s[t];
}

int main()
{
    int *x;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMemset(x, 0, 64 * sizeof *x);
    reverse<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
