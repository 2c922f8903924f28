// race
/* A thread adds to the element that its neighbour is reading. */
#include <cuda_runtime.h>

__global__ void scan(int *x)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        if (t >= d) s[t] += s[t - d]; // HERE
        __syncthreads();
    }
    x[t] = s[t];
}

int main()
{
    int *x;
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMemset(x, 0, 128 * sizeof *x);
    scan<<<1, 128>>>(x);
    return cudaDeviceSynchronize();
}
